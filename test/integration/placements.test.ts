/** Where Citus has the tables of a datasource: read once, kept by the catalog, and printed by `kg doctor`. The tables of Citus' own catalog are simulated. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CATALOG_OWNER, DEVELOPER, READER } from '../../dev/roles.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { main } from '../../src/cli/kg.ts';
import { parseDatasourceSecret } from '../../src/engine/datasource.ts';
import { areAsPlanned } from '../../src/engine/placements.ts';
import { forgetRoles, fromProbe, rememberRole } from '../../src/engine/settings.ts';
import { sqlOf } from '../../src/engine/statement.ts';
import { forgetTargets } from '../../src/service/read/distributed.ts';
import { forgetRenewals } from '../../src/service/read/placements.ts';
import { memoryDatabase } from '../support/databases/memory.ts';
import { startService, type TestService } from '../support/service.ts';
import { shown } from '../unit/engine/fake.ts';

const CITUS = [
  'SET allow_system_table_mods = on',
  'CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, colocationid integer, repmodel "char")',
  'GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC',
  `CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text STABLE LANGUAGE sql
     AS 'SELECT attname::text FROM pg_catalog.pg_attribute WHERE attrelid = $1 AND attnum = substring($2 from '':varattno ([0-9]+)'')::integer'`,
  `INSERT INTO pg_catalog.pg_dist_partition VALUES ('shop.t_near', 'h', '{VAR :varno 1 :varattno 1}', 7, 'c'), ('shop.t_far', 'h', '{VAR :varno 1 :varattno 2}', 7, 'c'),
     ('shop.t_kind', 'n', NULL, 2, 't')`,
  "INSERT INTO pg_catalog.pg_extension SELECT 99999, 'citus', extowner, extnamespace, false, '1', NULL, NULL FROM pg_catalog.pg_extension WHERE extname = 'plpgsql'",
];
const SQL = 'SELECT city, COUNT(*) AS n FROM dsvc.place GROUP BY city ORDER BY city';

let service: TestService;
const waiting: Promise<unknown>[] = [];

beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE SCHEMA cached',
      'CREATE TABLE shop.t_near (k integer, city text)',
      'CREATE TABLE shop.t_far (city text, k integer)',
      'CREATE TABLE shop.t_kind (k integer)',
      'INSERT INTO shop.t_kind VALUES (1), (2), (3)',
      "INSERT INTO shop.t_near VALUES (1, 'Oslo'), (2, 'Rome')",
      "INSERT INTO shop.t_far VALUES ('Oslo', 3), ('Oslo', 4)",
    ],
    parts: { waitUntil: (work) => void waiting.push(work) },
    database: {},
    settings: (database) => ({
      DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER),
      DATASOURCE_OTHER: database.secret(READER),
      DATASOURCE_OTHER_WRITER: database.secret(DEVELOPER),
    }),
  });
  for (const sql of CITUS) await service.database.superuser(sql);
  [forgetRoles, forgetTargets, forgetRenewals, forgetSnapshots].map((forget) => forget());
  showCitus();
  await service.rows(
    `CREATE ONTOLOGY shop;
CREATE CONCEPT place (k integer, city string, PRIMARY KEY (k));
CREATE MAPPING m_near INTO place AS SELECT k, city FROM shop.t_near;
CREATE MAPPING m_far INTO place AS SELECT k, city FROM shop.t_far;
CREATE CONCEPT kind (k integer, PRIMARY KEY (k));
CREATE MAPPING m_kind INTO kind AS SELECT k FROM shop.t_kind;
CREATE CONCEPT town (k integer, city string, PRIMARY KEY (k), CONSTRAINT next FOREIGN KEY (k) REFERENCES town (k) TRANSITIVE);
CREATE MAPPING m_town INTO town AS SELECT k, city FROM shop.t_near`,
    'shop',
  );
});
afterAll(() => service?.close());

/** Lets the service know the settings of Citus: PostgreSQL does not show those of an extension that is not loaded. */
function showCitus(): void {
  const role = fromProbe([['citus.shard_count', '32', 'x'], ...shown()]);
  if (role) rememberRole({ name: 'main', ...parseDatasourceSecret(service.database.secret(READER)) }, role);
}

