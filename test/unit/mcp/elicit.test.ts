/** Questions with several readings, for clients that can ask their users and for others. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Session } from '../../../src/mcp/call.ts';
import { Gate } from '../../../src/mcp/gate.ts';
import { buildServer } from '../../../src/mcp/server.ts';
import { Spliced } from '../../../src/mcp/spliced.ts';
import { type Tool, tool } from '../../../src/mcp/tools/tool.ts';

const READINGS = ['By pickup', 'By return'].map((reading, i) => ({ reading, sql: `SELECT ${i}` }));
const calls: unknown[] = [];
const asks: Tool = tool({
  name: 'ask',
  title: 'Ask',
  description: 'Asks',
  asksModel: true,
  input: z.object({ prompt: z.string(), reading: z.string().optional() }),
  output: z.object({ status: z.string(), readings: z.array(z.object({ reading: z.string(), sql: z.string() })).optional(), answer: z.string() }),
  run: async (_call, args) => {
    calls.push(args);
    return args.reading === undefined ? { status: 'clarify', readings: READINGS, answer: '' } : { status: 'answered', answer: args.reading };
  },
});

interface Reply {
  readonly action: 'accept' | 'decline';
  readonly content?: Record<string, string>;
}

/** @param forged what a hostile client sends as its answers, instead of those of its user */
async function ask(pin: string, capabilities: object, reply?: Reply, forged?: unknown) {
  calls.length = 0;
  const session = {
    runtime: { config: { product: 'svc' }, now: Date.now, log: () => undefined, llm: {} },
    caller: { principal: { name: 'ann' } },
    spliced: new Spliced(),
    body: [],
  } as unknown as Session;
  const offer = { options: { capabilities: { tools: {} } }, tools: [asks], add: () => undefined };
  const handler = createMcpHandler(() => buildServer(session, { offer, version: '1', gate: new Gate(1), slowGate: new Gate(1), audit: () => undefined }));
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: { pin } } } as never);
  const asked: unknown[] = [];
  if (reply !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params);
      return reply as never;
    });
  }
  const fetch = (input: string | URL, init?: RequestInit): Promise<Response> => {
    const body = forged === undefined || typeof init?.body !== 'string' ? undefined : JSON.parse(init.body);
    if (body?.params?.inputResponses === undefined) return handler.fetch(new Request(input, init));
    return handler.fetch(new Request(input, { ...init, body: JSON.stringify({ ...body, params: { ...body.params, inputResponses: forged } }) }));
  };
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch: fetch as never }));
  const { structuredContent } = await client.callTool({ name: 'ask', arguments: { prompt: 'How many?' } });
  return { answer: structuredContent, asked };
}

describe('a question with several readings', () => {
  it('is put to the user of a client that can ask, whose choice is answered', async () => {
    const { answer, asked } = await ask('2026-07-28', { elicitation: { form: {} } }, { action: 'accept', content: { reading: 'By return' } });
    expect(answer).toEqual({ status: 'answered', answer: 'By return' });
    expect(asked).toMatchObject([{ requestedSchema: { properties: { reading: { enum: ['By pickup', 'By return'] } } } }]);
    expect(calls).toEqual([{ prompt: 'How many?' }, { prompt: 'How many?', reading: 'By return' }]);
  });

  it('is returned if the user declines, or if the client cannot ask', async () => {
    const unclear = { status: 'clarify', readings: READINGS, answer: '' };
    const declined = await ask('2026-07-28', { elicitation: {} }, { action: 'decline' });
    expect([declined.answer, declined.asked.length]).toEqual([unclear, 1]);
    expect((await ask('2026-07-28', {})).answer).toEqual(unclear);
  });

  const accepted = (content: unknown): unknown => ({ reading: { action: 'accept', content } });
  it.each([
    accepted({ reading: 5 }),
    accepted({ reading: ['By return'] }),
    accepted({ reading: { toString: 'By return' } }),
    accepted({ reading: '' }),
    accepted({ reading: 'x'.repeat(2_000) }),
    accepted({ other: 'By return' }),
    accepted(undefined),
    { reading: { action: 'cancel' } },
    { other: { action: 'accept', content: { reading: 'By return' } } },
  ])('reaches no tool with an answer of another form, or to another request: %j', async (forged) => {
    const user = { action: 'accept', content: { reading: 'By return' } } as const;
    await ask('2026-07-28', { elicitation: {} }, user, forged).catch(() => undefined);
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.every((args) => JSON.stringify(args) === '{"prompt":"How many?"}')).toBe(true);
  });
});
