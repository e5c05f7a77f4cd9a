/**
 * The MCP server, tested by the runner of the Model Context Protocol's conformance tests: the built service, and
 * a build of the same MCP layer with the tools, resources and prompts of the runner's scenarios.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildService } from '../../bench/lib/build.ts';
import { type Running, SERVICE_BINDINGS, serviceSettings, startScripts } from '../../bench/lib/stack.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { builtService } from './support/built.ts';
import { addKey, type KeyProxy, type Outcome, REVISIONS, runScenarios } from './support/mcp-conformance/runner.ts';
import { ask } from './support/worker.ts';

const SIZES = sizesOf('integration/mcp-conformance');
const FIXTURES = 'test/integration/support/mcp-conformance/index.ts';
const baselineOf = (target: string): string => fileURLToPath(new URL(`../mcp-conformance.${target}.yml`, import.meta.url));

/** The number of scenarios and of passed checks of each revision, as in docs/mcp.md. */
const FIGURES = {
  service: { '2025-11-25': [33, 37], '2026-07-28': [40, 95] },
  fixtures: { '2025-11-25': [33, 61], '2026-07-28': [40, 150] },
} as const;
type Target = keyof typeof FIGURES;
const TARGETS = Object.keys(FIGURES) as Target[];

let database: LocalPostgres;
let workers: Running;
const proxies: Partial<Record<Target, KeyProxy>> = {};
const urlOf = (target: Target): string => `${proxies[target]?.origin}/svc/api/mcp`;

beforeAll(async () => {
  database = await borrowPostgres();
  const { adminToken, bindings } = await serviceSettings({ local: database, name: '' });
  const service = { script: await builtService(), bindings, more: SERVICE_BINDINGS };
  workers = await startScripts({ service, fixtures: { ...service, script: await buildService('mcp-conformance-fixtures', FIXTURES) } });
  for (const target of TARGETS) proxies[target] = await addKey(workers.urls[target] as string, adminToken);
  const body = JSON.stringify({ query: 'CREATE ONTOLOGY park; CREATE CONCEPT animal (no bigint, PRIMARY KEY (no))' });
  const made = await ask(proxies.service?.origin as string, '/svc/api/query', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(made.status, made.text).toBe(200);
});
afterAll(async () => {
  for (const target of TARGETS) await proxies[target]?.close();
  await workers?.stop();
  await database?.close();
});

describe.each(oneIn(SIZES.everyTarget, TARGETS, 0))('the scenarios of the conformance runner, against the %s', (target) => {
  const baseline = baselineOf(target);
  const outcomes: Outcome[] = [];

  it.each(REVISIONS)('of %s fail exactly as in the baseline', async (revision) => {
    const outcome = await runScenarios(urlOf(target), revision, baseline);
    outcomes.push(outcome);
    const { code, scenarios, passed, text } = outcome;
    expect([code, scenarios, passed], text).toEqual([0, ...FIGURES[target][revision]]);
  });

  it('have a baseline without unused entries, or entries without a reason', () => {
    const entries = readFileSync(baseline, 'utf8')
      .split('\n')
      .filter((line) => line.trimStart().startsWith('-'));
    const reasoned = entries.flatMap((line) => /^ {2}- (\S+:\S+) # \S.*$/.exec(line)?.[1] ?? []);
    expect(reasoned).toHaveLength(entries.length);
    expect(outcomes).toHaveLength(REVISIONS.length);
    expect(new Set(outcomes.flatMap(({ expected }) => expected))).toEqual(new Set(reasoned));
  });
});

describe('notifications of a call', () => {
  const NAME = 'test_tool_with_progress';
  const transports = {
    'Streamable HTTP': () => new StreamableHTTPClientTransport(new URL(urlOf('fixtures'))),
    SSE: () => new SSEClientTransport(new URL(`${urlOf('fixtures')}/sse`)),
  };
  const called = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: NAME, _meta: { progressToken: 'p' } } };
  const post = async (body: unknown, headers: Record<string, string>) => {
    const answer = await ask(proxies.fixtures?.origin as string, '/svc/api/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { ...answer, type: answer.headers['content-type'] };
  };
  const RESULT = { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'done' }] } };

  it.each(Object.entries(transports))('precede its answer over %s', async (_name, transport) => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport());
    const reported: number[] = [];
    const { content } = await client.callTool({ name: NAME }, { onprogress: ({ progress }) => reported.push(progress) });
    expect([reported, content]).toEqual([[0, 50, 100], RESULT.result.content]);
    await client.close();
  });

  it('make the answer a stream of events', async () => {
    const { status, type, text } = await post(called, { accept: 'application/json, text/event-stream' });
    expect([status, type]).toEqual([200, 'text/event-stream']);
    const messages = [...text.matchAll(/^data: (.+)$/gm)].map(([, message]) => JSON.parse(message as string));
    expect(messages.map((m) => m.method ?? m.id)).toEqual([...Array(3).fill('notifications/progress'), 7]);
    expect(messages.at(-1)).toEqual(RESULT);
  });

  it.each(['application/json', '*/*', 'application/json, text/event-streams'])('are omitted for a client that accepts %s', async (accept) => {
    const { status, type, text } = await post(called, { accept });
    expect([status, type, JSON.parse(text)]).toEqual([200, 'application/json', RESULT]);
  });

  it('are omitted from the answers to a batch', async () => {
    const { type, text } = await post([called, { ...called, id: 8 }], { accept: 'application/json, text/event-stream' });
    expect([type, JSON.parse(text)]).toEqual([
      'application/json',
      expect.toSatisfy((all) => JSON.stringify(all.map((m: typeof RESULT) => m.id).sort()) === '[7,8]'),
    ]);
  });
});
