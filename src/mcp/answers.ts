/** Answers of the SDK's handler in the form that clients get: plain JSON wherever a message is all that there is to send. */
import type { Message } from './messages.ts';
import type { Spliced } from './spliced.ts';

type Asked = Message | readonly Message[];

export const isEventStream = ({ headers }: Response): boolean => headers.get('content-type')?.startsWith('text/event-stream') === true;

/** Of the newer protocol: its stream goes on until the client leaves. */
export const isSubscription = (asked: Asked): boolean => 'method' in asked && asked.method === 'subscriptions/listen';

/** The lines of a stream, ended ones, as they come. */
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

/** The messages of an event stream as they come, each as its JSON text; comments are left out. */
export async function* messagesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  for await (const lines of linesOf(stream)) {
    for (const line of lines) if (line.startsWith(DATA) && line.length > DATA.length) yield line.slice(DATA.length);
  }
}

/** Results may be large: they are known by how the SDK writes them, and only others are parsed. */
const isAnswer = (message: string): boolean => message.startsWith('{"result":') || !('method' in JSON.parse(message));

/**
 * An event stream that ends by itself, as the older protocol's transport makes it of each answer, as plain JSON: clients
 * without `text/event-stream` take it, and the others too. It stays a stream where notifications come before the answer and
 * the client takes streams; for who does not they are left out. A subscription goes on as it is. Rows come in the place of
 * their marks.
 */
export async function plain(response: Response, asked: Asked, takesStreams: boolean, spliced: Spliced): Promise<Response> {
  if (response.body === null || isSubscription(asked)) return response;
  if (!isEventStream(response)) return spliced.isUsed ? withBody(response, spliced.put(await response.text())) : response;
  const reader: Reader = response.body.getReader();
  const read: Uint8Array[] = [];
  const answers: string[] = [];
  for await (const message of messagesOf(remembering(reader, read))) {
    if (isAnswer(message)) answers.push(spliced.put(message));
    else if (takesStreams && !Array.isArray(asked)) return new Response(goingOn(reader, read, spliced), response);
  }
  return withBody(response, Array.isArray(asked) ? `[${answers.join(',')}]` : (answers.at(-1) ?? ''));
}

/** The same answer with a body of JSON. */
function withBody({ status, headers: sent }: Response, body: string): Response {
  const headers = new Headers(sent);
  for (const name of ['connection', 'content-length', 'cache-control']) headers.delete(name);
  headers.set('content-type', 'application/json');
  return new Response(body, { status, headers });
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** What a reader gives, which is kept in `read` as well. */
async function* remembering(reader: Reader, read: Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    read.push(next.value);
    yield next.value;
  }
}

/** What a reader gives after what has been read already. */
async function* resumed(reader: Reader, read: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* read;
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

/** The stream of a reader of which a beginning has been read already. */
function goingOn(reader: Reader, read: readonly Uint8Array[], spliced: Spliced): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const parts = linesOf(resumed(reader, read));
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
