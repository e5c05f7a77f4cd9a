/** Calls of the service's MCP server, which answers questions in words (docs/mcp.md). */
import { parseExact } from '../api/exact.ts';
import { Failure, send } from '../api/http.ts';
import { texts } from '../texts.ts';

interface Message {
  readonly method?: string;
  readonly params?: { readonly message?: string };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Options {
  readonly signal?: AbortSignal;
  /** Called for each step that the service reports before its answer. */
  onStep?(step: string): void;
}

/** Sends a JSON-RPC request and returns its result. @throws as `send`; Failure for an error of the protocol */
export async function rpc<T>(method: string, params: Readonly<Record<string, unknown>>, { signal, onStep }: Options = {}): Promise<T> {
  const progress = onStep === undefined ? {} : { _meta: { progressToken: 1 } };
  const response = await send('/mcp', {
    method: 'POST',
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, ...progress } },
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    signal,
  });
  for await (const message of messagesOf(response)) {
    if (message.method === 'notifications/progress') onStep?.(message.params?.message ?? '');
    if (message.error !== undefined) throw new Failure(response.status, 'question_failed', message.error.message);
    if (message.result !== undefined) return message.result as T;
  }
  throw new Failure(0, 'connection_failed', texts.failure.ended, texts.retry);
}

/** The messages of an answer: one as JSON, or several as events. */
async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield parseExact(await response.text()) as Message;
    return;
  }
  let rest = '';
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    for (const event of events) {
      const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
      if (lines.length > 0) yield parseExact(lines.map((line) => line.slice(5)).join('\n')) as Message;
    }
  }
}

interface ToolResult<T> {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: T;
  readonly isError?: boolean;
}

/** Calls a tool. @throws as `rpc`; Failure with the message and the hint of the tool's error */
export async function callTool<T>(name: string, args: Readonly<Record<string, unknown>>, options: Options = {}): Promise<T> {
  const result = await rpc<ToolResult<T>>('tools/call', { name, arguments: args }, options);
  if (result.isError === true || result.structuredContent === undefined) {
    const [message = '', hint] = (result.content[0]?.text ?? '').split('\nHint: ');
    throw new Failure(200, 'question_failed', message, hint ?? null);
  }
  return result.structuredContent;
}
