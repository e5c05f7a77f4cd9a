import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { createSqlReader, expressionReferences } from '../../../src/language/expressions.ts';

const parser = await loadNodeParser();
const sqlReader = createSqlReader(parser, 'svc');
const columns = (text: string): string[] | undefined => sqlReader.columnsOf({ text, offset: 0 })?.map((c) => c.name);

describe('columnsOf', () => {
  it.each<[string, string[]]>([
    ['SELECT a, t.B, c AS "D", `e f` FROM t', ['a', 'b', 'D', 'e f']],
    ["SELECT 1, 'x', NULL, a + 1, NOT a", Array(5).fill('?column?')],
    ['SELECT count(*), pg_catalog.upper(a), a::int, 1::int, (a)::text COLLATE "C"', ['count', 'upper', 'a', 'int4', 'a']],
    [
      'SELECT CASE WHEN a THEN 1 END, CASE WHEN a THEN 1 ELSE b END, coalesce(a, 1), nullif(a, 1), greatest(1, 2), least(1, 2)',
      ['case', 'b', 'coalesce', 'nullif', 'greatest', 'least'],
    ],
    [
      'SELECT ARRAY[1], ROW(1), current_date, EXISTS (SELECT 1), ARRAY(SELECT 1), (SELECT x FROM t), (SELECT 1 AS y)',
      ['array', 'row', 'current_date', 'exists', 'array', 'x', 'y'],
    ],
    ['SELECT (a).b, a[1], (a).b[2] FROM t', ['b', 'a', 'b']],
    ['VALUES (1, 2), (3, 4)', ['column1', 'column2']],
    ['SELECT a FROM t UNION ALL SELECT b FROM u', ['a']],
    ['(SELECT a FROM t) EXCEPT SELECT b FROM u ORDER BY 1', ['a']],
    ['SELECT * FROM (SELECT a, b AS c FROM t) x', ['a', 'c']],
    ['SELECT y.*, x.a AS z FROM (SELECT a FROM t) x CROSS JOIN (VALUES (1)) y (v)', ['v', 'z']],
    ['WITH w (p) AS (SELECT a, b FROM t), v AS (SELECT * FROM w) SELECT * FROM v', ['p', 'b']],
    ['WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n', ['i']],
    [`SELECT a AS ${'x'.repeat(80)}, "${'Ä'.repeat(40)}"`, ['x'.repeat(80), 'Ä'.repeat(40)]],
  ])('%s', (sql, expected) => {
    expect(columns(sql)).toEqual(expected);
  });

  it.each([
    'SELECT * FROM t',
    'TABLE t',
    'SELECT t.* FROM a.t',
    'SELECT * FROM (SELECT a FROM t) x JOIN (SELECT a FROM u) y USING (a)',
    'SELECT * FROM unnest(ARRAY[1])',
    'WITH w AS (SELECT 1 AS a) SELECT * FROM s.w',
  ])('%s: unknown', (sql) => {
    expect(columns(sql)).toBeUndefined();
  });
});

describe('expressionReferences', () => {
  const references = (text: string) =>
    expressionReferences(parser, { text, offset: 100 }).map(
      (r) => `${r.qualifier === null ? '' : `${r.qualifier}.`}${r.name}${r.nested ? ' (nested)' : ''} @${text.slice(r.offset - 100).slice(0, 3)}`,
    );

  it('names with their positions, those of sub-queries marked', () => {
    expect(references("upper(Name) || 'größe' || `b c` || t.d")).toEqual(['name @Nam', 'b c @`b ', 't.d @t.d']);
    expect(references('count(*) + sum(DISTINCT x) FILTER (WHERE y > 1)')).toEqual(['x @x) ', 'y @y >']);
    expect(references('a IN (SELECT b FROM t WHERE t.c = a)')).toEqual(['a @a I', 'b (nested) @b F', 't.c (nested) @t.c', 'a (nested) @a)']);
    expect(references('"rel[c].prop" = \'x\' AND true')).toEqual(['rel[c].prop @"re']);
    expect(references('now() > current_timestamp')).toEqual([]);
  });

  it.each(['a, b', 'a FROM t', 'a WHERE b', 'DISTINCT a', 'a UNION SELECT b', 'a ORDER BY 1', 'a LIMIT 1', '', '1; SELECT 2', 'a INTO t', '*'])(
    '%j is not an expression',
    (text) => {
      const fault = () => expressionReferences(parser, { text, offset: 100 });
      if (text === '*') expect(fault()).toEqual([]);
      else expect(fault).toThrow(expect.objectContaining({ code: 'syntax_error', status: 400 }));
    },
  );
});

describe('relationsOf', () => {
  const relations = (text: string): string[] => sqlReader.relationsOf({ text, offset: 0 }).map((r) => `${r.schema ?? ''}.${r.name}`);

  it('all relations but the CTEs in scope', () => {
    expect(relations('SELECT (SELECT 1 FROM a) FROM svc.b JOIN "Vsvc".`c d` USING (x) WHERE EXISTS (SELECT 1 FROM e UNION SELECT 1 FROM f)')).toEqual([
      '.a',
      'svc.b',
      'Vsvc.c d',
      '.e',
      '.f',
    ]);
    expect(relations('WITH w AS (SELECT * FROM w), v AS (SELECT * FROM w) SELECT * FROM v, svc.v, (WITH u AS (SELECT 1) SELECT * FROM u, w) x, u')).toEqual([
      '.w',
      'svc.v',
      '.u',
    ]);
    expect(relations('WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r')).toEqual([]);
  });
});

describe('createSqlReader', () => {
  it('answers too_complex to deep nesting', () => {
    const reader = createSqlReader(parser, 'svc');
    for (const text of [`${'1 + '.repeat(20_000)}1`, `${'('.repeat(5000)}1${')'.repeat(5000)}`, `${'NOT '.repeat(9000)}true`]) {
      try {
        expect(reader.referencesOf({ text, offset: 0 }, 'expression')).toEqual([]);
      } catch (e) {
        expect(e).toMatchObject({ status: 400, code: 'too_complex' });
      }
    }
    expect(reader.referencesOf({ text: 'a', offset: 0 }, 'expression')).toMatchObject([{ name: 'a' }]);
  });
});
