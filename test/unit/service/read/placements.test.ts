/** What the SELECTs of tables of cubes and views, and checks of data, need on Citus. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { type DataContext, DataReader } from '../../../../src/checks/reader.ts';
import { parseDatasourceSecret } from '../../../../src/engine/datasource.ts';
import { forgetRoles, fromProbe, knownRole, rememberRole } from '../../../../src/engine/settings.ts';
import { cubeSelect } from '../../../../src/planner/cached/select.ts';
import { viewSelect } from '../../../../src/planner/cached/views.ts';
import type { Placements } from '../../../../src/planner/index.ts';
import { targetFor } from '../../../../src/planner/lower/placed.ts';
import { verify } from '../../../../src/planner/verify/index.ts';
import { sqlFor, targetNow } from '../../../../src/service/read/placements.ts';
import { type Answer, fake, rowsAnswer, shown } from '../../engine/fake.ts';
import { context } from '../../planner/company.ts';

const MAIN = { name: 'main', ...parseDatasourceSecret('postgres://u:p@h.example/d') };
const DISTRIBUTED = [['citus.shard_count', '32', 'x'], ...shown()];

const { parser } = context;
const graph = graphOf(
  `CREATE CONCEPT a (id bigint, grp bigint, PRIMARY KEY (id));
CREATE CONCEPT b (id bigint, a_id bigint, n bigint, PRIMARY KEY (id), CONSTRAINT of_a FOREIGN KEY (a_id) REFERENCES a (id));
CREATE MAPPING a1 INTO a AS SELECT id, grp FROM raw.a1;
CREATE MAPPING a2 INTO a AS SELECT id, grp FROM raw.a2;
CREATE MAPPING b1 INTO b AS SELECT id, a_id, n FROM raw.b1;
CREATE MAPPING b2 INTO b AS SELECT id, a_id, n FROM raw.b2;
CREATE VIEW both AS SELECT x.grp, y.n FROM svc.a x JOIN svc.b y ON y.n = x.grp;
CREATE CUBE sums AS SELECT "of_a[a].grp" AS grp, SUM(n) AS n FROM dsvc.b`,
  'g',
  parser,
);
const plans = { ...context, graph };

/** The SELECT of the table of the view or cube. */
function selectOf(name: 'both' | 'sums') {
  const def = graph.view(name)!;
  const select = def.cube ? cubeSelect(plans, def) : viewSelect(plans, def);
  if (typeof select === 'string') throw new Error(select);
  return select;
}
const snapshot = (placed: object | null) => ({ datasources: [{ name: 'main', key: 'main', secret: 'DATASOURCE_MAIN', placed }] }) as never;

/** Lets the datasource answer that these tables are distributed by `id`. */
function place(...names: string[]) {
  const server = fake(rowsAnswer(names.map((t) => JSON.stringify(JSON.stringify([['raw', t], { column: 'id', group: 1 }])))));
  vi.stubGlobal('fetch', server.fetch);
  return server;
}

beforeEach(forgetRoles);
afterEach(() => void vi.unstubAllGlobals());

describe('the SELECT of a table', () => {
  it.each(['both', 'sums'] as const)('of %s reads unions of distributed tables by themselves, and passes the verification', async (name) => {
    place('a1', 'a2', 'b1', 'b2');
    const select = selectOf(name);
    expect(select.sql).not.toContain('OFFSET 0');
    const { sql } = sqlFor(await targetNow(snapshot({ digest: 'x', at: 0 }), MAIN), parser, select);
    expect(sql).toContain('OFFSET 0');
    expect(() => verify(parser, sql, select.declared)).not.toThrow();
    // what decides the digest is the same
    expect(selectOf(name).sql).toBe(select.sql);
  });

  it('is made for tables that may all be distributed if the datasource does not answer', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new Error('gone')));
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!);
    expect(sqlFor(await targetNow(snapshot(null), MAIN), parser, selectOf('both')).sql).toContain('OFFSET 0');
  });

  it('is not changed, and costs no request, on a datasource that is known not to be on Citus', async () => {
    const server = place('a1');
    const select = selectOf('both');
    rememberRole(MAIN, fromProbe(shown())!);
    expect(sqlFor(await targetNow(snapshot(null), MAIN), parser, select).sql).toBe(select.sql);
    expect(server.asked).toHaveLength(0);
  });

  it.each([
    ['on Citus', DISTRIBUTED, true, 2],
    ['not on Citus', shown(), false, 1],
  ])('is made after the settings are read if nothing is known of the datasource, which is %s', async (_, settings, isChanged, requests) => {
    const places = rowsAnswer(['a1', 'a2', 'b1', 'b2'].map((t) => JSON.stringify(JSON.stringify([['raw', t], { column: 'id', group: 1 }]))));
    const server = fake((sent) => {
      const { queries = [] } = sent.body;
      if (!queries.some((q) => q.query === 'SHOW ALL')) return places(sent);
      return new Response(JSON.stringify({ results: queries.map((q) => ({ fields: [], rows: q.query === 'SHOW ALL' ? settings : [] })) }));
    });
    vi.stubGlobal('fetch', server.fetch);
    const select = selectOf('both');
    expect(sqlFor(await targetNow(snapshot(null), MAIN), parser, select).sql.includes('OFFSET 0')).toBe(isChanged);
    expect(server.asked).toHaveLength(requests);
  });

  it('is made after the settings of the role are read, not those that the service sets: the next statement sets what the role lacks', async () => {
    const server = fake(({ body: { queries = [] } }) => {
      // as PostgreSQL: a setting of the transaction is shown in place of that of the role
      const zone = (i: number): string => (queries.slice(0, i).some((q) => /^SET LOCAL "?TimeZone/i.test(q.query)) ? 'UTC' : 'Europe/Berlin');
      return new Response(JSON.stringify({ results: queries.map((q, i) => ({ fields: [], rows: q.query === 'SHOW ALL' ? shown({ 3: zone(i) }) : [] })) }));
    });
    vi.stubGlobal('fetch', server.fetch);
    await targetNow(snapshot(null), MAIN);
    expect(knownRole(MAIN)?.settings).toMatchObject({ TimeZone: 'Europe/Berlin' });
  });
});

