/**
 * A caller with row policies and masks tries to learn what they hide. Every attack returns the rows of hand-written SQL over the tables
 * without the hidden rows and with the masked values, or is refused. No answer contains a hidden value, also not in errors.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { shows } from '../support/shows.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { REFUSED, SHAPES, TELLING } from './leaks-shapes.ts';
import { PLACES, TRAPS } from './leaks-traps.ts';
import { MODEL, POLICIES, SECRETS, SEEN, TABLES } from './leaks-world.ts';

const SIZES = sizesOf('attacks/leaks');

let service: TestService;
const tokens: Record<string, string> = {};

interface Answer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}
async function ask(sql: string, token = tokens.rex as string): Promise<Answer> {
  const answer = await service.fetch('/svc/api/query/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': token },
    body: JSON.stringify({ ontology_name: 'lab', query: sql }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: JSON.parse(text) };
}

const sorted = (rows: readonly unknown[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row as object).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();

/** The rows of hand-written SQL over what the caller may know. */
async function byHand(sql: string): Promise<string[]> {
  const rows = await service.database.exec(`${SEEN} SELECT row_to_json("~") ::text AS row FROM (${sql}) "~"`);
  return sorted(rows.map((r) => JSON.parse(String(r.row))));
}

/** Secrets in an answer that are not in the request. */
const leaked = (question: string, text: string): string[] => shows(text, SECRETS, question);

async function outcome(sql: string): Promise<string[] | string> {
  const { status, text, json } = await ask(sql);
  expect(leaked(sql, text), text).toEqual([]);
  return status === 200 ? sorted(json.data) : `${status} ${json.code} ${json.data}`;
}

beforeAll(async () => {
  service = await startService();
  for (const statement of TABLES) await service.database.exec(statement);
  await service.rows(MODEL, 'lab');
  await service.rows('CREATE ROLE payers');
  for (const name of ['rex', 'free']) {
    await service.rows(`CREATE USER ${name}`);
    await service.rows(`GRANT QUERY ON ALL ontology.lab TO USER ${name}`);
    tokens[name] = String((await service.rows(`CREATE TOKEN FOR ${name}`))[0]?.token);
  }
  await service.rows(POLICIES, 'lab');
});
afterAll(() => service?.close());

describe('a condition that distinguishes hidden rows or true values', () => {
  it.each(TRAPS.map(([what, condition], i) => [what, condition, i] as const))('%s, in WHERE and other places', async (_, condition, i) => {
    const [where, ...others] = PLACES;
    for (const [place, mine, plain] of [where as (typeof PLACES)[number], ...oneIn(SIZES.everyPlace, others, i)]) {
      const caller = condition.replaceAll('@person', 'svc.person').replaceAll('@label', 'p.entity_label').replaceAll('@entity', 'p.entity_id');
      const hand = condition.replaceAll('@person', 'pe').replaceAll('@label', 'p.name').replaceAll('@entity', "('person:' || p.id)");
      expect(await outcome(mine.replace('@', () => caller)), place).toEqual(await byHand(plain.replace('@', () => hand)));
    }
  });
});

describe('an attack by the form of a statement', () => {
  it.each(SHAPES)('%s', async (_, mine, plain) => expect(await outcome(mine)).toEqual(await byHand(plain)));
});

describe('a statement that is refused', () => {
  it.each(REFUSED)('%s', async (_, sql, expected) => expect(await outcome(sql)).toMatch(new RegExp(`^${expected} `)));
});

describe('an error', () => {
  it.each(TELLING)('of %s reveals no hidden value', async (sql) => expect(await outcome(sql)).toMatch(/^400 /));
});

describe('a policy or a mask that fails itself', () => {
  const fails = "CAST(CASE WHEN dept = 'vault' THEN name ELSE '1' END AS integer) = 1";
  it('does not reveal the value', async () => {
    await service.rows(`CREATE POLICY p_fails ON CONCEPT person TO USER free USING (${fails})`, 'lab');
    expect((await ask('SELECT id FROM svc.person')).status).toBe(200);
    const { status, text, json } = await ask('SELECT id FROM svc.person', tokens.free);
    expect([status, json.code, json.data, leaked('', text)]).toEqual([400, 'invalid_text_representation', 'invalid text representation', []]);
    await service.rows('DROP POLICY p_fails; CREATE POLICY m_fails ON PROPERTY amount MASK WITH (CAST(ssn AS integer))', 'lab');
    expect(await outcome('SELECT amount FROM svc.person')).toBe('400 invalid_text_representation invalid text representation');
    await service.rows('DROP POLICY m_fails', 'lab');
  });
});

describe('the traps', () => {
  it.each([
    'SELECT p.id FROM svc.person p WHERE 10 / (p.id - 1) > -100',
    'SELECT p.id FROM svc.person p WHERE 1 / (length(p.ssn) - 11) > 0',
    'SELECT p.id FROM svc.person p WHERE 1 / (p.salary - 500) > 0',
    "SELECT p.id FROM svc.agent p WHERE EXISTS (SELECT 1 LIMIT CASE WHEN p.name = 'Hal' THEN -1 ELSE 1 END)",
    "SELECT p.id FROM svc.agent p WHERE (SELECT g.v FROM (VALUES (1, 'Hal'), (2, 'Hal')) g (v, n) WHERE g.n = p.name) IS NULL",
  ])('fail on rows that the caller sees: %s', async (sql) => expect(await outcome(sql)).toMatch(/^400 /));

  it.each(['10 / (p.id - 3) > -100', '1 / p.factor > 0', "'x' ~ p.note", 'p.amount >= 0', 'p.inverse IS NOT NULL'])(
    'fail on hidden rows for an administrator: %s',
    async (condition) => expect((await ask(`SELECT p.id FROM svc.person p WHERE ${condition}`, service.token)).status).toBe(400),
  );
});
