/** What statements about cached views and cubes may cost, say and change: too large plans, hidden names, types below a view, and caches of dropped objects. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { cutRows } from '../../src/nesting/cut.ts';
import { type Runtime, runScript } from '../../src/service.ts';
import { MemoryJobs } from '../support/jobs-memory.ts';
import { startService, type TestService } from '../support/service.ts';
import { TestCaches } from './support/caches.ts';

const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE SCHEMA cached',
  "CREATE COLLATION shop.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
  'CREATE TABLE shop.t_item (id integer PRIMARY KEY, n integer, note text COLLATE "C")',
  "INSERT INTO shop.t_item VALUES (1, 9, 'a'), (2, 10, 'A'), (3, NULL, 'b')",
];
const MAPPING = 'CREATE OR REPLACE MAPPING m_item INTO item AS SELECT id, note FROM shop.t_item';
const RAW = 'CREATE OR REPLACE ONTOLOGY VIEW raw USING main AS SELECT id, n FROM shop.t_item';
const MODEL = `CREATE ONTOLOGY shop;
CREATE CONCEPT item (id integer, note string, PRIMARY KEY (id));
CREATE CONCEPT vault (id integer, code string, PRIMARY KEY (id));
${MAPPING};
CREATE MAPPING m_vault INTO vault AS SELECT id, note AS code FROM shop.t_item;
${RAW};
CREATE ONTOLOGY VIEW top AS SELECT MAX(n) AS n FROM vsvc.raw;
CREATE ONTOLOGY VIEW notes AS SELECT COUNT(DISTINCT note) AS n FROM dsvc.item;
CREATE ONTOLOGY CUBE counts AS SELECT note, COUNT(id) AS n FROM dsvc.item;
CREATE ONTOLOGY VIEW vaults AS SELECT id, code FROM dsvc.vault;
CREATE ONTOLOGY CUBE peeks AS SELECT code, COUNT(id) AS n FROM vsvc.vaults;
CREATE ONTOLOGY VIEW peek AS SELECT id, code FROM vsvc.vaults;
CREATE ONTOLOGY VIEW chain0 AS SELECT id FROM dsvc.item`;
const cache = (name: string, kind = 'VIEW'): string => `CACHE ${kind} ${name} OPTIONS (schema = 'cached')`;

let service: TestService;
let caches: TestCaches;

async function asked(sql: string): Promise<{ rows: unknown; isCached: boolean }> {
  const { rows, asOf } = await caches.asked(sql);
  return { rows, isCached: asOf !== null };
}
const stateOf = async (name: string): Promise<string> => (await caches.shown(name))?.state;

beforeAll(async () => {
  let runtime: Runtime | undefined;
  service = await startService({
    tables: TABLES,
    settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }),
    parts: { jobs: new MemoryJobs(() => runtime as Runtime) },
  });
  ({ runtime } = await service.request(service.token));
  caches = new TestCaches(service);
  await service.rows(MODEL, 'shop');
});
afterAll(() => service.close());

it('refuses a view whose plan is too large, in each statement that plans it', async () => {
  const joined = (of: string): string => Array.from({ length: 16 }, (_, i) => `vsvc.${of} a${i}`).join(' CROSS JOIN ');
  await service.rows('CREATE ONTOLOGY VIEW grows AS SELECT id FROM vsvc.chain0', 'shop');
  await service.rows(cache('grows'), 'shop');
  const chain = ['chain1', 'chain2', 'chain3'];
  for (const name of chain) await service.rows(`CREATE ONTOLOGY VIEW ${name} AS SELECT id FROM vsvc.chain0`, 'shop');
  await service.rows('CREATE OR REPLACE ONTOLOGY VIEW grows AS SELECT id FROM vsvc.chain3', 'shop');
  for (const [i, name] of [...chain.entries()].reverse())
    await service.rows(`CREATE OR REPLACE ONTOLOGY VIEW ${name} AS SELECT a0.id FROM ${joined(`chain${i}`)}`, 'shop');
  expect(await service.fault('SELECT id FROM vsvc.chain3', 'shop')).toBe('400 too_complex');
  expect(await service.fault(cache('chain3'), 'shop')).toBe('400 too_complex');
  expect(await service.fault(`CREATE JOB often SCHEDULE '0 * * * *' AS ${cache('chain3')}`, 'shop')).toBe('400 too_complex');
  expect(await stateOf('grows')).toBe('changed');
  await service.rows('UNCACHE VIEW grows', 'shop');
  const editor = await service.user('chainer', 'EDIT ON ALL ontology.shop');
  expect(await service.fault(cache('chain3'), 'shop', editor)).toBe('403 forbidden');
});

it('does not plan more than the budget of a request, and keeps no plan that it makes live for this', async () => {
  await service.rows('CREATE ONTOLOGY VIEW plain AS SELECT id FROM dsvc.item', 'shop');
  await service.rows(cache('plain'), 'shop');
  const spent = async (sql: string): Promise<readonly unknown[]> => {
    const request = await service.request(service.token);
    const { trials, caches: shown } = request.spending;
    for (const budget of [trials, shown]) budget.steps = budget.limits.steps + 1;
    return (await cutRows(await runScript(request, { ontology: 'shop', sql, limit: null, datasource: null }), 100)).rows;
  };
  const sql = 'SELECT id FROM vsvc.plain ORDER BY id';
  const rows = [{ id: 1 }, { id: 2 }, { id: 3 }];
  expect([(await spent("SELECT view_name, state FROM SYS_CACHES WHERE view_name = 'plain'"))[0], await stateOf('plain')]).toEqual([
    { view_name: 'plain', state: 'unknown' },
    'used',
  ]);
  expect([await spent(sql), await asked(sql)]).toEqual([rows, { rows, isCached: true }]);
  await service.rows('UNCACHE VIEW plain; DROP VIEW plain', 'shop');
});

it('does not read a table of other types or collations below a view or cube', async () => {
  const below: readonly (readonly [string, string, string, string, string])[] = [
    ['VIEW', 'top', 'ALTER COLUMN n TYPE text', RAW, 'SELECT max(n::text) AS n FROM shop.t_item'],
    ['VIEW', 'notes', 'ALTER COLUMN note TYPE text COLLATE shop.nocase', MAPPING, 'SELECT count(DISTINCT note)::int AS n FROM shop.t_item'],
    ['CUBE', 'counts', 'ALTER COLUMN note TYPE text COLLATE "C"', MAPPING, 'SELECT count(*)::int AS n FROM shop.t_item'],
  ];
  for (const [kind, name, change, text, tables] of below) {
    if (kind === 'CUBE') await service.database.exec('ALTER TABLE shop.t_item ALTER COLUMN note TYPE text COLLATE "POSIX"');
    await service.rows(text, 'shop');
    await service.rows(cache(name, kind), 'shop');
    const sql = `SELECT n FROM vsvc.${name}`;
    expect((await asked(sql)).isCached, name).toBe(true);
    await service.database.exec(`ALTER TABLE shop.t_item ${change}`);
    await service.rows(text, 'shop');
    expect(await asked(sql), name).toEqual({ rows: await service.database.superuser(tables), isCached: false });
    expect(await stateOf(name), name).toBe('changed');
  }
});

it('names nothing that is hidden from the caller in an error', async () => {
  const editor = await service.user(
    'peeker',
    'EDIT ON ontology.shop',
    'EDIT ON datasource.main',
    'QUERY ON ontology.shop.view.peek',
    'QUERY ON ontology.shop.view.peeks',
  );
  await service.rows('CREATE OR REPLACE ONTOLOGY VIEW vaults AS SELECT id, code AS codex FROM dsvc.vault', 'shop');
  const { status, text, json } = await service.query(cache('peek'), 'shop', editor);
  expect([status, json.code], text).toEqual([403, 'view_unreadable']);
  expect(text).not.toMatch(/vault|codex/);
  const cube = await service.query(cache('peeks', 'CUBE'), 'shop', editor);
  expect([cube.status, cube.json.code, cube.json.data]).toEqual([403, 'view_unreadable', expect.stringContaining('the cube `peeks` cannot be read')]);
  expect(cube.text).not.toMatch(/vault|codex/);
  expect(await service.fault('SELECT * FROM vsvc.peek', 'shop', editor)).toBe('403 view_unreadable');
});

it('refuses a column without a collation', async () => {
  const mixed = 'SELECT a || b AS both FROM (SELECT note COLLATE "C" AS a, note COLLATE "POSIX" AS b FROM shop.t_item) q';
  await service.rows(`CREATE ONTOLOGY VIEW mixed USING main AS ${mixed}`, 'shop');
  const { status, json } = await service.query(cache('mixed'), 'shop');
  expect([status, json.code, json.data]).toEqual([400, 'not_supported', expect.stringMatching(/^the rows cannot be cached: a column combines/)]);
});

it('needs EDIT on the datasource of the rows to remove the cache of something that was dropped', async () => {
  await service.rows(`${cache('notes')}; ${cache('counts', 'CUBE')}; ${cache('m_item', 'MAPPING')}`, 'shop');
  await service.rows('DROP VIEW notes; DROP CUBE counts; DROP MAPPING m_item', 'shop');
  const owner = await service.user('owner', 'EDIT ON ALL ontology.shop', 'QUERY ON ALL ontology.shop');
  for (const object of ['VIEW notes', 'CUBE counts', 'MAPPING m_item']) {
    expect(await service.fault(`UNCACHE ${object}`, 'shop', owner), object).toBe('403 forbidden');
    await service.rows(`UNCACHE ${object}`, 'shop');
  }
});
