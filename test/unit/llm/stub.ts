/** A simulated provider on loopback with scripted answers, and the settings for it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { type Config, readConfig } from '../../../src/config.ts';
import type { Deadline, Turn } from '../../../src/llm/types.ts';

export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  readonly raw: string;
  readonly at: number;
}

export interface Stub {
  readonly url: string;
  readonly heard: Heard[];
  /** Sets the answers; clears the recorded requests. */
  play(reply: (response: ServerResponse, heard: Heard, turn: number) => void): void;
  close(): Promise<void>;
}

/** Listens on loopback. */
export async function startStub(): Promise<Stub> {
  let reply: (response: ServerResponse, heard: Heard, turn: number) => void = (response) => response.writeHead(500).end();
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const raw = Buffer.concat(parts).toString('utf8');
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: JSON.parse(raw || '{}'), raw, at: Date.now() };
      heard.push(one);
      reply(response, one, heard.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    play(next) {
      reply = next;
      heard.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const json = (response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
};

/** A turn of a Chat Completions server with `content`. */
export const chat = (response: ServerResponse, content: string | null, finish_reason = 'stop'): void =>
  json(response, {
    id: 'c1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, finish_reason, message: { role: 'assistant', content } }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  });

/** The LLM_ settings as the environment has them. */
export const llm = (env: Readonly<Record<string, string>>): Config['llm'] => readConfig(env).llm;

export const SCHEMA = z.object({
  sql: z.string().min(1).max(500).describe('One SELECT'),
  unsure: z.boolean().optional(),
  tables: z.array(z.enum(['city', 'country'])),
  why: z.string().nullable(),
});
export const VALUE = { sql: 'SELECT 1', unsure: true, tables: ['city'], why: null } as const;
export const TURN: Turn<z.infer<typeof SCHEMA>> = { stage: 'sql', system: 'You write SQL.', user: 'How many cities?', schema: SCHEMA };

/** The schema of TURN as strict providers require it. */
export const STRICT = {
  type: 'object',
  properties: {
    sql: { type: 'string', description: 'One SELECT' },
    unsure: { type: ['boolean', 'null'] },
    tables: { type: 'array', items: { type: 'string', enum: ['city', 'country'] } },
    why: { type: ['string', 'null'] },
  },
  required: ['sql', 'unsure', 'tables', 'why'],
  additionalProperties: false,
};

/** A deadline in `ms`, and a function that ends it. */
export function deadline(ms = 20_000): Deadline & { readonly end: () => void } {
  const stop = new AbortController();
  const until = Date.now() + ms;
  return { signal: stop.signal, left: () => until - Date.now(), end: () => stop.abort() };
}
