/** Answers of the SDK's handler in the form that clients get: plain JSON wherever a message is all that there is to send. */
import type { Message } from './messages.ts';

type Asked = Message | readonly Message[];

export const isEventStream = ({ headers }: Response): boolean => headers.get('content-type')?.startsWith('text/event-stream') === true;

/** Of the newer protocol: its stream goes on until the client leaves. */
export const isSubscription = (asked: Asked): boolean => 'method' in asked && asked.method === 'subscriptions/listen';

/** The messages of an event stream as they come, each as its JSON text; comments are left out. */
export async function* messagesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const part of stream) {
    const lines = (begun + decoder.decode(part, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ') && line.length > 'data: '.length) yield line.slice('data: '.length);
  }
}

/** Results may be large: they are known by how the SDK writes them, and only others are parsed. */
const isAnswer = (message: string): boolean => message.startsWith('{"result":') || !('method' in JSON.parse(message));

/**
 * An event stream that ends by itself, as the older protocol's transport makes it of each answer, as plain JSON: clients
 * without `text/event-stream` take it, and the others too. It stays a stream where notifications come before the answer and
 * the client takes streams; for who does not they are left out. A subscription goes on as it is.
 */
export async function plain(response: Response, asked: Asked, takesStreams: boolean): Promise<Response> {
  if (response.body === null || !isEventStream(response) || isSubscription(asked)) return response;
  const reader: Reader = response.body.getReader();
  const read: Uint8Array[] = [];
  const answers: string[] = [];
  for await (const message of messagesOf(remembering(reader, read))) {
    if (isAnswer(message)) answers.push(message);
    else if (takesStreams && !Array.isArray(asked)) return new Response(goingOn(reader, read), response);
  }
  const headers = new Headers(response.headers);
  for (const name of ['connection', 'content-length', 'cache-control']) headers.delete(name);
  headers.set('content-type', 'application/json');
  return new Response(Array.isArray(asked) ? `[${answers.join(',')}]` : (answers.at(-1) ?? ''), { status: response.status, headers });
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** What a reader gives, which is kept in `read` as well. */
async function* remembering(reader: Reader, read: Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    read.push(next.value);
    yield next.value;
  }
}

/** The stream of a reader of which a beginning has been read already. */
function goingOn(reader: Reader, read: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = read.length > 0 ? { done: false, value: read.shift() } : await reader.read();
      if (next.done) controller.close();
      else controller.enqueue(next.value as Uint8Array);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
