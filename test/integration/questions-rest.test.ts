/** Questions over REST, and conversations over REST and MCP (docs/rest.md#questions, docs/design/mcp.md#conversations). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { queryData } from '../../src/mcp/tools/query-data.ts';
import { conversationOf } from '../../src/service/ops/questions.ts';
import { startService, type TestService } from '../support/service.ts';
import { callTool, SimulatedModel } from '../support/tools.ts';

const MODEL = `CREATE ONTOLOGY shop DESCRIPTION 'goods';
  CREATE CONCEPT supplier (no bigint, name string, country string, PRIMARY KEY (no), LABEL (name));
  CREATE MAPPING m INTO supplier AS SELECT no, name, country FROM shop.t_supplier;
  CREATE AGENT buyer ONTOLOGY (shop) OPTIONS (max_limit = '2'); CREATE AGENT forgetful ONTOLOGY (shop) OPTIONS (enable_memory = 'false');
  CREATE AGENT briefly ONTOLOGY (shop) OPTIONS (memory_window_size = '1')`;

const NORWAY = { prompt: 'Which suppliers are there in Norway?', sql: "SELECT name AS only_here FROM svc.supplier WHERE country = 'Norway'" };
const GERMANY = { prompt: 'And in Germany?', sql: "SELECT name FROM svc.supplier WHERE country = 'Germany'" };

const llm = new SimulatedModel();
let s: TestService;
let ann: string;

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_supplier (no bigint PRIMARY KEY, name text, country text, share bigint)',
      "INSERT INTO shop.t_supplier VALUES (1, 'Fjord', 'Norway', 9007199254740993), (2, 'Elbe', 'Germany', 2), (3, 'Alster', 'Germany', 3)",
    ],
    parts: { llm },
  });
  await s.rows(MODEL);
  await s.rows('CREATE ONTOLOGY secret');
  ann = await s.user('ann', 'QUERY ON ALL ontology.shop');
});
afterAll(() => s?.close());
beforeEach(() => {
  llm.heard.length = 0;
});

interface Way {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** POSTs a question; the model says its SQL. */
async function ask(what: string, q: { readonly prompt: string; readonly sql: string }, { token = s.token, headers = { ontology: 'shop' }, body }: Way = {}) {
  llm.heard.length = 0;
  llm.says([q.sql], '', 'Elbe and Alster.');
  const response = await s.fetch(`/svc/openapi/execute/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token === null ? {} : { 'x-api-key': token }), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body ?? { prompt: q.prompt }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer
  return { status: response.status, json: (await response.json()) as any };
}
const heard = (): string => llm.heard.map((t) => t.user).join('\n');

describe('questions over REST', () => {
  it('are answered with rows', async () => {
    for (const headers of [{ ontology: 'shop' }, { 'x-ontology': 'SHOP' }, { agent: 'buyer' }, { 'x-agent': 'BUYER', 'x-async': 'false' }]) {
      const { status, json } = await ask('prompt', GERMANY, { headers });
      expect([status, json.status]).toEqual([200, 'success']);
      expect(json.data).toMatchObject({
        status: 'answered',
        readings: [],
        rows: [{ name: 'Elbe' }, { name: 'Alster' }],
        row_count: 2,
        truncated: false,
        sql: GERMANY.sql,
        ontology: 'shop',
        concept: 'supplier',
        schema: 'svc',
      });
    }
  });

  it('are answered in words', async () => {
    const { json } = await ask('answer', GERMANY);
    expect(json.data).toMatchObject({ status: 'answered', answer: 'Elbe and Alster.', sql: GERMANY.sql, rows: [{ name: 'Elbe' }, { name: 'Alster' }] });
  });

  it('obey results-limit, within that of the agent', async () => {
    const all = { prompt: 'Who?', sql: 'SELECT name FROM svc.supplier ORDER BY no' };
    const rows = async (headers: Record<string, string>) => (await ask('prompt', all, { headers })).json.data;
    expect(await rows({ ontology: 'shop', 'results-limit': '1' })).toMatchObject({ rows: [{ name: 'Fjord' }], truncated: true });
    expect((await rows({ agent: 'buyer', 'results-limit': '9' })).row_count).toBe(2);
    expect((await rows({ ontology: 'shop', 'results-limit': '9' })).row_count).toBe(3);
  });

  it('are asked back', async () => {
    const readings = [NORWAY, GERMANY].map(({ sql }, i) => ({ reading: `In country ${i}`, sql }));
    const post = async (what: string, body: object) => {
      llm.says([{ readings }, NORWAY.sql]);
      llm.heard.length = 0;
      const response = await s.fetch(`/svc/openapi/execute/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': s.token, ontology: 'shop' },
        body: JSON.stringify({ prompt: 'Which?', ...body }),
      });
      return ((await response.json()) as { data: object }).data;
    };
    expect(await post('answer', {})).toMatchObject({ status: 'clarify', readings, rows: [], sql: '' });
    expect(await post('prompt', { on_ambiguity: 'ask' })).toMatchObject({ status: 'clarify', readings, rows: [] });
    llm.says([GERMANY.sql]);
    await post('prompt', { reading: 'In country 1' });
    expect(heard()).toContain('The question is meant like this: <<<In country 1>>>');
  });

  it('can be fetched later', async () => {
    const { status, json } = await ask('prompt', GERMANY, { headers: { ontology: 'shop', 'x-async': 'true' } });
    expect([status, json.async]).toEqual([202, true]);
    // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer
    const poll = async (token: string): Promise<any> => (await s.fetch(json.poll_url, { headers: { 'x-api-key': token } })).json();
    await expect.poll(async () => (await poll(s.token)).status).toBe('completed');
    expect(await poll(s.token)).toMatchObject({
      response: { status: 'success', data: { rows: [{ name: 'Elbe' }, { name: 'Alster' }], sql: GERMANY.sql } },
      original_status_code: 200,
    });
    expect(await poll(ann)).toEqual({ error: 'Response not found' });
    const failing = await ask('answer', { prompt: 'What?', sql: 'SELECT nothing FROM svc.supplier' }, { headers: { ontology: 'shop', 'x-async': 'true' } });
    await expect
      .poll(async () => ((await (await s.fetch(failing.json.poll_url, { headers: { 'x-api-key': s.token } })).json()) as { status: string }).status)
      .toBe('error');
  });

  it('have errors', async () => {
    for (const what of ['prompt', 'answer']) {
      const code = async (way: Way, q = GERMANY) => {
        const { status, json } = await ask(what, q, way);
        return `${status} ${json.code}`;
      };
      expect(await code({ token: null })).toBe('401 credential_missing');
      for (const body of ['{', '[]', '{}', '{"prompt": " "}', '{"prompt": 5}', '{"prompt": "a", "on_ambiguity": "never"}', '{"prompt": "a", "reading": 5}'])
        expect(await code({ body }), body).toMatch(/^400 malformed_(json|body)$/);
      expect(await code({ headers: { ontology: 'shop', 'results-limit': '0' } })).toBe('400 bad_results_limit');
      expect(await code({ headers: {} })).toBe('404 ontology_not_found');
      expect(await code({ headers: { ontology: 'shop', 'x-conversation-id': "x' OR true" } })).toBe('400 bad_conversation_id');
      expect(await code({ headers: { agent: 'nobody' } })).toBe('403 no_access');
      expect(await code({}, { prompt: 'What?', sql: 'SELECT nothing FROM svc.supplier' })).toBe('400 no_valid_sql');
      const hidden = async (ontology: string) => {
        const { status, json } = await ask(what, GERMANY, { token: ann, headers: { ontology } });
        return JSON.stringify([status, { ...json, request_id: '' }]).replaceAll(ontology, '…');
      };
      expect(await hidden('secret')).toBe(await hidden('secrez'));
    }
  });

  it('list the ontologies of the caller', async () => {
    const names = async (token: string) => (await s.fetch('/svc/openapi/execute/show_ontologies', { headers: { 'x-api-key': token } })).json();
    expect(await names(s.token)).toEqual([{ ontology: 'secret' }, { ontology: 'shop' }]);
    expect(await names(ann)).toEqual([{ ontology: 'shop' }]);
  });
});

