/** The catalog's requests are those of Neon's driver, and its rows have the same values. */
import { neon, neonConfig } from '@neondatabase/serverless';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exchange, ReportedError, type Sent } from '../../../src/catalog/http.ts';

const URL = 'postgres://u:p%40x@ep-a.eu.neon.tech/d?sslmode=require';
const SENT: readonly Sent[] = [
  { sql: 'SELECT $1, $2, $3, $4::text[]', params: ['a\\', 7, null, ['x', 'a "b"', '\\', '{,}', '']] },
  { sql: 'SELECT 1', params: [true] },
];
const RESULT = {
  command: 'SELECT',
  rowCount: 1,
  fields: [16, 20, 21, 23, 25, 114, 3802, 2950].map((dataTypeID, i) => ({ name: `c${i}`, dataTypeID })),
  rows: [
    ['t', '9007199254740993', '-1', '7', 'a', '{"a":[1]}', '"x"', '00000000-0000-4000-8000-000000000001'],
    ['f', ...Array.from({ length: 7 }, () => null)],
  ],
};

/** The requests of a run, each with its address. */
const requests: { url: string; init: RequestInit }[] = [];
let answer = () => Response.json({});
beforeEach(() => {
  requests.length = 0;
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    requests.push({ url, init });
    return answer();
  });
});
afterEach(() => vi.unstubAllGlobals());

const driver = () => {
  neonConfig.fetchFunction = globalThis.fetch;
  return neon(URL, { disableWarningInBrowsers: true });
};
const connection = { url: URL, endpoint: null };
const shown = ({ url, init }: { url: string; init: RequestInit }) => ({
  url,
  body: JSON.parse(String(init.body)),
  headers: Object.fromEntries(
    Object.entries(init.headers as Record<string, string>).map(([name, value]) => [name, value.replace(/application_name=.*/, 'application_name=')]),
  ),
});

describe('a request of the catalog', () => {
  it('is that of the driver, and its rows have the same values', async () => {
    answer = () => Response.json(RESULT);
    const [sent] = SENT as [Sent, Sent];
    const theirs = await driver().query(sent.sql, [...sent.params]);
    expect(await exchange(connection, sent, 1000)).toEqual([theirs]);
    expect(shown(requests[1]!)).toEqual(shown(requests[0]!));
    expect(requests[1]?.init.redirect).toBe('manual');
  });

  it('of several statements is one transaction', async () => {
    answer = () => Response.json({ results: [RESULT, RESULT] });
    const client = driver();
    const theirs = await client.transaction(SENT.map(({ sql, params }) => client.query(sql, [...params])));
    expect(await exchange(connection, SENT, 1000)).toEqual(theirs);
    expect(shown(requests[1]!)).toEqual(shown(requests[0]!));
  });

  it('reports an error of PostgreSQL with its code and constraint', async () => {
    answer = () => Response.json({ code: '23505', message: 'duplicate key', constraint: 'users_key' }, { status: 400 });
    await expect(exchange(connection, SENT, 1000)).rejects.toEqual(new ReportedError('23505', 'duplicate key', 'users_key'));
  });

  it('has no code for another failure, and does not send a password unencrypted', async () => {
    answer = () => new Response('gone', { status: 502 });
    await expect(exchange(connection, SENT, 1000)).rejects.not.toBeInstanceOf(ReportedError);
    requests.length = 0;
    await expect(exchange({ url: URL, endpoint: 'http://db.example/sql' }, SENT, 1000)).rejects.toThrow('https');
    expect(requests).toEqual([]);
  });
});