const settled = async (): Promise<void> => {
  for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) await work;
  forgetSnapshots();
};
const stored = async (): Promise<unknown> =>
  JSON.parse(((await service.database.superuser('SELECT placements FROM kg_catalog.datasources'))[0]?.placements as string | null) ?? 'null');
/** The requests that read where the tables are, and those that read rows by the distributing columns. */
const reached = (): readonly [number, number] => {
  const all = service.reached();
  return [all.filter((b) => b.includes('pg_dist_partition')).length, all.filter((b) => b.includes('~d')).length];
};
const KIND = ['["shop","t_kind"]', null];
const NEAR = ['["shop","t_near"]', { column: 'k', group: 7 }];

it('lets a walk over a distributed table go by one query for each step', async () => {
  await settled();
  service.reached();
  expect(await service.rows('SELECT city, "next[town*2].city" AS near FROM dsvc.town ORDER BY city', 'shop')).toEqual([
    { city: 'Oslo', near: 'Oslo' },
    { city: 'Rome', near: 'Rome' },
  ]);
  const sent = service.reached().filter((b) => b.includes('t_near'));
  expect(sent).toHaveLength(1);
  expect(sent[0]).toContain('MATERIALIZED');
  expect(sent[0]).not.toContain('RECURSIVE');
});

it('is known from the first mappings on, kept for all isolates, and read again when it is ten minutes old or by kg doctor', async () => {
  const rows = [
    { city: 'Oslo', n: 3 },
    { city: 'Rome', n: 1 },
  ];
  await settled();
  expect(await stored()).toEqual([['["shop","t_far"]', { column: 'k', group: 7 }], KIND, NEAR]);
  reached();
  // another isolate, which has asked the datasource nothing
  for (const forget of [forgetRoles, forgetTargets]) forget();
  expect(await service.rows(SQL, 'shop')).toEqual(rows);
  expect(reached()).toEqual([0, 1]);
  // a table is distributed in another way: the rows stay the same
  await service.database.superuser("UPDATE pg_catalog.pg_dist_partition SET colocationid = 8 WHERE logicalrelid = 'shop.t_far'::regclass");
  expect(await service.rows(SQL, 'shop')).toEqual(rows);
  await service.database.superuser("UPDATE kg_catalog.datasources SET placed = placed - interval '11 minutes'");
  forgetSnapshots();
  forgetRenewals();
  expect(await service.rows(SQL, 'shop')).toEqual(rows);
  await settled();
  await settled();
  expect(reached()).toEqual([1, 2]);
  expect(await stored()).toEqual([['["shop","t_far"]', { column: 'k', group: 8 }], KIND, NEAR]);
  expect(await service.rows(SQL, 'shop')).toEqual(rows);
  expect(reached()).toEqual([0, 0]);

  await service.database.superuser("UPDATE pg_catalog.pg_dist_partition SET colocationid = 7 WHERE logicalrelid = 'shop.t_far'::regclass");
  const out: string[] = [];
  const env = { KG_URL: '', KG_TOKEN: '', CATALOG_URL: service.database.secret(CATALOG_OWNER), DATASOURCE_MAIN: service.database.secret(READER) };
  await main(['doctor'], { ...env, SESSION_FILE: 'missing.json' }, { out: (l) => out.push(l), err: (l) => out.push(l) });
  expect(out).toContain('ok    datasource main: on Citus, tables of the co-location group 7: shop.t_far by k, shop.t_near by k');
  expect(out).toContain('ok    datasource main: on Citus, reference tables: shop.t_kind');
  forgetSnapshots();
  service.reached();
  expect(await service.rows(SQL, 'shop')).toEqual(rows);
  expect(reached()).toEqual([0, 1]);

  // another connection: nothing is known of it
  await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_MAIN'");
  expect(await stored()).toBeNull();
});

