import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { findService, sessionConnection } from '../../../src/cli/service-client.ts';
import { catalogConnection, secretConnection } from '../../../src/cli/validate-data-places.ts';

const folder = mkdtempSync(join(tmpdir(), 'session-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The environment with a session file. */
function session(content: object): { readonly SESSION_FILE: string } {
  const SESSION_FILE = join(folder, 'session.json');
  writeFileSync(SESSION_FILE, JSON.stringify(content));
  return { SESSION_FILE };
}

const READER = 'postgres://reader:secret@db.example.neon.tech/shop';

describe('the connections of a session file', () => {
  it('have the address of the file, or that of Neon', async () => {
    const own = session({ reader_url: READER, sql_endpoint: 'http://127.0.0.1:1/sql' });
    expect(await sessionConnection(own, 'reader_url')).toEqual({ url: READER, endpoint: 'http://127.0.0.1:1/sql' });
    const neon = session({ reader_url: READER });
    expect(await sessionConnection(neon, 'reader_url')).toEqual({ url: READER, endpoint: 'https://api.example.neon.tech/sql' });
    expect(await sessionConnection(neon, 'catalog_url')).toBeUndefined();
    expect(await sessionConnection({ SESSION_FILE: join(folder, 'none.json') }, 'reader_url')).toBeUndefined();
  });

  it.each([
    ['an address without https', { reader_url: READER, catalog_url: READER, sql_endpoint: 'http://db.localhost/sql' }],
    ['no user', { reader_url: 'postgres://db.example/shop', catalog_url: 'postgres://db.example/shop' }],
    ['no text', { reader_url: 1, catalog_url: 1 }],
  ])('are read like DATASOURCE_MAIN and CATALOG_URL: %s is no connection', async (_what, content) => {
    const env = session(content);
    expect(await secretConnection('main', 'DATASOURCE_MAIN', env)).toBeUndefined();
    expect(await catalogConnection(env)).toBeUndefined();
  });
});

describe('a request that is refused with 503 busy', () => {
  const refusal = (message: string, headers: Record<string, string>): Response =>
    Response.json({ status: 'error', code: 'busy', data: message }, { status: 503, headers });
  const UNREAD = 'Too many large requests are in progress';
  /** Sends a request to a service that gives these answers, then rows. */
  const send = async (...answers: readonly Response[]) => {
    vi.restoreAllMocks();
    const left = [...answers];
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => left.shift() ?? Response.json({ status: 'success', data: [{ n: 1 }] }));
    const service = await findService({ KG_URL: 'https://kg.example', KG_TOKEN: 'tk_x' });
    const { status, rows } = await service.query('CREATE CONCEPT c', 'o');
    return [status, rows.length, fetched.mock.calls.length];
  };
  const unread = (headers: Record<string, string> = { 'retry-after': '0' }): Response => refusal(UNREAD, headers);

  it('is sent again up to three times if the service has not read it', async () => {
    expect(await send(unread(), unread(), unread())).toEqual([200, 1, 4]);
    expect(await send(unread(), unread(), unread(), unread(), unread())).toEqual([503, 0, 4]);
  });

  it.each([
    ['the service may have run it', () => refusal('Too many large answers are in progress', { 'retry-after': '0' })],
    ['no time is named', () => unread({})],
  ])('is not sent again if %s', async (_what, answer) => expect(await send(answer())).toEqual([503, 0, 1]));

  it('waits as long as the service asks for', async () => {
    const begun = performance.now();
    expect(await send(unread({ 'retry-after': '1' }))).toEqual([200, 1, 2]);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(990);
  });
});