describe('a conversation', () => {
  const within = (id: string, more: Record<string, string> = {}) => ({ ontology: 'shop', 'x-conversation-id': id, ...more });
  /** Whether the model got the earlier question and its SQL. */
  const remembers = (): boolean => {
    expect(heard().includes(NORWAY.prompt)).toBe(heard().includes('only_here'));
    return heard().includes('only_here');
  };

  it('is kept over REST and MCP', async () => {
    const id = randomUUID();
    await ask('prompt', NORWAY, { headers: within(id) });
    expect(heard()).not.toContain('Earlier questions');
    await ask('prompt', GERMANY, { headers: within(id.toUpperCase()) });
    expect(remembers()).toBe(true);
    const request = await s.request(s.token, { llm });
    llm.heard.length = 0;
    await callTool(request, queryData, { prompt: 'And elsewhere?', conversation_id: id }, { ontology: 'shop' });
    expect(remembers()).toBe(true);
    expect(heard()).toMatch(/Earlier questions of this conversation, oldest first[^<]*<<<Which suppliers[\s\S]*And in Germany\?[\s\S]*>>>/);
    await expect(callTool(request, queryData, { prompt: 'And?', conversation_id: 'x' }, { ontology: 'shop' })).rejects.toThrow(/must be a UUID/);
  });

  it('is not known to another conversation, nor to a question without one', async () => {
    await ask('prompt', NORWAY, { headers: within(randomUUID()) });
    await ask('prompt', GERMANY, { headers: within(randomUUID()) });
    expect(remembers()).toBe(false);
    await ask('prompt', GERMANY);
    expect(remembers()).toBe(false);
  });

  it('belongs to one user', async () => {
    const id = randomUUID();
    await ask('prompt', NORWAY, { headers: within(id) });
    await ask('prompt', GERMANY, { headers: within(id), token: ann });
    expect(remembers()).toBe(false);
    await ask('prompt', GERMANY, { headers: within(id) });
    expect(remembers()).toBe(true);
  });

  it('is unknown to those who impersonate its user', async () => {
    const id = randomUUID();
    await ask('prompt', NORWAY, { headers: within(id), token: ann });
    await ask('prompt', GERMANY, { headers: within(id, { 'x-api-impersonate-user': 'ann' }) });
    expect(remembers()).toBe(false);
    await ask('prompt', GERMANY, { headers: within(id), token: ann });
    expect(remembers()).toBe(true);
  });

  it('ends when the rights of its user change', async () => {
    const id = randomUUID();
    await ask('prompt', NORWAY, { headers: within(id), token: ann });
    await s.rows("CREATE POLICY near ON CONCEPT supplier TO USER ann USING (country = 'Germany')", 'shop');
    await ask('prompt', GERMANY, { headers: within(id), token: ann });
    expect(remembers()).toBe(false);
    await s.rows('DROP POLICY near', 'shop');
    await ask('prompt', GERMANY, { headers: within(id), token: ann });
    expect(remembers()).toBe(true);
  });

  it('belongs to the claims of the credential', async () => {
    const id = randomUUID();
    await ask('prompt', NORWAY, { headers: within(id), token: ann });
    const request = await s.request(ann);
    const turns = async (claims: Readonly<Record<string, string>>) => {
      const caller = { ...request.caller, principal: { ...request.caller.principal, claims } };
      return (await conversationOf({ ...request, caller: { ...caller, refresh: async () => caller } }, 'shop', id, 5)).turns;
    };
    expect(await turns({})).toEqual([{ question: NORWAY.prompt, concept: 'supplier', query: NORWAY.sql }]);
    expect(await turns({ region: 'north' })).toEqual([]);
  });

  it('belongs to one ontology', async () => {
    await s.rows('CREATE ONTOLOGY other; CREATE CONCEPT supplier (no bigint, name string, country string, PRIMARY KEY (no))');
    await s.rows('CREATE MAPPING m INTO supplier AS SELECT no, name, country FROM shop.t_supplier', 'other');
    const id = randomUUID();
    await ask('prompt', NORWAY, { headers: within(id) });
    await ask('prompt', GERMANY, { headers: within(id, { ontology: 'other' }) });
    expect(remembers()).toBe(false);
  });

  it('is as long as the agent says', async () => {
    const id = randomUUID();
    await ask('prompt', NORWAY, { headers: within(id) });
    await ask('prompt', GERMANY, { headers: within(id, { agent: 'forgetful' }) });
    expect(remembers()).toBe(false);
    await ask('prompt', GERMANY, { headers: within(id, { agent: 'briefly' }) });
    expect(remembers()).toBe(false);
    expect(heard()).toContain('Earlier questions');
    await ask('prompt', GERMANY, { headers: within(id, { agent: 'buyer' }) });
    expect(remembers()).toBe(true);
  });

  it('does not remember questions that failed', async () => {
    const id = randomUUID();
    await ask('prompt', { prompt: NORWAY.prompt, sql: 'SELECT only_here FROM svc.supplier' }, { headers: within(id) });
    await ask('prompt', GERMANY, { headers: within(id) });
    expect(remembers()).toBe(false);
  });
});
