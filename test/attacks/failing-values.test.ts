/** Policies, masks, mappings and properties that fail on a hidden value: neither the answer nor the log quotes the value. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const SECRET = 'Geheim4711';
/** PostgreSQL reports them as syntax errors (SQLSTATE 42601), like errors of the statement. */
const CASTS = [`(name || ' & &')::tsquery`, `('''' || name)::tsvector`, `('$' || name || ' ' || name)::jsonpath`];

let s: TestService;
let token: string;
const lines: unknown[] = [];
beforeAll(async () => {
  s = await startService({ parts: { log: (line) => void lines.push(line) } });
  await s.database.exec('CREATE SCHEMA shop');
  await s.database.exec('CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)');
  await s.database.exec(`INSERT INTO shop.t_city VALUES (1, '${SECRET}')`);
  const mapped = CASTS.map(
    (cast, i) =>
      `CREATE CONCEPT cast_${i} (id${i} bigint, text_${i} string, PRIMARY KEY (id${i})); CREATE MAPPING c${i} INTO (cast_${i}) AS SELECT id AS id${i}, ${cast}::text AS text_${i} FROM shop.t_city`,
  );
  const calculated = CASTS.map((cast, i) => `CREATE PROPERTY calculated_${i} string AS SELECT ${cast}::text`);
  await s.rows(
    `CREATE ONTOLOGY shop; CREATE PROPERTY name string; ${calculated.join('; ')};
    CREATE CONCEPT city (id bigint, name string, ${CASTS.map((_, i) => `calculated_${i} string`).join(', ')}, PRIMARY KEY (id));
    CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city; ${mapped.join('; ')}`,
    'shop',
  );
  await s.rows('CREATE USER ann; GRANT QUERY ON ALL ontology.shop TO USER ann');
  token = String((await s.rows('CREATE TOKEN FOR ann'))[0]?.token);
});
afterAll(() => s?.close());

/** The answer to the user, with a policy. */
async function answered(policy: string, sql: string): Promise<string> {
  await s.rows(`CREATE POLICY hidden ON ${policy}`, 'shop');
  lines.splice(0);
  const headers = { 'x-api-key': token, 'content-type': 'application/json' };
  const response = await s.fetch('/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: 'shop', query: sql }) });
  const text = await response.text();
  await s.rows('DROP POLICY hidden', 'shop');
  expect(JSON.stringify(lines)).not.toContain(SECRET);
  return `${response.status} ${text}`;
}

describe.each(CASTS.map((cast, i) => [cast, i] as const))('%s', (cast, i) => {
  it.each([
    ['the condition of a policy', `CONCEPT city TO PUBLIC USING (${cast}::text = 'x')`, 'SELECT id FROM svc.city'],
    ['a mask', `PROPERTY name MASK WITH (${cast}::text)`, 'SELECT name FROM svc.city'],
    ['a mapping under a policy', `CONCEPT cast_${i} TO PUBLIC USING (text_${i} = 'x')`, `SELECT id${i} FROM svc.cast_${i}`],
    ['a calculated property under a policy', `CONCEPT city TO PUBLIC USING (calculated_${i} = 'x')`, 'SELECT id FROM svc.city'],
  ])('in %s', async (_, policy, sql) => {
    const answer = await answered(policy, sql);
    expect(answer).toMatch(/^(200|400) /);
    expect(answer).not.toContain(SECRET);
    expect(answer).not.toMatch(/ of jsonpath input| in ts(query|vector)/);
  });
});
