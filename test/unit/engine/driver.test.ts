/** The requests of our own client compared with those of Neon's driver. */
import { neon, neonConfig } from '@neondatabase/serverless';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fetch } from '../../../src/engine/client.ts';
import { parseDatasourceSecret } from '../../../src/engine/datasource.ts';
import { operatorText } from '../../../src/engine/operator.ts';
import { runRows } from '../../../src/engine/rows.ts';
import { forgetRoles } from '../../../src/engine/settings.ts';
import { fake, probeRows, rowsAnswer } from './fake.ts';

interface Sent {
  url: string;
  method: string | undefined;
  headers: Record<string, string>;
  body: unknown;
}

const CONNECTION_STRINGS = [
  'postgresql://user:pa%3Ass%2Fw%40rd@ep-cool-darkness-123456.us-east-2.aws.neon.tech/dbname?sslmode=require&channel_binding=require',
  'postgres://user:secret@ep-cool-darkness-123456-pooler.us-east-2.aws.neon.tech:5432/db%20name',
  'postgresql://user@EP-Upper.Example.COM/db?options=endpoint%3Dx&application_name=mine',
  'postgresql://user:p@localhost/db',
];

const sentBy = (url: string, init: RequestInit): Sent => ({
  url,
  method: init.method,
  headers: Object.fromEntries(new Headers(init.headers)),
  body: JSON.parse(init.body as string),
});

/** The driver's request, with our application name. */
async function byDriver(url: string, run: (sql: ReturnType<typeof neon>) => Promise<unknown>): Promise<Sent> {
  let sent: Sent | undefined;
  neonConfig.fetchFunction = async (address: string, init: RequestInit) => {
    sent = sentBy(address, init);
    throw new Error('enough');
  };
  await run(neon(url, { arrayMode: true })).catch(() => undefined);
  return sent!;
}

beforeEach(forgetRoles);
afterEach(() => {
  neonConfig.fetchFunction = undefined;
});

describe('our requests are those of the driver', () => {
  for (const url of CONNECTION_STRINGS) {
    it(url, async () => {
      const ds = { name: 'main', ...parseDatasourceSecret(url) };
      const { fetch, asked } = fake(rowsAnswer([], probeRows('30s')));
      const ask = (f: Fetch) =>
        runRows(ds, { text: operatorText('SELECT $1::text, $2::text'), params: ['a', null], timeoutMs: 30_000, maxBytes: 1e6, owner: 'ann', fetch: f });
      await ask(fetch);
      await ask(fetch);
      const [batch, single] = asked.map((a) => sentBy(a.url, a.init));

      // The two differ in their application name, and in the form of values.
      const application = new URL(`http:${single!.headers['neon-connection-string']!.split(':').slice(1).join(':')}`).searchParams.get('application_name');
      const named = url.includes('application_name') ? url : `${url}${url.includes('?') ? '&' : '?'}application_name=${application}`;
      const driverSingle = await byDriver(named, (sql) => sql.query('SELECT $1::text, $2::text', ['a', null]));
      expect({ ...single, headers: { ...single!.headers, 'neon-raw-text-output': 'true' } }).toEqual(driverSingle);
      expect(single!.headers['neon-raw-text-output']).toBe('false');

      const queries = (batch!.body as { queries: { query: string; params: (string | null)[] }[] }).queries;
      const driverBatch = await byDriver(named, (sql) =>
        sql.transaction(
          queries.map((q) => sql.query(q.query, q.params)),
          { readOnly: true },
        ),
      );
      expect({ ...batch, headers: { ...batch!.headers, 'neon-raw-text-output': 'true' } }).toEqual(driverBatch);
    });
  }
});
