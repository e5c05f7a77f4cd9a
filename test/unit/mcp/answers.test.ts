/** Which answers of the SDK's handler remain streams, and the form of the others for clients. */
import { describe, expect, it } from 'vitest';
import { messagesOf, plain as plainWith } from '../../../src/mcp/answers.ts';
import type { Message } from '../../../src/mcp/messages.ts';
import { Spliced } from '../../../src/mcp/spliced.ts';
import { RowTexts } from '../../../src/nesting/cut.ts';

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

const plain = (response: Response, asked: Message | readonly Message[], takes: boolean) => plainWith(response, asked, takes, new Spliced());

const CALL: Message = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
const sent = async (response: Response) => [response.headers.get('content-type'), await response.text()];

describe('messages of a stream', () => {
  it('come one by one, for any pieces of the stream', async () => {
    const bytes = encoder.encode(`: keep-alive\n\n${event('{"a":"\u00e4"}')}data: \n\n${event('{"b":2}')}`);
    for (let at = 1; at < bytes.length; at++) {
      const found: string[] = [];
      for await (const message of messagesOf(streamed(bytes.subarray(0, at), bytes.subarray(at)).body as ReadableStream<Uint8Array>)) found.push(message);
      expect(found, `cut at ${at}`).toEqual(['{"a":"\u00e4"}', '{"b":2}']);
    }
  });
});

describe('an answer', () => {
  it.each([true, false])('without notifications is JSON, with or without support for streams (%s)', async (takes) => {
    for (const answer of [RESULT, ERROR]) {
      const made = await plain(streamed(': keep-alive\n\n', event(answer)), CALL, takes);
      expect(['cache-control', 'connection', 'x-kept'].map((name) => made.headers.get(name))).toEqual([null, null, 'yes']);
      expect(await sent(made)).toEqual(['application/json', answer]);
    }
  });

  it('after notifications is a stream for clients that accept one', async () => {
    const events = event(NOTE) + event(RESULT);
    expect(await sent(await plain(streamed(event(NOTE), event(RESULT)), CALL, true))).toEqual(['text/event-stream', events]);
    expect(await sent(await plain(streamed(events), CALL, true))).toEqual(['text/event-stream', events]);
    expect(await sent(await plain(streamed(events), CALL, false))).toEqual(['application/json', RESULT]);
  });

  it('is passed on while its notifications arrive', async () => {
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
    expect(await sent(await plain(streamed(event(NOTE), event(RESULT), event(ERROR)), [CALL, CALL], true))).toEqual([
      'application/json',
      `[${RESULT},${ERROR}]`,
    ]);
  });

  it('that is not a stream, and a subscription, are unchanged', async () => {
    const none = new Response(null, { status: 202 });
    expect(await plain(none, CALL, true)).toBe(none);
    const subscription = streamed(event(NOTE));
    expect(await plain(subscription, { ...CALL, method: 'subscriptions/listen' }, false)).toBe(subscription);
  });
});

describe('rows in place of their marks', () => {
  const TEXTS = ['{"n": 1.10, "t": "\\"$& \u00e4"}', '{"n":2,"t":"\\\\"}'];
  const ROWS = [
    { n: 1.1, t: '"$& \u00e4' },
    { n: 2, t: '\\' },
  ];
  const result = { rows: new RowTexts(TEXTS), row_count: 2 };
  const written = (spliced: Spliced) => {
    const marked = spliced.marked(result);
    return JSON.stringify({ result: { content: [{ type: 'text', text: JSON.stringify(marked) }], structuredContent: marked }, jsonrpc: '2.0', id: 1 });
  };
  const expected = { rows: ROWS, row_count: 2 };
  const check = (answer: string) => {
    const { structuredContent, content } = JSON.parse(answer).result;
    expect(structuredContent).toEqual(expected);
    expect(JSON.parse(content[0].text)).toEqual(expected);
    expect(answer, 'as they came').toContain(TEXTS.join(','));
  };

  it('are in an answer of events and in one of JSON', async () => {
    for (const made of [(text: string) => streamed(event(text)), (text: string) => new Response(text, { headers: { 'content-type': 'application/json' } })]) {
      const spliced = new Spliced();
      check(await (await plainWith(made(written(spliced)), CALL, true, spliced)).text());
    }
  });

  it('are after notifications, and in each answer to a batch', async () => {
    const spliced = new Spliced();
    const [type, text] = await sent(await plainWith(streamed(event(NOTE), event(written(spliced))), CALL, true, spliced));
    expect([type, text?.slice(0, event(NOTE).length)]).toEqual(['text/event-stream', event(NOTE)]);
    check(/^data: (\{"result".*)$/m.exec(text ?? '')?.[1] ?? '');
    const batch = await plainWith(streamed(event(written(spliced)), event(written(spliced))), [CALL, CALL], true, spliced);
    for (const answer of JSON.parse(await batch.text())) expect(answer.result.structuredContent).toEqual(expected);
  });

  it('are only in the structured content for clients that read it', async () => {
    const spliced = new Spliced(false);
    const marked = spliced.marked(result);
    const text = spliced.textOf(result, marked);
    expect(text).toBe('The rows are in structuredContent. {"row_count":2}');
    const message = JSON.stringify({ result: { content: [{ type: 'text', text }], structuredContent: marked }, jsonrpc: '2.0', id: 1 });
    const answer = JSON.parse(await (await plainWith(streamed(event(message)), CALL, true, spliced)).text());
    expect(answer.result).toEqual({ content: [{ type: 'text', text }], structuredContent: expected });
    // a result without rows has the same text for all clients
    expect(spliced.textOf({ a: 1 }, { a: 1 })).toBe('{"a":1}');
    const both = new Spliced();
    expect(both.textOf(result, both.marked(result))).toMatch(/^\{"rows":\[\{/);
  });

  it('are not searched: the text of a mark in them remains a text, and marks are not confused', () => {
    const spliced = new Spliced();
    const mark = JSON.stringify((spliced.marked(result).rows as readonly unknown[])[0]);
    const other = spliced.marked({ rows: new RowTexts([`{"t":${JSON.stringify(mark)},"n":${mark}}`]), empty: new RowTexts([]) });
    expect(JSON.parse(spliced.put(JSON.stringify(other)))).toEqual({ rows: [{ t: mark, n: JSON.parse(mark) }], empty: [] });
    expect(new Spliced().put(mark)).toBe(mark);
    const stranger = new Spliced();
    stranger.marked(result);
    expect(stranger.put(mark)).toBe(mark);
  });
});
