/** Skills over MCP: the entries, their digests, and what they say to callers with different rights, for clients of both eras. */
import { createHash } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Session } from '../../src/mcp/call.ts';
import { Gate } from '../../src/mcp/gate.ts';
import { OFFER } from '../../src/mcp/offer.ts';
import { buildServer } from '../../src/mcp/server.ts';
import { checkAnAnswer, modelADatabase } from '../../src/mcp/skill-texts.ts';
import { SKILLS } from '../../src/mcp/skills.ts';
import { Spending, targetOf } from '../../src/service.ts';
import { startService, type TestService } from '../support/service.ts';

const SKILL = z.object({
  uri: z.string(),
  frontmatter: z.object({ name: z.string(), description: z.string() }),
  resources: z.array(z.object({ uri: z.string(), digest: z.string(), size: z.number() })),
});
const CACHE = { ttlMs: z.number(), cacheScope: z.literal('private') };
const LIST = z.object({ skills: z.array(SKILL), ...CACHE });
const GET = z.object({ skill: SKILL, ...CACHE });

let s: TestService;
beforeAll(async () => {
  s = await startService({
    tables: ['CREATE TABLE public.cust (id integer, name text)', 'CREATE TABLE public.sale (id integer, day date, amount numeric, cust_id integer)'],
  });
  await s.database.exec("INSERT INTO public.cust VALUES (1, 'Ann'), (2, 'Ben')");
  await s.database.exec("INSERT INTO public.sale VALUES (1, '2024-01-01', 5, 2), (2, '2024-01-02', 7, 2), (3, '2024-01-02', 1, 1)");
  await s.rows(`CREATE ONTOLOGY "my shop"; CREATE CONCEPT customer (customer_no integer, name string, secret_note string, PRIMARY KEY (customer_no));
    CREATE CONCEPT payroll (pay_no integer, wages decimal, PRIMARY KEY (pay_no));
    CREATE MAPPING m INTO customer AS SELECT id AS customer_no, name, name AS secret_note FROM public.cust`);
  await s.rows('CREATE ONTOLOGY other; CREATE CONCEPT thing_of_other (no integer, PRIMARY KEY (no))');
});
afterAll(() => s?.close());

async function connect(token: string, pin: string | undefined, ontology: string | null = null): Promise<Client> {
  const request = await s.request(token);
  const target = targetOf(request.caller, { ontology, agent: null }, { defaultOntology: null, defaultAgent: null });
  const session = () => ({ ...request, target, modelling: false, spending: new Spending(), body: [] }) as unknown as Session;
  const surroundings = { offer: OFFER, version: '1', gate: new Gate(1), slowGate: new Gate(1), audit: () => undefined };
  const handler = createMcpHandler(() => buildServer(session(), surroundings));
  const options = pin === undefined ? {} : { versionNegotiation: { mode: { pin } } };
  const client = new Client({ name: 'test', version: '1' }, options as never);
  const fetch = (input: string | URL, init?: RequestInit): Promise<Response> => handler.fetch(new Request(input, init));
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch: fetch as never }));
  return client;
}

const list = async (client: Client) => (await client.request({ method: 'skills/list', params: {} } as never, LIST as never)) as z.infer<typeof LIST>;
const get = async (client: Client, uri: string) =>
  (await client.request({ method: 'skills/get', params: { uri } } as never, GET as never)) as z.infer<typeof GET>;
const read = async (client: Client, uri: string): Promise<string> => {
  const { contents } = await client.readResource({ uri });
  return (contents[0] as { text: string }).text;
};

const OF_SHOP = 'skill://my%20shop/query-this-graph/SKILL.md';

describe('skills', () => {
  it.each(['2026-07-28', undefined])('are listed with digests of what is read, pinned to %s', async (pin) => {
    const client = await connect(s.token, pin);
    expect((client.getServerCapabilities() as { extensions?: object }).extensions).toEqual({ [SKILLS]: {} });
    const { skills } = await list(client);
    expect(skills.map((k) => k.uri)).toEqual([
      OF_SHOP,
      'skill://other/query-this-graph/SKILL.md',
      'skill://model-a-database/SKILL.md',
      'skill://check-an-answer/SKILL.md',
    ]);
    for (const entry of skills) {
      const text = await read(client, entry.uri);
      const name = entry.uri.split('/').at(-2);
      expect(entry.frontmatter.name).toBe(name);
      // the frontmatter of the file is that of the entry
      const written = /^---\nname: (.*)\ndescription: (".*")\n---\n/.exec(text);
      expect([written?.[1], JSON.parse(written?.[2] ?? 'null')]).toEqual([name, entry.frontmatter.description]);
      const bytes = Buffer.from(text);
      expect(entry.resources).toEqual([{ uri: entry.uri, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, size: bytes.length }]);
      expect((await get(client, entry.uri)).skill).toEqual(entry);
    }
    await client.close();
  });

  it('are those of the ontology that the connection names', async () => {
    const { skills } = await list(await connect(s.token, undefined, 'other'));
    expect(skills.map((k) => k.frontmatter.name)).toEqual(['query-this-graph', 'model-a-database', 'check-an-answer']);
    expect(skills[0]?.uri).toBe('skill://other/query-this-graph/SKILL.md');
  });

  it('name what the caller may query, and nothing else', async () => {
    const all = await read(await connect(s.token, undefined), OF_SHOP);
    expect(all).toMatch(/customer/);
    expect(all).toMatch(/payroll/);
    // values are not in it
    expect(all).not.toMatch(/Ann|Ben/);
    const part = await connect(await s.user('part', 'QUERY ON ontology.`my shop`.concept.customer'), undefined);
    const text = await read(part, OF_SHOP);
    expect(text).toMatch(/secret_note/);
    expect(text).not.toMatch(/payroll|wages/);
    expect((await list(part)).skills.map((k) => k.uri)).toEqual([OF_SHOP, 'skill://model-a-database/SKILL.md', 'skill://check-an-answer/SKILL.md']);
    const none = await connect(await s.user('none'), undefined);
    expect((await list(none)).skills.map((k) => k.frontmatter.name)).toEqual(['model-a-database', 'check-an-answer']);
    const refusal = async (client: Client, uri: string) => [
      await get(client, uri).catch((e: { code: number; message: string }) => [e.code, e.message]),
      await read(client, uri).catch((e: { code: number; message: string }) => [e.code, e.message]),
    ];
    // hidden and missing ontologies are answered alike
    const missing = await refusal(none, 'skill://nowhere/query-this-graph/SKILL.md');
    expect(missing[0]).toEqual([-32602, expect.stringContaining('There is no such skill')]);
    expect(await refusal(none, OF_SHOP)).toEqual(missing);
    expect(await refusal(part, 'skill://other/query-this-graph/SKILL.md')).toEqual(missing);
    for (const uri of ['skill://model-a-database/OTHER.md', 'skill://%zz/query-this-graph/SKILL.md', 'https://example.com/']) {
      const [got] = await refusal(none, uri);
      expect(got, uri).toEqual([-32602, expect.stringContaining('There is no such skill')]);
    }
  });

  it('have an example of a model that the service accepts', async () => {
    const script = /```sql\n([\s\S]*?)```/.exec(modelADatabase('svc').text)?.[1] ?? '';
    expect(await s.rows(script)).toEqual([
      { name: 'Ben', revenue: 12 },
      { name: 'Ann', revenue: 1 },
    ]);
    expect(checkAnAnswer('timbr').text).toContain('dtimbr.concept');
  });
});
