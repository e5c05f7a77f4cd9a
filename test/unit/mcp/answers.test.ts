/** Which answers of the SDK's handler stay streams, and what clients get of the others. */
import { describe, expect, it } from 'vitest';
import { messagesOf, plain } from '../../../src/mcp/answers.ts';
import type { Message } from '../../../src/mcp/messages.ts';

const encoder = new TextEncoder();
const NOTE = '{"method":"notifications/progress","params":{"progress":1},"jsonrpc":"2.0"}';
const RESULT = '{"result":{"method":"said"},"jsonrpc":"2.0","id":1}';
const ERROR = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}';
const event = (message: string): string => `event: message\ndata: ${message}\n\n`;

function streamed(...parts: readonly (string | Uint8Array)[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === 'string' ? encoder.encode(part) : part);
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', connection: 'keep-alive', 'x-kept': 'yes' } });
}

const CALL: Message = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
const told = async (response: Response) => [response.headers.get('content-type'), await response.text()];

describe('messages of a stream', () => {
  it('come one by one, wherever the stream is cut', async () => {
    const bytes = encoder.encode(`: keep-alive\n\n${event('{"a":"\u00e4"}')}data: \n\n${event('{"b":2}')}`);
    for (let at = 1; at < bytes.length; at++) {
      const found: string[] = [];
      for await (const message of messagesOf(streamed(bytes.subarray(0, at), bytes.subarray(at)).body as ReadableStream<Uint8Array>)) found.push(message);
      expect(found, `cut at ${at}`).toEqual(['{"a":"\u00e4"}', '{"b":2}']);
    }
  });
});

describe('an answer', () => {
  it.each([true, false])('alone is JSON, taking streams or not (%s)', async (takes) => {
    for (const answer of [RESULT, ERROR]) {
      const made = await plain(streamed(': keep-alive\n\n', event(answer)), CALL, takes);
      expect(['cache-control', 'connection', 'x-kept'].map((name) => made.headers.get(name))).toEqual([null, null, 'yes']);
      expect(await told(made)).toEqual(['application/json', answer]);
    }
  });

  it('behind notifications is a stream for who takes one', async () => {
    const events = event(NOTE) + event(RESULT);
    expect(await told(await plain(streamed(event(NOTE), event(RESULT)), CALL, true))).toEqual(['text/event-stream', events]);
    expect(await told(await plain(streamed(events), CALL, true))).toEqual(['text/event-stream', events]);
    expect(await told(await plain(streamed(events), CALL, false))).toEqual(['application/json', RESULT]);
  });

  it('is sent on while its notifications come', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const sent = writer.write(encoder.encode(event(NOTE)));
    const made = await plain(new Response(readable, { headers: { 'content-type': 'text/event-stream' } }), CALL, true);
    await sent;
    const reader = (made.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(event(NOTE));
    const left = reader.cancel();
    await expect(writer.closed).rejects.toBeUndefined();
    await left;
  });

  it('to a batch is an array of answers', async () => {
    expect(await told(await plain(streamed(event(NOTE), event(RESULT), event(ERROR)), [CALL, CALL], true))).toEqual([
      'application/json',
      `[${RESULT},${ERROR}]`,
    ]);
  });

  it('that is no stream, and a subscription, go on as they are', async () => {
    const none = new Response(null, { status: 202 });
    expect(await plain(none, CALL, true)).toBe(none);
    const subscription = streamed(event(NOTE));
    expect(await plain(subscription, { ...CALL, method: 'subscriptions/listen' }, false)).toBe(subscription);
  });
});
