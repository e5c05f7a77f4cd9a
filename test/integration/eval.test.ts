/** `npm run eval` against the built Worker over the tables of bikehire: the oracle, a model that replays right and wrong SQL, changed statements. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Reply, startReplay } from '../../dev/eval/replay.ts';
import { type Question, readSet } from '../../dev/eval/set.ts';
import { main } from '../../dev/eval.ts';
import { DEVELOPER } from '../../dev/roles.ts';
import { freePort } from '../../dev/scratch-postgres.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { bikehireModel, bikehireRights, loadBikehireTables } from '../../examples/bikehire/load.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { type BuiltWorkers, startBuiltWorkers } from './support/worker.ts';

const SET = new URL('../../examples/bikehire/questions.json', import.meta.url).pathname;
const ON = ['--ontology', 'bikehire'];
const questions = await readSet(SET);
const byId = (id: string): Question => questions.find((q) => q.id === id) as Question;

let database: LocalPostgres;
/** The URL of the service's model. */
let port: number;
let workers: BuiltWorkers<'plain'>;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eval-'));
  [database, port] = await Promise.all([borrowPostgres(), freePort()]);
  await loadBikehireTables((sql) => database.exec(sql));
  workers = await startBuiltWorkers(database, {
    plain: { LLM_TYPE: 'openai-compatible', LLM_BASE_URL: `http://127.0.0.1:${port}/v1`, LLM_API_KEY: 'k', LLM_MODEL: 'by heart' },
  });
  const session = {
    base_url: workers.urls.plain,
    admin_token: workers.token,
    sql_endpoint: database.endpoint,
    database_url: database.connectionString(DEVELOPER),
  };
  writeFileSync(join(folder, 'session.json'), JSON.stringify(session));
  await script(await bikehireModel(), '');
  await script(await bikehireRights(), 'bikehire');
});
afterAll(async () => {
  await workers?.stop();
  await database?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function script(query: string, ontology: string): Promise<readonly Record<string, unknown>[]> {
  const response = await fetch(`${workers.urls.plain}/svc/api/query/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': workers.token },
    body: JSON.stringify({ query, ontology_name: ontology }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return (JSON.parse(text) as { readonly data: readonly Record<string, unknown>[] }).data;
}

interface Ended {
  readonly code: number;
  readonly lines: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: what --json wrote
  readonly json: any;
}

let runs = 0;
async function evaluate(...args: readonly string[]): Promise<Ended> {
  const lines: string[] = [];
  const file = join(folder, `out-${runs++}.json`);
  const output = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  const code = await main([...args, ...ON, '--json', file], { SESSION_FILE: join(folder, 'session.json') }, output);
  if (!existsSync(file)) throw new Error(`the evaluation ended with ${code}: ${lines.slice(-5).join('\n')}`);
  return { code, lines, json: JSON.parse(readFileSync(file, 'utf8')) };
}

/** Asks some of the questions with these answers of the model. */
async function answered(plays: readonly (readonly [Question, Reply])[], ...args: readonly string[]): Promise<Ended> {
  const model = await startReplay(port);
  try {
    model.play(new Map(plays.map(([q, reply]) => [q.question, reply])));
    return await evaluate('--set', setOf(plays.map(([q]) => q)), ...args);
  } finally {
    await model.close();
  }
}

/** A set of some of the questions. */
function setOf(made: readonly Question[]): string {
  const file = join(folder, 'set.json');
  writeFileSync(file, JSON.stringify(made));
  return file;
}

describe('the oracle', () => {
  it('passes for every question, as its callers, with the rows of the hand-written SQL', async () => {
    const { code, lines, json } = await evaluate('--set', SET, '--oracle');
    expect(lines.filter((l) => /^(refused|wrong|failed)/.test(l))).toEqual([]);
    expect([code, json.totals.byKind]).toEqual([0, { right: questions.filter((q) => q.gold !== null).length, declined: 0, refused: 0, wrong: 0, failed: 0 }]);
    // tokens that were created for callers are revoked
    expect(await script('SHOW TOKEN FOR petra', '')).toEqual([]);
  });

  it('fails if one SQL is invalid, or has other rows than the hand-written SQL', async () => {
    const [a, b, c] = ['open-branches', 'rebates', 'brake-parts'].map(byId) as [Question, Question, Question];
    const set = setOf([a, { ...b, gold: 'SELECT name, rebtae FROM svc.company' }, { ...c, gold: 'SELECT name, stock FROM svc.part' }]);
    const { code, json } = await evaluate('--set', set, '--oracle');
    expect(code).toBe(1);
    expect(json.questions.map((q: { kind: string; why: string }) => [q.kind, q.why])).toEqual([
      ['right', ''],
      ['refused', expect.stringMatching(/^unknown property `rebtae` of concept `company`; did you mean `rebate`\?/)],
      ['wrong', '22 rows instead of 3'],
    ]);
  });
});

describe('questions in words', () => {
  const asked = (id: string, reply: (q: Question) => Reply): readonly [Question, Reply] => [byId(id), reply(byId(id))];
  const right = ({ gold, concept }: Question): Reply => ({ sql: gold as string, ...(concept === null ? {} : { concept }) });
  const by = (sql: string) => (): Reply => ({ sql });

  it('are right, declined, refused, silently wrong or failed', async () => {
    const plays = [
      asked('branches-of-west-flanders', right),
      // another order of columns, another alias, and an additional column
      asked('customers-by-kind', by('SELECT COUNT(customer_no) AS n, MIN(customer_since) AS first, entity_type FROM svc.customer GROUP BY entity_type')),
      asked('farthest-ridden', right),
      asked('salaries-masked', right),
      asked('hires-that-petra-sees', right),
      asked('profit', () => ({ refusal: 'Rent is not in the graph' })),
      // the model answers a question that has no answer, and refuses one that has
      asked('competitors', by("SELECT name FROM dsvc.branch WHERE `in_town[area].name` = 'Ghent'")),
      asked('revenue-hidden-from-the-workshop', by('SELECT SUM(`measure.revenue`) AS r FROM dsvc.hire_line')),
      asked('open-branches', by('SELECT COUNT(branch_no) AS branches FROM svc.branch')),
      asked('rebates', by('SELECT name, rebtae FROM svc.company')),
      asked('fleet-by-kind', () => ({ status: 400 })),
    ];
    const { code, lines, json } = await answered(plays);
    expect(json.questions.map((q: { id: string; kind: string }) => `${q.id} ${q.kind}`)).toEqual([
      'branches-of-west-flanders right',
      'customers-by-kind right',
      'farthest-ridden right',
      'salaries-masked right',
      'hires-that-petra-sees right',
      'profit declined',
      'competitors wrong',
      'revenue-hidden-from-the-workshop declined',
      'open-branches wrong',
      'rebates refused',
      'fleet-by-kind failed',
    ]);
    expect(code).toBe(1);
    expect(lines).toContain('11 questions: 5 right, 2 declined, 1 refused, 2 wrong, 1 failed');
    expect(lines).toContain('accuracy 63.6 %, silent errors 18.2 %');
    // the wrong ones are shown with both statements
    expect(lines).toContain('  given: SELECT COUNT(branch_no) AS branches FROM svc.branch');
    expect(json.totals.inputTokens).toBeGreaterThan(0);
    expect(json.totals.calls).toBeGreaterThanOrEqual(7);
    expect(json.questions[8].why).toBe('no column has the values of "branches"');
  });

  it('give exit code 1 if fewer are right than required', async () => {
    const wrong = asked('open-branches', by('SELECT COUNT(branch_no) AS branches FROM svc.branch'));
    expect((await answered([wrong])).code).toBe(0);
    expect((await answered([wrong], '--min', '50')).code).toBe(1);
    expect((await answered([asked('open-branches', right)], '--min', '100')).code).toBe(0);
  });

  it('are all right if the model is, with all checks of the service', async () => {
    const { code, json } = await evaluate('--set', SET, '--replay', String(port), '--min', '100', '--only', 'path');
    expect([code, json.totals.byKind.right]).toEqual([0, questions.filter((q) => q.tags.includes('path')).length]);
    expect(json.questions.filter((q: { tries: number }) => q.tries !== 1)).toEqual([]);
  });
});

describe('changed statements', () => {
  it('are refused if the model of the ontology shows that they are wrong', async () => {
    const { code, lines, json } = await evaluate('--set', SET, '--mutate', '--only', 'fan-out');
    expect(code).toBe(0);
    const fates = (operator: string): readonly string[] => [
      ...new Set<string>(json.filter((m: { operator: string }) => m.operator === operator).map((m: { fate: string }) => m.fate)),
    ];
    expect(fates('a misspelled property')).toEqual(['planner']);
    expect(fates('svc instead of dsvc')).toEqual(['planner']);
    expect(fates('a table instead of a concept')).toEqual(['planner']);
    expect(fates('GROUP BY left out')).toEqual(['datasource']);
    expect(fates('a literal of another type')).toEqual(['datasource']);
    // no check can know the intention
    expect(fates('a condition left out')).toContain('other');
    expect(lines.join()).toMatch(/No rows/);
    expect(lines.at(-1)).toMatch(new RegExp(`^\\| all \\| ${json.length} \\|`));
  });

  it('make the service ask again if a value is written differently', async () => {
    const fates = async (): Promise<(operator: string) => string> => {
      const { json } = await evaluate('--set', SET, '--mutate', '--only', 'customers-of-amsterdam', '--replay', String(port));
      return (operator) => json.find((m: { operator: string }) => m.operator === operator)?.fate;
    };
    // the service waits only briefly for values: on a busy machine they are available for a later question
    await vi.waitFor(async () => expect((await fates())('a text in another case')).toBe('again'), { timeout: 120_000, interval: 500 });
    expect((await fates())('a condition left out')).toBe('other');
  });
});
