import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sessionConnection } from '../../../src/cli/service-client.ts';
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
