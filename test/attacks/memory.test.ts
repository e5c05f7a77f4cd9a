/** Answers that take much memory of an isolate: long rows, streams that the client does not read, and other callers at the same time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWER_MEMORY_BYTES, kept } from '../../src/answer-memory.ts';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA mem',
  'CREATE TABLE mem.t_doc (id bigint PRIMARY KEY, text text, owner bigint)',
  "INSERT INTO mem.t_doc VALUES (1, repeat('a \"quoted\" text ', 350000), 1), (2, 'short', 1)",
  'CREATE TABLE mem.t_person (id bigint PRIMARY KEY, name text)',
  "INSERT INTO mem.t_person SELECT i, repeat('x', 1000) || i FROM generate_series(1, 3000) i",
];
const MODEL = `
  CREATE CONCEPT person (id bigint, name string, PRIMARY KEY (id));
  CREATE CONCEPT doc (id bigint, text string, owner bigint, PRIMARY KEY (id), CONSTRAINT of_person FOREIGN KEY (owner) REFERENCES person (id) INVERSEOF has_doc);
  CREATE MAPPING m_doc INTO (doc) AS SELECT id, text, owner FROM mem.t_doc;
  CREATE MAPPING m_person INTO (person) AS SELECT id, name FROM mem.t_person;
`;

let s: TestService;
let ann: string;
let ben: string;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(`CREATE ONTOLOGY mem; ${MODEL}`);
  ann = await s.user('ann', 'QUERY ON ALL ontology.mem');
  ben = await s.user('ben', 'QUERY ON ALL ontology.mem');
});
afterAll(() => s?.close());

const ask = (sql: string, token: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  s.fetch('/svc/api/query', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': token, ...headers },
    body: JSON.stringify({ ontology_name: 'mem', query: sql }),
  });

describe('a row of 7 MB', () => {
  const FLAT = 'SELECT id, text FROM dsvc.doc ORDER BY id';
  const NESTED = 'SELECT entity_id, "has_doc[doc].entity_id", "has_doc[doc].text" FROM dsvc.person WHERE id = 1';

  it('is accepted if its bytes are passed on unchanged', async () => {
    const response = await ask(FLAT, ann);
    expect(response.status).toBe(200);
    expect(JSON.parse(await response.text()).data.map((row: { text: string }) => row.text.length)).toEqual([5_600_000, 5]);
  });

  it.each([
    ['CSV', FLAT, { accept: 'text/csv' }],
    ['NDJSON', FLAT, { accept: 'application/x-ndjson' }],
    ['nested', NESTED, { nested: 'true' }],
    ['nested NDJSON', NESTED, { nested: 'true', accept: 'application/x-ndjson' }],
  ])('is refused as %s', async (_, sql, headers: Record<string, string>) => {
    const before = kept();
    const response = await ask(sql, ann, headers);
    const { code, data } = JSON.parse(await response.text());
    expect([response.status, code, data]).toEqual([400, 'result_too_large', 'a row is larger than 4 MB']);
    expect(kept()).toBe(before);
  });
});

describe('streams that the client does not read', () => {
  it('together use at most the memory limit, and other callers get answers', async () => {
    const before = kept();
    const open: Response[] = [];
    for (let i = 0; i < 45; i++) open.push(await ask(`SELECT id, name, ${i} AS n FROM dsvc.person`, ann));
    // a request whose first megabyte is dropped before its status is sent is 503
    expect(open.filter((r) => r.status !== 200 && r.status !== 503)).toEqual([]);
    const streams = open.filter((r) => r.status === 200);
    expect(streams.length).toBeGreaterThan(35);
    expect(kept()).toBeGreaterThan(ANSWER_MEMORY_BYTES / 2);
    expect(kept()).toBeLessThanOrEqual(ANSWER_MEMORY_BYTES);
    for (const headers of [{}, { nested: 'true' }, { accept: 'text/csv' }]) {
      const response = await ask('SELECT entity_id, name, "has_doc[doc].id" FROM dsvc.person', ben, headers as Record<string, string>);
      expect([response.status, (await response.text()).length > 3_000_000]).toEqual([200, true]);
    }
    // a stream ends with an error if its buffered bytes were dropped; otherwise its data is complete
    const ends = await Promise.allSettled(streams.map((r) => r.text()));
    expect(ends.filter((e) => e.status === 'rejected').length).toBeGreaterThan(5);
    for (const end of ends) if (end.status === 'fulfilled') expect(JSON.parse(end.value).data).toHaveLength(3000);
    expect(kept()).toBe(before);
  });
});