describe('a union that is joined with a reference table', () => {
  const JOINED = 'SELECT p.k, p.city FROM svc.place p JOIN svc.kind t ON t.k = p.k ORDER BY p.k';
  const ROWS = [
    { k: 1, city: 'Oslo' },
    { k: 2, city: 'Rome' },
    { k: 3, city: 'Oslo' },
  ];
  const place = (sql: string) => service.database.superuser(sql);
  const HASH =
    "UPDATE pg_catalog.pg_dist_partition SET partmethod = 'h', partkey = '{VAR :varno 1 :varattno 1}', colocationid = 9, repmodel = 'c' WHERE logicalrelid = 'shop.t_kind'::regclass";
  const REFERENCE =
    "UPDATE pg_catalog.pg_dist_partition SET partmethod = 'n', partkey = NULL, colocationid = 2, repmodel = 't' WHERE logicalrelid = 'shop.t_kind'::regclass";
  /** The requests to the database of one query: P reads where the tables are; of others, C checks that, and O reads the union by itself. */
  const requests = (): string[] =>
    service.reached().map((body) => {
      if (body.includes('json_build_array(json_build_array')) return 'P';
      return [body.includes('pg_dist_partition') ? 'C' : '', body.includes('OFFSET 0') ? 'O' : ''].join('');
    });

  beforeEach(async () => {
    await place(REFERENCE);
    await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_MAIN'");
    for (const forget of [forgetTargets, forgetRenewals, forgetSnapshots, showCitus]) forget();
    expect(await service.rows(JOINED, 'shop')).toEqual(ROWS);
    await settled();
    service.reached();
  });

  it('is checked in its own transaction, in one request, which sees what was committed before the check', async () => {
    expect(await service.rows(JOINED, 'shop')).toEqual(ROWS);
    expect(requests()).toEqual(['C']);
    // a statement that relies on no table is sent without a check
    expect(await service.rows('SELECT k FROM svc.kind ORDER BY k', 'shop')).toEqual([{ k: 1 }, { k: 2 }, { k: 3 }]);
    expect(requests()).toEqual(['']);
  });

  it('is planned again and sent once more if the table is distributed by now, and other isolates get to know it', async () => {
    await place(HASH);
    expect(await service.rows(JOINED, 'shop')).toEqual(ROWS);
    expect(requests()).toEqual(['C', 'P', 'O']);
    await settled();
    expect(await stored()).toContainEqual(['["shop","t_kind"]', { column: 'k', group: 9 }]);
    service.reached();
    forgetTargets();
    expect(await service.rows(JOINED, 'shop')).toEqual(ROWS);
    expect(requests()).toEqual(['O']);
  });

  it('of a view that had none when the layout was read is read by itself', async () => {
    const query = 'SELECT v.k, w.k AS other FROM svc.seen v JOIN svc.place w ON w.city = v.city WHERE w.k < 3 ORDER BY 1, 2';
    const found = [
      { k: 1, other: 1 },
      { k: 2, other: 2 },
    ];
    await place('CREATE OR REPLACE VIEW shop.seen AS SELECT k, city FROM shop.t_near');
    await place('GRANT SELECT ON shop.seen TO kg_reader');
    await service.rows(
      'CREATE CONCEPT seen (k integer, city string, PRIMARY KEY (k)); CREATE MAPPING m_seen INTO seen AS SELECT k, city FROM shop.seen',
      'shop',
    );
    await settled();
    service.reached();
    expect(await service.rows(query, 'shop')).toEqual(found);
    expect(requests()).toEqual(['CO']);
    await place('CREATE VIEW shop.below AS SELECT k, city FROM shop.t_near UNION ALL SELECT k, city FROM shop.t_far');
    await place('CREATE OR REPLACE VIEW shop.seen AS SELECT k, city FROM shop.below');
    expect(await service.rows(query, 'shop')).toEqual([...found, { k: 3, other: 1 }, { k: 4, other: 1 }]);
    expect(requests()).toEqual(['CO', 'P', 'O']);
    await settled();
    expect(await stored()).toContainEqual(['["shop","seen"]', 'union']);
    await service.rows('DROP MAPPING m_seen; DROP CONCEPT seen', 'shop');
    await place('DROP VIEW shop.seen, shop.below');
    await settled();
  });

  it('is checked without the definitions of all views of the database', async () => {
    const db = await memoryDatabase();
    for (const sql of [...CITUS.slice(0, 2), 'CREATE VIEW seen AS SELECT 1 AS k']) await db.exec(sql);
    const { text, params } = areAsPlanned(['["public","seen",0]', '["public","other",0]']).statement;
    const plan = await db.query<Record<string, string>>(`EXPLAIN ${sqlOf(text)}`, [...(params ?? [])]);
    await db.close();
    const lines = plan.rows.map((row) => row['QUERY PLAN'] ?? '');
    const filters = lines.flatMap((line, i) => (line.includes('SETOPERATIONSTMT') ? [lines.slice(i - 1, i + 4).join()] : []));
    expect(filters.length).toBeGreaterThan(0);
    for (const filter of filters) expect(filter).toMatch(/Subquery Scan.*Filter.*Index Scan using pg_rewrite_rel_rulename_index/);
  });

  it('is read by itself if it cannot be checked any more', async () => {
    await place('REVOKE SELECT ON pg_catalog.pg_dist_partition FROM PUBLIC');
    expect(await service.rows(JOINED, 'shop')).toEqual(ROWS);
    expect(requests()).toEqual(['C', 'P', 'O']);
    await place('GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC');
  });

  const LONG =
    'SELECT p.k, q.k AS l, r.k AS m, s.k AS n, repeat(p.city, 6000) AS city FROM svc.place p JOIN svc.kind t ON t.k < 9 JOIN svc.kind q ON q.k < 9 JOIN svc.kind r ON r.k < 9 JOIN svc.kind s ON s.k < 9';
  const asking = (more: Readonly<Record<string, string>> = {}, body = LONG) => {
    const headers = { 'content-type': 'text/plain', 'x-api-key': service.token, ...more };
    return service.fetch('/svc/openapi/ontology/shop/query', { method: 'POST', headers, body });
  };

  it('is planned for the new layout after a long answer was aborted', async () => {
    const answer = async (): Promise<string> => {
      const found = await asking();
      expect(found.status).toBe(200);
      return found.text();
    };
    const before = JSON.parse(await answer());
    expect(JSON.stringify(before).length).toBeGreaterThan(3_000_000);
    service.reached();
    await place(HASH);
    await expect(answer()).rejects.toMatchObject({ code: 'datasource_conflict' });
    expect(requests().filter((r) => r !== 'P')).toEqual(['C']);
    await settled();
    service.reached();
    expect(JSON.parse(await answer())).toEqual(before);
    expect(requests()).toEqual(['O']);
  });

  describe('in a long answer in the background, of which nobody has read a row,', () => {
    const polled = async (script = LONG): Promise<{ readonly status: string; readonly response?: readonly unknown[]; readonly error?: string }> => {
      const { poll_url } = (await (await asking({ 'x-async': 'true' }, script)).json()) as { readonly poll_url: string };
      return vi.waitFor(
        async () => {
          const found = (await (await service.fetch(poll_url, { headers: { 'x-api-key': service.token } })).json()) as { readonly status: string };
          if (found.status === 'running') throw new Error('it runs');
          return found;
        },
        { timeout: 60_000 },
      );
    };
    /** Changes the database before a request with one of these texts is sent. */
    const changing = async <T>(changes: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> => {
      const real = globalThis.fetch;
      globalThis.fetch = async (input, init) => {
        for (const [text, sql] of Object.entries(changes)) if (String(init?.body).includes(text)) await place(sql);
        return real(input, init);
      };
      return work().finally(() => {
        globalThis.fetch = real;
      });
    };
    afterEach(settled);

    it('is planned again', async () => {
      const before = await polled();
      expect(before).toMatchObject({ status: 'completed' });
      service.reached();
      await place(HASH);
      expect(await polled()).toEqual(before);
      expect(requests()).toEqual(['C', 'P', 'O']);
    });

    it.each([
      ['reads', 'SELECT k FROM svc.kind'],
      ['changes the model', 'CREATE ONTOLOGY VIEW once AS SELECT k FROM svc.kind'],
    ])('is the only one that runs again after a statement that %s, and nothing of its first rows stays', async (_what, first) => {
      await place(HASH);
      const found = await changing({ 'OFFSET 0': 'DELETE FROM shop.t_kind WHERE k > 1' }, () => polled(`${first}; ${LONG}`));
      await place('TRUNCATE shop.t_kind');
      await place('INSERT INTO shop.t_kind VALUES (1), (2), (3)');
      expect(found).toMatchObject({ status: 'completed' });
      expect(found.response).toHaveLength(4);
      expect(requests().filter((r) => r !== 'P')).toEqual(['', 'C', 'O']);
    });

    it('fails if the table changes again', async () => {
      const changes = { 'relname = $2': HASH, 'json_build_array(json_build_array': REFERENCE };
      const { status, error, response } = await changing(changes, polled);
      expect([status, error, response]).toEqual(['error', expect.stringContaining('distributed in another way'), undefined]);
      expect(requests()).toEqual(['C', 'P', 'C']);
    });
  });

  describe('in a cached table', () => {
    /** Distributes the table by another column before a request with this text is sent. */
    const changing = async (text: string, work: () => Promise<void>): Promise<void> => {
      const real = globalThis.fetch;
      globalThis.fetch = async (input, init) => {
        if (String(init?.body).includes(text)) await place(HASH);
        return real(input, init);
      };
      await work().finally(() => {
        globalThis.fetch = real;
      });
    };
    /** True if a query reads the cached table. */
    const isRead = async (query: string): Promise<boolean> => {
      forgetSnapshots();
      service.reached();
      expect(await service.rows(`${query} ORDER BY k`, 'shop')).toEqual(ROWS);
      return service.reached().some((body) => body.includes('cached'));
    };
    beforeAll(async () => {
      await service.rows(
        `CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'; ALTER ONTOLOGY shop ADD DATASOURCE other;
CREATE ONTOLOGY VIEW joined AS ${JOINED.replace(' ORDER BY p.k', '')};
CREATE CONCEPT both (k integer, city string, PRIMARY KEY (k));
CREATE MAPPING m_both INTO both AS SELECT u.k, u.city FROM (SELECT k, city FROM shop.t_near UNION ALL SELECT k, city FROM shop.t_far) u JOIN shop.t_kind t ON t.k = u.k`,
        'shop',
      );
    });

    it.each([
      ['CACHE VIEW joined', 'CREATE TABLE', 'SELECT k, city FROM vsvc.joined'],
      ['CACHE MAPPING m_both', 'CREATE TABLE', 'SELECT k, city FROM svc.both'],
      ['CACHE MAPPING m_both USING other', 'to_json(ARRAY', undefined],
    ])('is no row that was read while the table was distributed: %s', async (cache, sent, query) => {
      const statement = `${cache} OPTIONS (schema = 'cached', max_age = '1 hour')`;
      await changing(sent, async () => expect(await service.fault(statement, 'shop')).toBe('503 datasource_conflict'));
      if (query) expect(await isRead(query)).toBe(false);
      service.reached();
      await service.rows(statement, 'shop');
      expect(requests()).toContain('O');
      if (query) expect(await isRead(query)).toBe(true);
      await service.rows(cache.replace(/^CACHE/, 'UNCACHE').replace(' USING other', ''), 'shop');
    });
  });

  it('is answered with 503 if the table changes again and again', async () => {
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      if (String(init?.body).includes('relname = $2')) await place(HASH);
      if (String(init?.body).includes('json_build_array(json_build_array')) await place(REFERENCE);
      return real(input, init);
    };
    const answer = await service.fetch('/svc/api/query/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.token },
      body: JSON.stringify({ ontology_name: 'shop', query: JOINED }),
    });
    globalThis.fetch = real;
    expect([answer.status, answer.headers.get('retry-after'), ((await answer.json()) as { code: string }).code]).toEqual([503, '1', 'datasource_conflict']);
    expect(requests()).toEqual(['C', 'P', 'C']);
  });
});
