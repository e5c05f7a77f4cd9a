/** A simulated language model with fixed answers: an OpenAI-compatible server with the SQL for each question. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../../src/cli/failure.ts';

/** The answer to a question: SQL, and a concept (the first candidate otherwise); or that there is no answer; or an HTTP status for a failure. */
export type Reply = { readonly sql: string; readonly concept?: string | null } | { readonly refusal: string } | { readonly status: number };

export interface ReplayModel {
  /** LLM_BASE_URL */
  readonly url: string;
  /** Sets the answers; replaces the previous ones. */
  play(replies: ReadonlyMap<string, Reply>): void;
  close(): Promise<void>;
}

/** Listens on loopback; `port` 0: any free port. @throws Failure if the port is in use */
export async function startReplay(port = 0): Promise<ReplayModel> {
  let replies: readonly (readonly [string, Reply])[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => answer(text, response, replies));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Failure(`port ${port} cannot be used: ${error.code}`)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    play: (given) => {
      // the longest first: one question may be a prefix of another
      replies = [...given].sort(([a], [b]) => b.length - a.length);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function answer(text: string, response: ServerResponse, replies: readonly (readonly [string, Reply])[]): ServerResponse {
  const send = (status: number, body: object): ServerResponse => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const reply = replies.find(([question]) => text.includes(JSON.stringify(question).slice(1, -1)))?.[1];
  if (reply === undefined) return send(400, { error: { message: 'nothing is known of this question' } });
  if ('status' in reply) return send(reply.status, { error: { message: 'broken' } });
  const content = JSON.stringify(said(JSON.parse(text) as Request, reply));
  return send(200, {
    id: 'by-heart',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'by-heart',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    // about four characters per token, as a rule of thumb
    usage: { prompt_tokens: text.length >> 2, completion_tokens: content.length >> 2, total_tokens: (text.length + content.length) >> 2 },
  });
}

interface Request {
  readonly response_format?: {
    readonly json_schema?: { readonly schema?: { readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>> } };
  };
}

/** The member `concept`, `sql` or `answer` of the requested schema identifies the turn (docs/design/mcp.md#questions). */
function said({ response_format: format }: Request, reply: Exclude<Reply, { readonly status: number }>): object {
  const members = format?.json_schema?.schema?.properties ?? {};
  const concepts = members.concept?.enum;
  if (concepts !== undefined) {
    const wanted = 'concept' in reply ? reply.concept : undefined;
    return { reason: 'By heart.', concept: concepts.find((c) => c === wanted) ?? concepts[0] };
  }
  if ('answer' in members) return { answer: 'As the rows say.' };
  return 'sql' in reply ? { reason: 'By heart.', sql: reply.sql, refusal: null } : { reason: 'By heart.', sql: '', refusal: reply.refusal };
}
