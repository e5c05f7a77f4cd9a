/** Converts answers of the SDK's handler for clients: to plain JSON wherever the answer is only a message. */
import type { Message } from './messages.ts';
import type { Spliced } from './spliced.ts';

type RequestBody = Message | readonly Message[];

export const isEventStream = ({ headers }: Response): boolean => headers.get('content-type')?.startsWith('text/event-stream') === true;

/** A subscription of the newer protocol. Its stream continues until the client leaves. */
export const isSubscription = (body: RequestBody): boolean => 'method' in body && body.method === 'subscriptions/listen';

/** The complete lines of a stream, as they arrive. */
async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[], void> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const part of stream) {
    const lines = (begun + decoder.decode(part, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    yield lines;
  }
}

const DATA = 'data: ';

/** The messages of an event stream as they arrive, each as its JSON text, without comments. */
export async function* messagesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  for await (const lines of linesOf(stream)) {
    for (const line of lines) if (line.startsWith(DATA) && line.length > DATA.length) yield line.slice(DATA.length);
  }
}

/** Whether a message is an answer. Results may be large, so they are recognised by their first characters; only other messages are parsed. */
const isAnswer = (message: string): boolean => message.startsWith('{"result":') || !('method' in JSON.parse(message));

/**
 * Converts an event stream that ends by itself to plain JSON. The older protocol's transport makes such a stream of each answer,
 * and clients without `text/event-stream` could not read it. The answer remains a stream if notifications precede it and the
 * client accepts streams; for other clients the notifications are omitted. A subscription stays unchanged. Rows replace their
 * placeholders.
 */
export async function plain(response: Response, body: RequestBody, takesStreams: boolean, spliced: Spliced): Promise<Response> {
  if (response.body === null || isSubscription(body)) return response;
  if (!isEventStream(response)) return spliced.isUsed ? withBody(response, spliced.put(await response.text())) : response;
  const reader: Reader = response.body.getReader();
  const read: Uint8Array[] = [];
  const answers: string[] = [];
  for await (const message of messagesOf(recording(reader, read))) {
    if (isAnswer(message)) answers.push(spliced.put(message));
    else if (takesStreams && !Array.isArray(body)) return new Response(continued(reader, read, spliced), response);
  }
  return withBody(response, Array.isArray(body) ? `[${answers.join(',')}]` : (answers.at(-1) ?? ''));
}

/** The same response with a JSON body. */
function withBody({ status, headers: sent }: Response, body: string): Response {
  const headers = new Headers(sent);
  for (const name of ['connection', 'content-length', 'cache-control']) headers.delete(name);
  headers.set('content-type', 'application/json');
  return new Response(body, { status, headers });
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Yields the chunks of a reader, and also records them in `read`. */
async function* recording(reader: Reader, read: Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    read.push(next.value);
    yield next.value;
  }
}

/** Yields the chunks that were already read, then the rest. */
async function* replayed(reader: Reader, read: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* read;
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

/** A stream of all chunks of a reader that was already read in part. */
function continued(reader: Reader, read: readonly Uint8Array[], spliced: Spliced): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const parts = linesOf(replayed(reader, read));
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (let next = await parts.next(); ; next = await parts.next()) {
        if (next.done) return controller.close();
        if (next.value.length === 0) continue;
        return controller.enqueue(encoder.encode(next.value.map((line) => `${line.startsWith(DATA) ? spliced.put(line) : line}\n`).join('')));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
