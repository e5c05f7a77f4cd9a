/**
 * MCP clients against the built Worker: both generations of the SDK over both transports, each with an API token and with the whole OAuth flow.
 * mcp-clients.deep.test.ts has the Inspector, mcp-remote and the commands of docs/clients.md.
 */
import * as v2 from '@modelcontextprotocol/client';
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as StreamableV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { consent } from './support/consent.ts';
import { Memory } from './support/memory-client.ts';
import { PARK, PARK_TABLES, type ParkClient, works } from './support/park.ts';
import { ask, type BuiltWorkers, startBuiltWorkers } from './support/worker.ts';

const PASSWORD = 'Correct-horse-9!';
let database: LocalPostgres;
let workers: BuiltWorkers<'service'>;
let base: string;
/** The API token of a user who may query one ontology. */
let key: string;
beforeAll(async () => {
  database = await borrowPostgres();
  for (const statement of PARK_TABLES) await database.exec(statement);
  workers = await startBuiltWorkers(database, { service: {} });
  base = workers.urls.service;
  const query = async (sql: string): Promise<Record<string, string>[]> => {
    const headers = { 'x-api-key': workers.token, 'content-type': 'application/json' };
    const { status, text } = await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query: sql }) });
    expect(status, text).toBe(200);
    return JSON.parse(text).data;
  };
  await query(PARK);
  const [made] = await query(`CREATE USER olive PASSWORD '${PASSWORD}'; GRANT QUERY ON ALL ontology.park TO USER olive; CREATE TOKEN FOR olive`);
  key = made?.token as string;
});
afterAll(async () => {
  await workers?.stop();
  await database?.close();
});

interface Way {
  readonly headers?: Record<string, string>;
  readonly authProvider?: Memory;
  readonly fetch: typeof fetch;
}

/** A transport, and the client that is connected by it. */
interface Made {
  readonly connect: () => Promise<ParkClient>;
  readonly finishAuth: (back: URLSearchParams) => Promise<void>;
}

/** The parts of the clients that the extension for skills needs. */
interface SkillClient {
  request<T>(request: { readonly method: string; readonly params: object }, result: z.ZodType<T>): Promise<T>;
  readResource(params: { readonly uri: string }): Promise<{ readonly contents: readonly { readonly text?: string }[] }>;
}
const SKILLS = z.looseObject({ skills: z.array(z.looseObject({ uri: z.string() })) });

const NAME = { name: 'test', version: '1' };
const given = ({ headers, authProvider, fetch }: Way) => ({
  fetch,
  ...(authProvider === undefined ? {} : { authProvider }),
  ...(headers === undefined ? {} : { requestInit: { headers } }),
});

function viaV1(transport: StreamableV1 | SseV1): Made {
  const client = new ClientV1(NAME);
  return {
    // its declarations do not support exactOptionalPropertyTypes
    connect: async () => client.connect(transport as never).then(() => client as ParkClient),
    finishAuth: (back) => transport.finishAuth(back.get('code') ?? ''),
  };
}

function viaV2(transport: v2.StreamableHTTPClientTransport | v2.SSEClientTransport, pin?: string): Made {
  const client = new v2.Client(NAME, pin === undefined ? {} : { versionNegotiation: { mode: { pin } } });
  return {
    connect: async () => client.connect(transport).then(() => client as ParkClient),
    finishAuth: (back) => transport.finishAuth(back),
  };
}

const streamable = (): URL => new URL(`${base}/svc/api/mcp`);
const sse = (): URL => new URL(`${base}/svc/api/mcp/sse`);
const CLIENTS: readonly (readonly [string, (way: Way) => Made, new () => Error])[] = [
  ['SDK 1, Streamable HTTP', (way) => viaV1(new StreamableV1(streamable(), given(way))), UnauthorizedV1],
  ['SDK 1, SSE', (way) => viaV1(new SseV1(sse(), given(way))), UnauthorizedV1],
  ['SDK 2, Streamable HTTP', (way) => viaV2(new v2.StreamableHTTPClientTransport(streamable(), given(way))), v2.UnauthorizedError],
  ['SDK 2, 2026-07-28', (way) => viaV2(new v2.StreamableHTTPClientTransport(streamable(), given(way)), '2026-07-28'), v2.UnauthorizedError],
  ['SDK 2, SSE', (way) => viaV2(new v2.SSEClientTransport(sse(), given(way))), v2.UnauthorizedError],
];

describe.each(CLIENTS)('%s', (_, make, Unauthorized) => {
  it('initializes, lists, calls and reads skills with an API token', async () => {
    const client = await make({ headers: { 'x-api-key': key }, fetch }).connect();
    await works(client);
    const asked = client as ParkClient & SkillClient;
    const { skills } = await asked.request({ method: 'skills/list', params: {} }, SKILLS);
    expect(skills.map((skill) => skill.uri)).toEqual([
      'skill://park/query-this-graph/SKILL.md',
      'skill://model-a-database/SKILL.md',
      'skill://check-an-answer/SKILL.md',
    ]);
    const uri = skills[0]?.uri ?? '';
    expect(await asked.request({ method: 'skills/get', params: { uri } }, z.looseObject({}))).toMatchObject({ skill: { uri } });
    const { contents } = await asked.readResource({ uri });
    expect(contents[0]?.text).toMatch(/^---\nname: query-this-graph\n[\s\S]*animal/);
    await client.close();
  });

  it('gets from a 401 to a registration, a login, consent, tokens, a call and a refresh', async () => {
    const authProvider = new Memory();
    let steps: string[] = [];
    const seen: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const { pathname } = new URL(String(input));
      steps.push(`${init?.method ?? 'GET'} ${pathname} ${response.status}`);
      return response;
    };
    const first = make({ authProvider, fetch: seen });
    await expect(first.connect()).rejects.toBeInstanceOf(Unauthorized);
    expect(steps).toEqual([
      expect.stringMatching(/^(POST \/svc\/api\/mcp|GET \/svc\/api\/mcp\/sse) 401$/),
      'GET /.well-known/oauth-protected-resource/svc/api/mcp 200',
      'GET /.well-known/oauth-authorization-server 200',
      'POST /svc/oauth/register 201',
    ]);
    const asked = authProvider.kept.asked as URL;
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({ scope: 'read', resource: `${base}/svc/api/mcp`, code_challenge_method: 'S256' });

    const back = await consent(asked.href, 'olive', PASSWORD);
    expect(back.origin + back.pathname).toBe(authProvider.redirectUrl);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'state-of-the-client', iss: base });
    await first.finishAuth(back.searchParams);
    const client = await make({ authProvider, fetch: seen }).connect();
    await works(client);
    await client.close();

    // an expired access token
    const { tokens } = authProvider.kept;
    authProvider.kept.tokens = { ...tokens, access_token: `${tokens.access_token.slice(0, -4)}none` };
    steps = [];
    const later = await make({ authProvider, fetch: seen }).connect();
    await works(later);
    expect(steps.filter((step) => step.includes('/oauth/'))).toEqual(['POST /svc/oauth/token 200']);
    expect(authProvider.kept.tokens.refresh_token).not.toBe(tokens.refresh_token);
    await later.close();
  });
});
