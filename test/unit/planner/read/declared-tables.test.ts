/** The tables and columns that texts of mappings and raw views declare. */
import type { SelectStmt } from '@pgsql/types';
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { DeclaredTables } from '../../../../src/planner/read/declared-tables.ts';
import { tableQuery } from '../../../../src/planner/read/tables.ts';

const parser = await loadNodeParser();

/** The tables of a text. A star marks those that it names as a whole. */
function declared(sql: string): string[] {
  const stmt = (parser.parse(sql).stmts[0] as { stmt: { SelectStmt: SelectStmt } }).stmt.SelectStmt;
  return tableQuery(stmt).tables.map((t) => `${t.schema}.${t.name}${t.isWhole ? '*' : ''}(${[...t.columns]})`);
}

describe('a text declares', () => {
  it.each([
    ['SELECT id, x.name FROM shop.a AS x', ['shop.a(name)']],
    ['SELECT * FROM a', ['public.a*()']],
    ['SELECT count(*) FROM a', ['public.a()']],
    ['SELECT a.*, b.id FROM a, b', ['public.a*()', 'public.b(id)']],
    ['SELECT to_json(x) FROM a x, b', ['public.a*()', 'public.b()']],
    ['SELECT (x).id, x.* FROM a x', ['public.a*(id)']],
    ['SELECT (x).id FROM a x', ['public.a(id)']],
    ['SELECT ROW(x.*) FROM a x', ['public.a*()']],
    ['SELECT a.id FROM a NATURAL JOIN b', ['public.a*(id)', 'public.b*()']],
    ['SELECT j.id FROM (a JOIN b USING (id)) j', ['public.a(id)', 'public.b(id)']],
    ['SELECT j FROM (a JOIN b USING (id)) j', ['public.a*()', 'public.b*()']],
    ['SELECT x.id FROM (SELECT * FROM a) x, b', ['public.a*()', 'public.b()']],
    ['SELECT (SELECT a FROM b) FROM a', ['public.a*()', 'public.b()']],
    ['SELECT x.id FROM a CROSS JOIN LATERAL (SELECT a.id) x', ['public.a(id)']],
    ['WITH a AS (SELECT 1 AS id) SELECT * FROM a, b', ['public.b*()']],
    ['SELECT id FROM a UNION SELECT * FROM b', ['public.a()', 'public.b*()']],
    ['SELECT s.a.*, u.a.id FROM s.a, u.a', ['s.a*(id)', 'u.a*(id)']],
    ['SELECT x.i FROM a AS x (i, n)', ['public.a(i,n)']],
  ])('%s', (sql, tables) => {
    expect(declared(sql)).toEqual(tables);
  });
});

describe('a system column', () => {
  it.each([
    'SELECT x.ctid FROM a x, (SELECT 1 AS ctid) y',
    'SELECT (SELECT ctid FROM a) FROM (SELECT 1 AS ctid) y',
    'SELECT (SELECT 1 WHERE ctid IS NULL) FROM a, (SELECT 1 AS ctid) y',
    'SELECT id AS ctid FROM a ORDER BY ctid::text',
    'SELECT j.xmin FROM (a JOIN b USING (id)) j, (SELECT 1 AS xmin) y',
  ])('is refused even if another column has the same name: %s', (sql) => {
    expect(() => declared(sql)).toThrow(expect.objectContaining({ code: 'forbidden_column' }));
  });

  it.each(['SELECT y.ctid FROM a, (SELECT 1 AS ctid) y', 'SELECT ctid FROM (SELECT 1 AS ctid FROM a) y'])(
    'is accepted as a column of a sub-select: %s',
    (sql) => {
      expect(declared(sql)).toEqual(['public.a()']);
    },
  );
});

describe('tables of several texts', () => {
  it('have the columns of each', () => {
    const tables = new DeclaredTables();
    const table = { schema: 's', name: 't', columns: new Set(['a']), isWhole: false };
    tables.add(table, [new Set(['b'])]);
    tables.add({ ...table, columns: new Set(), isWhole: true }, [new Set(['c'])]);
    tables.add({ ...table, name: 'u' }, []);
    const [t, u] = tables.all;
    expect(['a', 'b', 'c', 'd'].map((name) => t?.columns.has(name))).toEqual([true, true, true, false]);
    expect([t?.isWhole, u?.isWhole, u?.columns.has('b')]).toEqual([true, false, false]);
  });
});