describe('a check of data', () => {
  it('is planned for where its datasource has the tables', () => {
    const reader = (targets: DataContext['targets']) =>
      new DataReader({ graph, parser, product: 'svc', activeDatasource: 'main', allowedFunctions: new Set(), datasources: new Map(), targets, timeoutMs: 1 });
    const text = 'SELECT COUNT(*) AS n FROM svc.a x JOIN svc.b y ON y.n = x.grp';
    expect(reader(new Map()).plan(text).sql).not.toContain('OFFSET 0');
    expect(reader(new Map([['main', targetFor(new Map())]])).plan(text).sql).toContain('OFFSET 0');
  });

  /** A reader over a datasource with this layout, which gives these answers, and what it is asked. */
  const asking = (placements: Placements | undefined, ...answers: Parameters<typeof fake>) => {
    const server = fake(...answers);
    vi.stubGlobal('fetch', server.fetch);
    const targets = new Map(placements ? [['main', targetFor(placements)] as const] : []);
    const own = { graph, parser, product: 'svc', activeDatasource: 'main', allowedFunctions: new Set<string>(), datasources: new Map([['main', MAIN]]) };
    const sent = (): string[] => server.asked.map(({ body }) => body.queries?.map((q) => q.query).join(';\n') ?? '');
    return { reader: new DataReader({ ...own, targets, timeoutMs: 1000 }), sent };
  };
  const refused: Answer = () => new Response(JSON.stringify({ code: '0A000', message: 'not supported' }), { status: 400 });
  const CORRELATED = 'SELECT COUNT(*) AS n FROM svc.a x WHERE NOT EXISTS (SELECT 1 FROM svc.b y WHERE y.n = x.grp)';

  it('is planned again as queries are if Citus refuses it, first without correlated sub-queries, then with collected rows', async () => {
    const { reader, sent } = asking(new Map(), refused, refused, rowsAnswer(['"{\\"n\\": 7}"']));
    expect(await reader.count(CORRELATED)).toBe(7);
    expect(sent().map((sql) => [/EXISTS \(SELECT/.test(sql), /raw\.b1 OFFSET 0\)/.test(sql)])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
    const all = asking(new Map(), refused);
    await expect(all.reader.count(CORRELATED)).rejects.toMatchObject({ code: 'feature_not_supported' });
    expect(all.sent()).toHaveLength(3);
    const plain = asking(undefined, refused);
    await expect(plain.reader.count(CORRELATED)).rejects.toMatchObject({ code: 'feature_not_supported' });
    expect(plain.sent()).toHaveLength(1);
  });

  it('is planned again for tables that may all be distributed if a reference table is distributed by now', async () => {
    const near: Placements = new Map([
      ...['a1', 'a2'].map((t) => [JSON.stringify(['raw', t]), { column: 'id', group: 1 }] as const),
      ...['b1', 'b2'].map((t) => [JSON.stringify(['raw', t]), null] as const),
    ]);
    const checked =
      (rows: string): Answer =>
      ({ body }) => {
        const one = '{"fields":[{"name":"row","dataTypeID":114}],"rows":';
        const results = (body.queries ?? []).map(({ query }) => `${one}${query.includes('pg_dist_partition') ? rows : '[["{\\"n\\": 7}"]]'}}`);
        return new Response(`{"results":[${results.join(',')}]}`);
      };
    const text = 'SELECT COUNT(*) AS n FROM svc.a x JOIN svc.b y ON y.n = x.grp';
    const { reader, sent } = asking(near, checked('[["b1"]]'));
    expect(await reader.count(text)).toBe(7);
    expect(sent().map((sql) => [sql.includes('pg_dist_partition'), sql.includes('OFFSET 0')])).toEqual([
      [true, false],
      [false, true],
    ]);
    const same = asking(near, checked('[["b1"],["b2"]]'));
    expect(await same.reader.count(text)).toBe(7);
    expect(same.sent()).toHaveLength(1);
  });
});
