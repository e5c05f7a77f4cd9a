/**
 * OAuth for the MCP server with logins at an OpenID Connect provider (MCP_OAUTH_ISSUER): the built Worker, a real provider, and a
 * client of the SDK. Policies read the provider's claims by svc_claim(), as with a JWT.
 */
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, SERVICE_BINDINGS, serviceSettings, startScripts } from '../../bench/lib/stack.ts';
import { freePort } from '../../dev/scratch-postgres.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { builtService } from './support/built.ts';
import { consentAs, type LogIn } from './support/consent.ts';
import { CLIENT, type IdentityProvider, SECRET, startIdentityProvider } from './support/identity-provider.ts';
import { Memory } from './support/memory-client.ts';
import { ask } from './support/worker.ts';

const LARGE = Array.from({ length: 300 }, (_, i) => `group ${i} ${'x'.repeat(60)}`);
const claims: Record<string, Record<string, unknown>> = {
  ann: { email: 'ann@corp.example', email_verified: true, dept: 'sales', level: 7, groups: ['a', 'b'], address: { town: 'Rome' } },
  ben: { email: 'ben@corp.example', dept: 'legal' },
  cai: { email: 'cai@corp.example' },
  dot: { email: 'dot@corp.example', dept: 'sales', groups: LARGE },
  eve: { email: 'eve@corp.example', dept: 'sales', groups: LARGE.slice(0, 100) },
};

let database: LocalPostgres;
let provider: IdentityProvider;
let running: Running;
let base: string;
let admin: string;

async function query(sql: string, ontology = ''): Promise<Record<string, unknown>[]> {
  const body = JSON.stringify({ ontology_name: ontology, query: sql });
  const { status, text } = await ask(base, '/svc/api/query', { method: 'POST', headers: { 'x-api-key': admin, 'content-type': 'application/json' }, body });
  expect(status, text).toBe(200);
  return JSON.parse(text).data;
}

beforeAll(async () => {
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  [database, provider] = await Promise.all([borrowPostgres(), startIdentityProvider(claims, [`${base}/svc/login/callback`])]);
  await database.exec('CREATE TABLE t_deal (no int PRIMARY KEY, dept text)');
  await database.exec("INSERT INTO t_deal VALUES (1, 'sales'), (2, 'legal'), (3, NULL)");
  const [script, { adminToken, bindings }] = await Promise.all([builtService(), serviceSettings({ local: database, name: '' })]);
  const own = { MCP_OAUTH_ISSUER: provider.issuer, MCP_OAUTH_CLIENT_ID: CLIENT, MCP_OAUTH_CLIENT_SECRET: SECRET };
  const more = { ...SERVICE_BINDINGS, unsafeDirectSockets: [{ host: '127.0.0.1', port }] };
  running = await startScripts({ service: { script, bindings: { ...bindings, ...own }, more } });
  admin = adminToken;
  await query(`CREATE ONTOLOGY shop; CREATE CONCEPT deal (no integer, dept string, PRIMARY KEY (no));
    CREATE MAPPING m INTO deal AS SELECT no, dept FROM public.t_deal;
    CREATE ROLE clerk; GRANT QUERY ON ALL ontology.shop TO ROLE clerk;
    CREATE POLICY own_dept ON CONCEPT deal TO ROLE clerk USING (dept = svc_claim('dept'))`);
  for (const [name, { email }] of Object.entries(claims)) await query(`CREATE USER ${name} OPTIONS (email='${email}'); GRANT ROLE clerk TO USER ${name}`);
});
afterAll(async () => {
  await running?.stop();
  await provider?.close();
  await database?.close();
});

/** By the pages of the provider. */
const as =
  (account: string): LogIn =>
  async (browser, loginPage) => {
    const sent = await browser.send(loginPage);
    const { pathname, search } = await provider.visit(sent.location ?? '', account, `${base}/svc/login/callback`);
    const back = await browser.send(pathname + search);
    if (back.status !== 303 || back.location === null) throw new Error(`${back.status}: ${back.text}`);
    return back.location;
  };

const transport = (authProvider: Memory) => new StreamableHTTPClientTransport(new URL(`${base}/svc/api/mcp?ontology=shop`), { authProvider });

/** A client that has signed in. */
async function signedIn(account: string): Promise<Memory> {
  const memory = new Memory();
  const first = transport(memory);
  await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  await first.finishAuth((await consentAs(memory.kept.asked?.href ?? '', as(account))).searchParams);
  return memory;
}

async function rows(memory: Memory, sql: string): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport(memory));
  const { structuredContent, isError, content } = await client.callTool({ name: 'execute_sql', arguments: { query: sql } });
  expect(isError ?? false, JSON.stringify(content)).toBe(false);
  await client.close();
  return (structuredContent as { rows: unknown }).rows;
}

const DEALS = 'SELECT no FROM svc.deal ORDER BY no';
const CLAIMS = "SELECT svc_claim('dept') AS dept, svc_claim('level') AS level, svc_claim('groups') AS groups, svc_claim('address') AS address";

describe('a user who has logged in at the provider', () => {
  it('has its claims, in the form of those of a JWT', async () => {
    const ann = await signedIn('ann');
    expect(await rows(ann, DEALS)).toEqual([{ no: 1 }]);
    expect(await rows(ann, CLAIMS)).toEqual([{ dept: 'sales', level: '7', groups: '["a","b"]', address: null }]);
    expect(await rows(ann, "SELECT svc_username() AS me, svc_claim('iss') AS iss, svc_claim('exp') AS ends")).toEqual([
      { me: 'ann', iss: provider.issuer, ends: null },
    ]);
    expect(await rows(await signedIn('ben'), DEALS)).toEqual([{ no: 2 }]);
    const cai = await signedIn('cai');
    expect([await rows(cai, DEALS), await rows(cai, CLAIMS)]).toEqual([[], [{ dept: null, level: null, groups: null, address: null }]]);
  });

  it('keeps the claims of its login through refreshes, until it logs in again', async () => {
    const before = await signedIn('ben');
    const { ben } = claims;
    try {
      claims.ben = { ...ben, dept: 'sales' };
      const { tokens } = before.kept;
      before.kept.tokens = { ...tokens, access_token: `${tokens.access_token.slice(0, -4)}none` };
      expect(await rows(before, DEALS)).toEqual([{ no: 2 }]);
      expect(before.kept.tokens.refresh_token, 'it was refreshed').not.toBe(tokens.refresh_token);
      expect(await rows(await signedIn('ben'), DEALS)).toEqual([{ no: 1 }]);
    } finally {
      claims.ben = ben as Record<string, unknown>;
    }
  });

  it('may have many claims, but cannot log in with too many', async () => {
    expect(await rows(await signedIn('eve'), DEALS)).toEqual([{ no: 1 }]);
    await expect(signedIn('dot')).rejects.toThrow(/^401: [\s\S]*more claims than can be stored/);
  });

  it('has no claims with an API token', async () => {
    const [made] = await query('CREATE TOKEN FOR ann');
    const body = JSON.stringify({ ontology_name: 'shop', query: DEALS });
    const headers = { 'x-api-key': made?.token as string, 'content-type': 'application/json' };
    expect(JSON.parse((await ask(base, '/svc/api/query', { method: 'POST', headers, body })).text).data).toEqual([]);
  });
});
