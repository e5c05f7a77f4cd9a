/** Requests that run longer than rights may be cached: rights that their callers lose in the meantime have no effect any more. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SvcError } from '../../src/errors.ts';
import { describeModel } from '../../src/llm/describe.ts';
import { queryData } from '../../src/llm/questions.ts';
import type { LanguageModels, Turn } from '../../src/llm/types.ts';
import { cutRows } from '../../src/nesting/cut.ts';
import { runScript, type ServiceRequest } from '../../src/service.ts';
import { startService, type TestService } from '../support/service.ts';

const SQL = 'SELECT name, ward FROM svc.patient ORDER BY name';
let s: TestService;
let token: string;
/** How far the clock of the request is ahead. */
let passed = 0;

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA c',
      'CREATE TABLE c.t_patient (no bigint PRIMARY KEY, name text, ward text)',
      "INSERT INTO c.t_patient VALUES (1, 'Anna', 'east'), (2, 'Bert', 'west')",
    ],
  });
  await s.rows(`CREATE ONTOLOGY clinic; CREATE CONCEPT patient (no bigint, name string, ward string, PRIMARY KEY (no));
    CREATE MAPPING m INTO patient AS SELECT no, name, ward FROM c.t_patient`);
  token = await s.user('una', 'QUERY ON ALL ontology.clinic');
});
afterAll(() => s?.close());

const request = (llm?: LanguageModels): Promise<ServiceRequest> => s.request(token, { now: () => Date.now() + passed, ...(llm === undefined ? {} : { llm }) });

/** What removes rights, the answer to a caller without them, and what restores them. */
const LOSSES: readonly (readonly [string, string, unknown, string])[] = [
  ['a grant is revoked', 'REVOKE QUERY ON ALL ontology.clinic FROM USER una', 'unknown_ontology', 'GRANT QUERY ON ALL ontology.clinic TO USER una'],
  ['a policy is made', "CREATE POLICY east ON CONCEPT patient TO USER una USING (ward = 'east')", [{ name: 'Anna', ward: 'east' }], 'DROP POLICY east'],
  [
    'a mask is made',
    'CREATE POLICY hush ON PROPERTY ward MASK FULL',
    [
      { name: 'Anna', ward: '****' },
      { name: 'Bert', ward: '****' },
    ],
    'DROP POLICY hush',
  ],
  ['the user is deactivated', "ALTER USER una SET ACTIVE = 'false'", 'invalid_token', "ALTER USER una SET ACTIVE = 'true'"],
];

async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SvcError) return /unknown_ontology/.test(error.message) ? 'unknown_ontology' : error.code;
    throw error;
  }
}

describe.each(LOSSES)('a minute after %s', (_, loss, expected, gain) => {
  it('a question in words continues with the remaining rights', async () => {
    const llm: LanguageModels = {
      name: 'fake/one',
      timeoutMs: 100_000,
      async ask<T>({ schema }: Turn<T>) {
        if (passed === 0) await s.rows(loss, 'clinic');
        passed = 61_000;
        return { value: schema.parse({ sql: SQL, reason: 'so', refusal: null }), text: '', inputTokens: 1, outputTokens: 1, durationMs: 1 };
      },
    };
    const asking = { request: await request(llm), ontology: 'clinic', agent: undefined, prompt: 'Who is there?', args: {}, llm, collect: cutRows };
    const found = await outcome(async () => (await queryData(asking)).rows);
    passed = 0;
    await s.rows(gain, 'clinic');
    expect(found).toEqual(expected);
  });

  it('a further statement of the same request has the remaining rights', async () => {
    const one = await request();
    const run = () => outcome(async () => (await cutRows(await runScript(one, { ontology: 'clinic', sql: SQL, limit: null, datasource: null }), 100)).rows);
    expect(await run()).toHaveLength(2);
    await s.rows(loss, 'clinic');
    passed = 61_000;
    const found = await run();
    passed = 0;
    await s.rows(gain, 'clinic');
    expect(found).toEqual(expected);
  });

  it('a further statement of the same script is not run', async () => {
    const real = globalThis.fetch;
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const answer = await real(input, init);
      if (passed === 0 && String(init?.body).includes('takes long')) {
        passed = 1;
        await s.rows(loss, 'clinic');
        passed = 61_000;
      }
      return answer;
    });
    const script = { ontology: 'clinic', sql: `SELECT 'takes long' AS a FROM svc.patient; ${SQL}`, limit: null, datasource: null };
    const found = await outcome(async () => (await cutRows(await runScript(await request(), script), 100)).rows);
    spy.mockRestore();
    passed = 0;
    await s.rows(gain, 'clinic');
    expect(found).toBe(expected === 'invalid_token' ? 'invalid_token' : 'rights_changed');
  });
});

it('a script of a caller with unchanged rights continues after a minute', async () => {
  passed = 0;
  const one = await request();
  passed = 61_000;
  const script = { ontology: 'clinic', sql: `SELECT 1 AS a FROM svc.patient; ${SQL}`, limit: null, datasource: null };
  expect((await cutRows(await runScript(one, script), 100)).rows).toHaveLength(2);
  passed = 0;
});

it('values that a question shows are read with the rights under which they are kept', async () => {
  // its snapshot is older than the policy, and the header makes the service read a newer one
  const before = { ...(await s.request(token)), knownVersion: crypto.randomUUID() };
  await s.rows("CREATE POLICY east ON CONCEPT patient TO USER una USING (ward = 'east')", 'clinic');
  try {
    const values = async (of: ServiceRequest): Promise<string> => (await describeModel({ request: of, ontology: 'clinic', about: [], maxTokens: 10_000 })).text;
    await values(before);
    const now = await values(await s.request(token));
    expect(now).toContain('Anna');
    expect(now).not.toContain('Bert');
  } finally {
    await s.rows('DROP POLICY east', 'clinic');
  }
});
