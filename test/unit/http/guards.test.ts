import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { BODY_BYTES, readText as read, requireJson, requireSqlText } from '../../../src/http/body.ts';
import type { AppContext } from '../../../src/http/context.ts';
import { checkHost, checkUrl, requestIdOf } from '../../../src/http/guards.ts';
import { resultsLimit } from '../../../src/http/input.ts';

const local = (more: Record<string, string> = {}) =>
  readConfig({ CATALOG_URL: '{"url":"postgres://u:p@127.0.0.1/d","endpoint":"http://127.0.0.1:9/sql"}', ...more });
const host = (name: string, config = local()) => checkHost(new Headers({ host: name }), 'http://127.0.0.1/', config);

describe('guards', () => {
  it('accept a valid request id, and create one otherwise', () => {
    for (const id of ['a', '.', 'A_b-c.9', 'x'.repeat(128)]) expect(requestIdOf(new Headers({ 'x-request-id': id }))).toBe(id);
    for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', '<b>']) expect(requestIdOf(new Headers({ 'x-request-id': id }))).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('refuse foreign hosts on loopback only', () => {
    for (const name of ['127.0.0.1:8787', 'localhost', '[::1]:1']) expect(() => host(name)).not.toThrow();
    for (const name of ['evil.example', '127.0.0.1.evil.example:8787', '10.0.0.1']) {
      expect(() => host(name)).toThrow(expect.objectContaining({ status: 421 }));
    }
    expect(() => host('graph.example', local({ PUBLIC_URL: 'https://graph.example' }))).not.toThrow();
    expect(() => host('graph.example', readConfig({ CATALOG_URL: 'postgres://u:p@ep-x.neon.tech/d' }))).not.toThrow();
  });

  it('refuse an invalid URL', () => {
    for (const url of ['http://[::1/svc/api/health', 'http://h:port/', 'http:///'])
      expect(() => checkUrl(url), url).toThrow(expect.objectContaining({ status: 400, code: 'malformed_url' }));
  });

  it('refuse long URLs', () => {
    expect(() => checkUrl(`http://h/${'a'.repeat(16 * 1024 - 9)}`)).not.toThrow();
    expect(() => checkUrl(`http://h/${'a'.repeat(16 * 1024 - 8)}`)).toThrow(expect.objectContaining({ status: 414 }));
  });

  it('accept a positive integer as results-limit', () => {
    const limit = (value: string) => resultsLimit(new Headers({ 'results-limit': value }));
    expect([limit('1'), limit('007'), resultsLimit(new Headers())]).toEqual([1, 7, null]);
    for (const value of ['abc', '0', '-1', '1e9', '2.5', '0x10', '1 2', 'NaN', '1; DROP', ''])
      expect(() => limit(value)).toThrow(expect.objectContaining({ status: 400 }));
  });
});

describe('bodies', () => {
  const post = (body: BodyInit, type?: string) =>
    new Request('http://h/', { method: 'POST', body, headers: type === undefined ? {} : { 'content-type': type } });

  /** Each is a request that ends at once. */
  const readText = async (raw: Request): Promise<string> => {
    let release: () => void = () => undefined;
    const context = { req: { raw }, get: () => undefined, set: (_: string, made: () => void) => (release = made) };
    return read(context as unknown as AppContext).finally(() => release());
  };

  it('are read up to 1 MiB', async () => {
    expect((await readText(post('x'.repeat(BODY_BYTES)))).length).toBe(BODY_BYTES);
    await expect(readText(post('x'.repeat(BODY_BYTES + 1)))).rejects.toMatchObject({ status: 413 });
    expect(await readText(new Request('http://h/'))).toBe('');
  });

  it('may be incomplete', async () => {
    for (const headers of [{}, { 'content-length': '5' }] as Record<string, string>[]) {
      const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError('premature end')) });
      const request = new Request('http://h/', { method: 'POST', body: cut, headers, duplex: 'half' } as RequestInit);
      await expect(readText(request)).rejects.toMatchObject({ status: 400, code: 'malformed_body' });
    }
  });

  it('are UTF-8', async () => {
    expect(await readText(post('東京🜁'))).toBe('東京🜁');
    await expect(readText(post(new Uint8Array([0x53, 0xff, 0xfe])))).rejects.toMatchObject({ status: 400 });
  });

  it('have a content type', () => {
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/problem+json'])
      expect(() => requireJson(post('{}', type))).not.toThrow();
    for (const type of ['text/plain', 'application/jsonp', 'application/xml'])
      expect(() => requireJson(post('{}', type))).toThrow(expect.objectContaining({ status: 415 }));
    for (const type of ['text/plain', 'application/text; charset=utf-8']) expect(() => requireSqlText(post('S', type))).not.toThrow();
    expect(() => requireSqlText(post('S', 'application/json'))).toThrow(expect.objectContaining({ status: 415 }));
  });
});
