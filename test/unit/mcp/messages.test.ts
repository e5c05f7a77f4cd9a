import { describe, expect, it } from 'vitest';
import { idOf, MAX_LEVELS, MAX_MESSAGES, readMessages } from '../../../src/mcp/messages.ts';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const codeOf = (text: string, version: string | null = null) => {
  const read = readMessages(text, version);
  return read.kind === 'invalid' ? [read.code, read.message.startsWith('Invalid JSON-RPC: ')] : read.kind;
};

describe('readMessages', () => {
  it('takes requests, notifications and answers', () => {
    for (const message of [
      ping,
      { ...ping, id: 'a', params: {} },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]) {
      expect(readMessages(JSON.stringify(message), null)).toEqual({ kind: 'messages', body: message });
    }
  });

  it('refuses invalid JSON with -32700, and an invalid message with -32600', () => {
    for (const text of ['', '{', 'hello']) expect(codeOf(text)).toEqual([-32700, true]);
    for (const text of ['42', 'null', '"ping"', '[]', '[1]', '{}']) expect(codeOf(text), text).toEqual([-32600, true]);
    for (const change of [{ jsonrpc: '1.0' }, { method: 5 }, { method: undefined }, { id: {} }, { id: null }, { id: 1.5 }, { params: [] }, { params: 'x' }]) {
      expect(codeOf(JSON.stringify({ ...ping, ...change })), JSON.stringify(change)).toEqual([-32600, true]);
    }
    expect(codeOf('{"jsonrpc":"2.0","id":1}')).toEqual([-32600, true]);
  });

  it('accepts batches only before 2025-06-18', () => {
    const batch = JSON.stringify([ping, { ...ping, id: 2 }]);
    for (const version of [null, '2024-11-05', '2025-03-26']) expect(codeOf(batch, version)).toBe('messages');
    for (const version of ['2025-06-18', '2025-11-25', '2026-07-28']) expect(codeOf(batch, version)).toEqual([-32600, true]);
  });

  it('takes a hundred messages in a batch and no more', () => {
    const batch = (n: number) => JSON.stringify(Array.from({ length: n }, (_, i) => ({ ...ping, id: i + 1 })));
    expect(codeOf(batch(MAX_MESSAGES))).toBe('messages');
    // counted before any of them is looked at
    for (const text of [batch(MAX_MESSAGES + 1), `[${'1,'.repeat(MAX_MESSAGES)}1]`])
      expect(readMessages(text, null)).toEqual({ kind: 'invalid', code: -32600, message: 'Invalid JSON-RPC: a batch can have at most 100 messages' });
  });

  it('takes arguments that nest 64 levels deep and no deeper', () => {
    const call = (value: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":${value}}}}`;
    const shapes: Readonly<Record<string, (levels: number) => string>> = {
      lists: (n) => '['.repeat(n) + ']'.repeat(n),
      objects: (n) => `${'{"b":'.repeat(n)}1${'}'.repeat(n)}`,
      both: (n) => `${'['.repeat(n % 2)}${'[{"b":'.repeat(n >> 1)}1${'}]'.repeat(n >> 1)}${']'.repeat(n % 2)}`,
    };
    for (const value of Object.values(shapes)) {
      for (const text of [call(value(MAX_LEVELS)), `[${call(value(MAX_LEVELS))}]`]) expect(codeOf(text)).toBe('messages');
      for (const n of [MAX_LEVELS + 1, 100_000]) {
        for (const text of [call(value(n)), `[${call(value(n))}]`])
          expect(readMessages(text, null)).toEqual({ kind: 'invalid', code: -32600, message: 'Invalid JSON-RPC: arguments can nest at most 64 levels deep' });
      }
    }
    // brackets in texts do not count
    for (const text of ['[{"'.repeat(200), '\\"[{'.repeat(200), '\\\\']) expect(codeOf(call(JSON.stringify(text)))).toBe('messages');
    // wherever they are
    expect(codeOf(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":${shapes.lists?.(100)}}}`)).toEqual([-32600, true]);
  });

  it('gives initialize the clientInfo that it lacks, and no other', () => {
    const read = (params: object) => readMessages(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }), null);
    expect(read({ capabilities: {} })).toMatchObject({ body: { params: { capabilities: {}, clientInfo: { name: 'unnamed', version: '0' } } } });
    expect(read({ clientInfo: { name: 'x', version: '1' } })).toMatchObject({ body: { params: { clientInfo: { name: 'x', version: '1' } } } });
  });

  it('knows the id of a single request', () => {
    expect([idOf({ jsonrpc: '2.0', id: 'a', method: 'ping' }), idOf({ jsonrpc: '2.0', method: 'x' }), idOf([])]).toEqual(['a', null, null]);
  });
});
