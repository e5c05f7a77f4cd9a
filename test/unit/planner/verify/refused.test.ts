/** Refused statements, each with its reason. */
import { describe, expect, it } from 'vitest';
import { RefusedByVerifier, Verified, verify } from '../../../../src/planner/verify/index.ts';
import { declared, parser, reason } from './verified.ts';

const REFUSED: Readonly<Record<string, readonly (readonly [sql: string, reason: string])[]>> = {
  'what is not one SELECT': [
    ['', 'statement:0 statements'],
    ['SELECT 1; SELECT 2', 'statement:2 statements'],
    ['SELECT (', 'syntax:parser'],
    ['DELETE FROM s.t', 'statement:DeleteStmt'],
    ['INSERT INTO s.t VALUES (1)', 'statement:InsertStmt'],
    ['UPDATE s.t SET a = 1', 'statement:UpdateStmt'],
    ['MERGE INTO s.t USING s.u ON true WHEN MATCHED THEN DELETE', 'statement:MergeStmt'],
    ['EXPLAIN ANALYZE SELECT 1', 'statement:ExplainStmt'],
    ['COPY s.t TO PROGRAM $$x$$', 'statement:CopyStmt'],
    ['SET ROLE postgres', 'statement:VariableSetStmt'],
    ['CREATE TABLE x AS SELECT 1', 'statement:CreateTableAsStmt'],
    ['DO $$ BEGIN END $$', 'statement:DoStmt'],
    ['CALL f()', 'statement:CallStmt'],
    ["EXECUTE x('1')", 'statement:ExecuteStmt'],
    ['DECLARE x CURSOR FOR SELECT 1', 'statement:DeclareCursorStmt'],
  ],
  'what writes or locks': [
    ['SELECT a INTO x FROM s.t', 'member:SelectStmt.intoClause'],
    ['SELECT a FROM s.t FOR UPDATE', 'member:SelectStmt.lockingClause'],
    ['SELECT 1 FROM (SELECT a FROM s.t FOR SHARE) x', 'member:SelectStmt.lockingClause'],
    ['(SELECT a FROM s.t FOR UPDATE) UNION SELECT 1', 'member:SelectStmt.lockingClause'],
    ['WITH x AS (DELETE FROM s.t RETURNING a) SELECT a FROM x', 'statement:DeleteStmt'],
    ['WITH x AS (INSERT INTO s.t VALUES (1) RETURNING a) SELECT a FROM x', 'statement:InsertStmt'],
    ['SELECT 1 FROM (WITH x AS (UPDATE s.t SET a = 1 RETURNING a) SELECT a FROM x) y', 'statement:UpdateStmt'],
  ],
  relations: [
    ['SELECT 1 FROM s.other', 'relation:s.other'],
    ['SELECT 1 FROM S.T', 'passes'],
    ['SELECT 1 FROM "S".t', 'relation:S.t'],
    ['SELECT 1 FROM "s.t"', 'relation:s.t'],
    ['SELECT 1 FROM other.t', 'relation:other.t'],
    ['SELECT 1 FROM t', 'relation:t'],
    ['SELECT 1 FROM pg_class', 'relation:pg_class'],
    ['SELECT 1 FROM pg_catalog.pg_class', 'relation:pg_catalog.pg_class'],
    ['SELECT 1 FROM db.s.t', 'member:RangeVar.catalogname'],
    ['SELECT 1 FROM s.t, s.other', 'relation:s.other'],
    ['SELECT 1 WHERE EXISTS (SELECT 1 FROM pg_authid)', 'relation:pg_authid'],
    ['SELECT 1 FROM s.t JOIN (SELECT 1 FROM pg_shadow) x ON true', 'relation:pg_shadow'],
    ['SELECT 1 FROM ONLY s.t', 'relation:ONLY t'],
    ['SELECT 1 FROM s.t TABLESAMPLE system (1)', 'node:RangeTableSample'],
    ["SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS x int)", 'node:RangeTableFunc'],
    ["SELECT 1 FROM JSON_TABLE('{}', '$' COLUMNS (x int)) j", 'node:JsonTable'],
    ['TABLE pg_class', 'relation:pg_class'],
  ],
  'columns of a table further out, by a name that the inner query does not have': [
    // PostgreSQL names the column x, so the name of the type is looked up in the outer query
    ['SELECT (SELECT max(bool) FROM (SELECT (x.*)::text::bool FROM (SELECT 1 AS a) x) q) FROM s.u', 'column:bool'],
    ['SELECT ARRAY(SELECT 1 AS secret UNION ALL SELECT 2 LIMIT secret) FROM s.u', 'column:secret'],
    ['SELECT ARRAY(SELECT 1 AS secret EXCEPT SELECT 2 OFFSET secret) FROM s.u', 'column:secret'],
    ['SELECT (SELECT secret FROM coalesce(t, t) secret) FROM s.t, s.u', 'column:secret'],
    ['SELECT (SELECT secret FROM nullif(t, t) secret) FROM s.t, s.u', 'column:secret'],
    ['SELECT (SELECT secret FROM greatest(t, t) secret) FROM s.t, s.u', 'column:secret'],
    ['SELECT (SELECT secret FROM unnest(ARRAY[t]) secret) FROM s.t, s.u', 'column:secret'],
    ['SELECT (SELECT secret FROM unnest(ARRAY[x.*]) secret) FROM s.t x, s.u', 'column:secret'],
    ['SELECT (SELECT secret FROM pg_catalog.unnest(ARRAY[t]) secret) FROM s.t, s.u', 'column:secret'],
    ['SELECT (SELECT count(unnest) FROM unnest(ARRAY[t.*], ARRAY[t.*]) x) FROM s.t, s.u', 'column:unnest'],
    ['SELECT (SELECT column1 FROM (SELECT) x, LATERAL (VALUES (x.*)) q) FROM s.u', 'column:column1'],
  ],
  'common table expressions out of their scope': [
    // inside of its own query the name means a system catalog
    ['WITH pg_class AS (SELECT relname FROM pg_class) SELECT relname FROM pg_class', 'relation:pg_class'],
    ['WITH x AS (SELECT 1 FROM y), y AS (SELECT 1) SELECT 1 FROM x', 'relation:y'],
    ['SELECT 1 FROM (WITH x AS (SELECT 1) SELECT 1 FROM x) q, x', 'relation:x'],
    ['(WITH x AS (SELECT 1) SELECT 1 FROM x) UNION SELECT 1 FROM x', 'relation:x'],
    ['WITH x AS (SELECT 1) SELECT 1 FROM s.x', 'relation:s.x'],
  ],
  functions: [
    ['SELECT pg_sleep(1)', 'function:pg_sleep'],
    ['SELECT pg_catalog.pg_sleep(1)', 'function:pg_catalog.pg_sleep'],
    ['SELECT "Upper"(a) FROM s.t', 'function:Upper'],
    ['SELECT s.upper(a) FROM s.t', 'function:s.upper'],
    ['SELECT ext.g(1)', 'function:ext.g'],
    ['SELECT db.ext.f(1)', 'function:db.ext.f'],
    ['SELECT information_schema._pg_truetypid(a) FROM s.t', 'function:information_schema._pg_truetypid'],
    ["SELECT current_setting('x')", 'function:current_setting'],
    ["SELECT query_to_xml('SELECT 1', true, true, '')", 'function:query_to_xml'],
    ["SELECT ts_stat('SELECT 1')", 'function:ts_stat'],
    ["SELECT regclass('pg_class')", 'function:regclass'],
    ["SELECT a FROM s.t WHERE a = (SELECT has_table_privilege('x', 'y'))", 'function:has_table_privilege'],
    ['SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL) FROM s.t', 'function:pg_sleep'],
    ['SELECT sum(a) OVER (ORDER BY txid_current()) FROM s.t', 'function:txid_current'],
    ['SELECT sum(a) OVER w FROM s.t WINDOW w AS (PARTITION BY version())', 'function:version'],
    ['SELECT sum(a ORDER BY version()) FROM s.t', 'function:version'],
    ['SELECT 1 FROM pg_ls_dir($$.$$)', 'function:pg_ls_dir'],
    ['SELECT 1 FROM ROWS FROM (generate_series(1, 2), pg_ls_dir($$.$$))', 'function:pg_ls_dir'],
    ['SELECT 1 FROM s.t GROUP BY GROUPING SETS ((a), (version()))', 'function:version'],
    ['SELECT 1 FROM s.t ORDER BY version()', 'function:version'],
    ['SELECT 1 LIMIT length(version())', 'function:version'],
    ['SELECT DISTINCT ON (version()) 1', 'function:version'],
    ['VALUES (1), (version())', 'function:version'],
    ['SELECT CASE WHEN true THEN version() END', 'function:version'],
    ['SELECT ARRAY[version()]', 'function:version'],
    ['SELECT (ARRAY[1])[length(version())]', 'function:version'],
    ['SELECT 1 FROM s.t JOIN s.u ON version() IS NULL', 'function:version'],
    ["SELECT JSON_VALUE('{}', '$' PASSING version() AS x)", 'function:version'],
    ['SELECT JSON_OBJECT(version() : 1)', 'function:version'],
    ['SELECT JSON_ARRAY(SELECT version())', 'function:version'],
    ['SELECT JSON_ARRAYAGG(a ORDER BY version()) FROM s.t', 'function:version'],
    ["SELECT JSON_VALUE('{}', '$' DEFAULT version() ON EMPTY)", 'function:version'],
    ['WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n + length(version()) FROM x) SELECT 1 FROM x', 'function:version'],
    ['SELECT COLLATION FOR (a) FROM s.t', 'function:pg_catalog.pg_collation_for'],
    ['SELECT SYSTEM_USER', 'function:pg_catalog.system_user'],
    ['SELECT XMLEXISTS($$/a$$ PASSING $$<a/>$$)', 'function:pg_catalog.xmlexists'],
  ],
  'pg_typeof next to other types': [
    ['SELECT pg_typeof(1)', 'function:pg_typeof'],
    ['SELECT pg_typeof(1) = $$x$$', 'function:pg_typeof'],
    ['SELECT CASE WHEN true THEN $$x$$ ELSE pg_typeof(1) END', 'function:pg_typeof'],
    ['SELECT pg_typeof(pg_typeof(1))::text', 'function:pg_typeof'],
    ['SELECT pg_typeof(1)::text[]', 'function:pg_typeof'],
    ['SELECT pg_typeof(1)::varchar', 'function:pg_typeof'],
    ['SELECT (pg_typeof(1) COLLATE "C")::text', 'function:pg_typeof'],
    ['SELECT coalesce(pg_typeof(1), $$x$$)::text', 'function:pg_typeof'],
    ['SELECT 1 FROM pg_typeof(1) x', 'function:pg_typeof'],
    ['SELECT t.pg_typeof FROM s.t', 'field:pg_typeof'],
  ],
  'values of the session': [
    ['SELECT current_user', 'value:SVFOP_CURRENT_USER'],
    ['SELECT session_user', 'value:SVFOP_SESSION_USER'],
    ['SELECT user', 'value:SVFOP_USER'],
    ['SELECT current_role', 'value:SVFOP_CURRENT_ROLE'],
    ['SELECT current_catalog', 'value:SVFOP_CURRENT_CATALOG'],
    ['SELECT current_schema', 'value:SVFOP_CURRENT_SCHEMA'],
    ['SELECT 1 FROM current_user', 'value:SVFOP_CURRENT_USER'],
  ],
  operators: [
    ['SELECT 1 OPERATOR(s.+) 2', 'operator:s.+'],
    ['SELECT 1 OPERATOR(pg_temp.+) 2', 'operator:pg_temp.+'],
    ['SELECT 1 <#> 2', 'operator:<#>'],
    ['SELECT 1 = OPERATOR(s.-) 2', 'operator:s.-'],
    ['SELECT a FROM s.t ORDER BY a USING OPERATOR(s.<)', 'operator:s.<'],
    ['SELECT 1 OPERATOR(s.=) ANY (ARRAY[1])', 'operator:s.='],
    ['SELECT 1 OPERATOR(s.=) ANY (SELECT 1)', 'operator:s.='],
    ['SELECT 1 + 2 OPERATOR(s.+) 3 + 4', 'operator:s.+'],
  ],
  types: [
    ["SELECT 'x'::regclass", 'type:regclass'],
    ["SELECT CAST('x' AS pg_catalog.regclass)", 'type:pg_catalog.regclass'],
    ["SELECT regclass 'x'", 'type:regclass'],
    ["SELECT '{x}'::regclass[]", 'type:regclass'],
    ["SELECT '{x}'::_regclass", 'type:_regclass'],
    ['SELECT \'x\'::"Text"', 'type:Text'],
    ["SELECT 'x'::s.t", 'type:s.t'],
    ["SELECT 'x'::t", 'type:t'],
    ["SELECT '<a/>'::xml", 'type:xml'],
    ["SELECT '1'::money", 'type:money'],
    ["SELECT '1'::oid", 'type:oid'],
    ["SELECT '=r/x'::aclitem", 'type:aclitem'],
    ["SELECT '(1)'::record", 'type:record'],
    ["SELECT x.a FROM json_to_record('{}') AS x (a regclass)", 'type:regclass'],
    ["SELECT 1 FROM ROWS FROM (json_to_record('{}') AS (a regrole)) x", 'type:regrole'],
    ["SELECT JSON_VALUE('{}', '$' RETURNING regclass)", 'type:regclass'],
    ['SELECT JSON_OBJECT() IS NULL, JSON_SERIALIZE($$1$$ RETURNING regtype)', 'type:regtype'],
    [
      "WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n FROM x) CYCLE n SET c TO regclass 'a' DEFAULT regclass 'b' USING p SELECT 1 FROM x",
      'type:regclass',
    ],
    ["SELECT '1'::numeric(a) FROM s.t", 'type:pg_catalog.numeric with ColumnRef'],
  ],
  collations: [
    ['SELECT a COLLATE "x" FROM s.t', 'collation:x'],
    ['SELECT a COLLATE s."C" FROM s.t', 'collation:s.C'],
    ['SELECT a COLLATE "en_US.utf8" FROM s.t', 'collation:en_US.utf8'],
    ['SELECT x.a FROM json_to_record($${}$$) AS x (a text COLLATE "x")', 'collation:x'],
  ],
  parameters: [
    ['SELECT $3', 'parameter:$3'],
    ['SELECT $0', 'parameter:$0'],
    ['SELECT 1 LIMIT $99', 'parameter:$99'],
  ],
  'XML and other syntax': [
    ['SELECT XMLELEMENT(NAME a)', 'node:XmlExpr'],
    ["SELECT XMLPARSE(DOCUMENT '<a/>')", 'node:XmlExpr'],
    ["SELECT 'x' IS DOCUMENT", 'node:XmlExpr'],
    ["SELECT XMLSERIALIZE(CONTENT '<a/>' AS text)", 'node:XmlSerialize'],
    ['VALUES (DEFAULT)', 'node:SetToDefault'],
  ],
};

describe.each(Object.entries(REFUSED))('%s', (_, cases) => {
  it.each(cases)('%s', (sql, expected) => expect(reason(sql)).toBe(expected));
});

describe('fields that are not columns', () => {
  const FIELDS: readonly (readonly [sql: string, reason: string])[] = [
    ["SELECT ('x').current_setting", 'field:current_setting'],
    ["SELECT ('x').upper", 'field:upper'],
    ["SELECT ('x'::text).regclass", 'field:regclass'],
    ['SELECT (NULL::int4).pg_stat_get_activity', 'field:pg_stat_get_activity'],
    ["SELECT ('SELECT 1').ts_stat", 'field:ts_stat'],
    ["SELECT (('SELECT 1').ts_stat).*", 'field:ts_stat'],
    ["SELECT ('x').*", 'field:*'],
    ['SELECT $$x$$ = ((\'x\')."upper")', 'field:upper'],
    ['SELECT ($1).current_setting', 'field:current_setting'],
    ['SELECT $1.current_setting', 'field:current_setting'],
    ['SELECT (a).upper FROM s.t', 'field:upper'],
    ['SELECT t.upper FROM s.t', 'field:upper'],
    ['SELECT (t).upper FROM s.t', 'field:upper'],
    ['SELECT (t.*).upper FROM s.t', 'field:upper'],
    ['SELECT s.t.upper FROM s.t', 'field:upper'],
    ['SELECT t.pg_column_size FROM s.t', 'field:pg_column_size'],
    ['SELECT t.ctid FROM s.t', 'field:ctid'],
    ['SELECT t.text FROM s.t', 'field:text'],
    // a table may have a column with the name of the table
    ['SELECT (t).a FROM s.t', 'field:a'],
    ['SELECT (t.a).md5 FROM s.t', 'field:md5'],
    ['SELECT x.upper FROM (SELECT a FROM s.t) x', 'field:upper'],
    ['SELECT (x).upper FROM (SELECT a FROM s.t) x', 'field:upper'],
    ['SELECT (x.*).row_to_json FROM (SELECT 1 AS a) x', 'field:row_to_json'],
    ['SELECT (x.a).upper FROM (SELECT $$x$$ AS a) x', 'field:upper'],
    ['SELECT x.a FROM (SELECT 1 AS a) x (b)', 'field:a'],
    ['SELECT x.md5 FROM (SELECT t.* FROM s.t) x (md5, a)', 'passes'],
    ['SELECT x.upper FROM (SELECT * FROM s.t) x', 'field:upper'],
    ['SELECT x.upper FROM (SELECT * FROM s.t JOIN s.t y USING (a)) x', 'field:upper'],
    ['WITH x AS (SELECT 1 AS a) SELECT x.upper FROM x', 'field:upper'],
    ['WITH x (b) AS (SELECT 1 AS a) SELECT x.a FROM x', 'field:a'],
    ['WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT x.upper FROM x) SELECT n FROM x', 'field:upper'],
    ['WITH RECURSIVE x (n) AS (SELECT y.n FROM y), y (n) AS (SELECT 1) SELECT n FROM x', 'field:n'],
    ['SELECT x.a FROM (SELECT 1 AS b UNION SELECT 2 AS a) x', 'field:a'],
    ['SELECT v.upper FROM (VALUES ($$x$$)) v', 'field:upper'],
    ['SELECT v.column2 FROM (VALUES ($$x$$)) v', 'field:column2'],
    ["SELECT v.f1 FROM (VALUES (ROW('x'))) v (r)", 'field:f1'],
    ['SELECT (ROW(1, 2)).f3', 'field:f3'],
    ['SELECT (ROW(1, 2)).pg_column_size', 'field:pg_column_size'],
    ['SELECT ((ROW(1, ROW(2))).f2).f1', 'field:f1'],
    ['SELECT ((x.r).f1).pg_column_size FROM (SELECT ROW(y) AS r FROM (SELECT 1 AS pg_column_size) y) x', 'field:pg_column_size'],
    ["SELECT (jsonb_each('{}')).upper", 'field:upper'],
    ["SELECT (jsonb_each('{}')).f1", 'field:f1'],
    ["SELECT (jsonb_array_elements('[]')).value", 'field:value'],
    ["SELECT (jsonb_array_elements_text('[]')).upper", 'field:upper'],
    ['SELECT (ext.f(1)).upper', 'field:upper'],
    ['SELECT (upper($$x$$)).md5', 'field:md5'],
    ['SELECT (max(a)).md5 FROM s.t', 'field:md5'],
    ['SELECT ((SELECT x FROM (SELECT 1 AS pg_column_size) x)).pg_column_size', 'field:pg_column_size'],
    ['SELECT (SELECT $$x$$::text).upper', 'field:upper'],
    ['SELECT (VALUES ($$x$$)).upper', 'field:upper'],
    ['SELECT (ARRAY[$$x$$])[1].upper', 'field:upper'],
    ['SELECT (CASE WHEN true THEN x END).a FROM (SELECT 1 AS a) x', 'field:a'],
    ['SELECT (coalesce(x, x)).a FROM (SELECT 1 AS a) x', 'field:a'],
    ['SELECT (a || b).md5 FROM s.t', 'field:md5'],
    ['SELECT (a COLLATE "C").md5 FROM s.t', 'field:md5'],
    // the alias of a function means its value, or the row of its columns
    ['SELECT u.upper FROM unnest(ARRAY[$$x$$]) u', 'field:upper'],
    ['SELECT (u).u FROM unnest(ARRAY[$$x$$]) u', 'field:u'],
    ['SELECT (u.*).u FROM unnest(ARRAY[$$x$$]) u', 'field:u'],
    ['SELECT (u).a FROM unnest(ARRAY[$$x$$]) u (a)', 'field:a'],
    ["SELECT current_setting.current_setting FROM jsonb_array_elements_text('[]') current_setting", 'field:current_setting'],
    ["SELECT e.e FROM jsonb_each('{}') e", 'field:e'],
    ["SELECT pg_column_size.pg_column_size FROM json_populate_record(NULL::json, '{}') pg_column_size", 'field:pg_column_size'],
    ['SELECT pg_column_size.pg_column_size FROM unnest($1::json[]) pg_column_size', 'field:pg_column_size'],
    // a function of the datasource may have any result column
    ['SELECT f.f FROM ext.f(1)', 'field:f'],
    ['SELECT x.x FROM ext.f(1) x', 'field:x'],
    ['SELECT x.b FROM ext.f(1) x (a)', 'field:b'],
    ['SELECT x.b FROM json_to_record($${}$$) AS x (a int)', 'field:b'],
    ['SELECT r.upper FROM ROWS FROM (unnest(ARRAY[$$x$$]), generate_series(1, 2)) r', 'field:upper'],
    ['SELECT r.r FROM unnest(ARRAY[1]) WITH ORDINALITY r (n)', 'field:r'],
    ['SELECT j.c FROM (SELECT 1 AS a) x JOIN (SELECT 1 AS a, 2 AS c) y USING (a) AS j', 'field:c'],
    ['SELECT j.d FROM ((SELECT 1 AS a) x CROSS JOIN (SELECT 2 AS c) y) AS j', 'field:d'],
  ];
  it.each(FIELDS)('%s', (sql, expected) => expect(reason(sql)).toBe(expected));
});

describe('names that mean nothing', () => {
  it.each([
    ['SELECT z FROM s.t', 'column:z'],
    ['SELECT ctid FROM s.t', 'column:ctid'],
    ['SELECT tableoid FROM s.t', 'column:tableoid'],
    ['SELECT a', 'column:a'],
    ['SELECT a FROM (SELECT 1 AS b) x', 'column:a'],
    ['SELECT x FROM (SELECT 1 AS y) z', 'column:x'],
    ['SELECT x.a FROM s.t', 'qualifier:x'],
    ['SELECT u.t.a FROM s.t', 'qualifier:u.t'],
    ['SELECT s.x.a FROM s.t x', 'qualifier:s.x'],
    ['SELECT db.s.t.a FROM s.t', 'qualifier:db.s.t'],
    ['SELECT x.* FROM s.t', 'qualifier:x'],
    ['SELECT x.a FROM (s.t x CROSS JOIN s.u y) AS j', 'qualifier:x'],
    ['SELECT 1 FROM s.t x, (SELECT x.a) y', 'qualifier:x'],
    ['SELECT 1 FROM s.t x JOIN s.u y ON y.a = z.a JOIN s.t z ON true', 'qualifier:z'],
    ['SELECT 1 FROM s.t z, s.t x JOIN s.u y ON y.a = z.a', 'qualifier:z'],
    ['SELECT 1 FROM (SELECT 1 AS q) x WHERE EXISTS (SELECT w.q)', 'qualifier:w'],
    ['SELECT a FROM s.t UNION SELECT b FROM s.u ORDER BY b', 'column:b'],
    ['SELECT 1 FROM s.t JOIN s.u USING (z)', 'column:z'],
    ['SELECT 1 FROM s.t JOIN (SELECT 1 AS b) x USING (a)', 'column:a'],
    ['SELECT 1 FROM s.t JOIN s.u USING (ctid)', 'column:ctid'],
    ['SELECT 1 AS n FROM s.t WHERE n = 1', 'column:n'],
    ['SELECT 1 AS n FROM s.t HAVING n = 1', 'column:n'],
  ])('%s', (sql, expected) => expect(reason(sql)).toBe(expected));
});

describe('a deep statement', () => {
  const nested = (n: number): string => `SELECT ${'abs('.repeat(n)}1${')'.repeat(n)}`;
  it('is refused before the stack overflows', () => {
    expect(reason(nested(500))).toBe('passes');
    expect(reason(nested(700))).toBe('too_complex:depth');
    expect(reason(nested(20_000))).toBe('too_complex:parser');
    expect(reason(`SELECT ${'(SELECT '.repeat(400)}1${')'.repeat(400)}`)).toBe('too_complex:depth');
    expect(reason(`${'SELECT 1 FROM ('.repeat(400)}SELECT 1${') x'.repeat(400)}`)).toBe('too_complex:depth');
    expect(reason(`SELECT ${'NOT '.repeat(1000)}true`)).toBe('too_complex:depth');
  });

  it('is refused if stars expand to too many columns', () => {
    const doubled = (n: number): string =>
      `WITH c0 AS (SELECT 1 AS a)${Array.from({ length: n }, (_, i) => `, c${i + 1} AS (SELECT x.*, y.* FROM c${i} x, c${i} y)`).join('')} SELECT 1 FROM c${n}`;
    expect(reason(doubled(5))).toBe('passes');
    expect(reason(doubled(40))).toBe('too_complex:columns');
  });

  it('is accepted if it only leans to the left', () => {
    expect(reason(`SELECT 1${' + 1'.repeat(3000)}`)).toBe('passes');
    expect(reason(`SELECT 1${' UNION ALL SELECT 1'.repeat(2000)}`)).toBe('passes');
    expect(reason(`SELECT 1 FROM s.t a0${Array.from({ length: 500 }, (_, i) => ` JOIN s.t a${i + 1} ON true`).join('')}`)).toBe('passes');
    expect(reason(`SELECT 1${' + 1'.repeat(3000)} + version()`)).toBe('function:version');
    expect(reason(`SELECT version()${' + 1'.repeat(3000)}`)).toBe('function:version');
    expect(reason(`SELECT version()${' UNION ALL SELECT 1'.repeat(2000)}`)).toBe('function:version');
  });
});

describe('a refusal', () => {
  it('contains a name, and nothing else of the statement', () => {
    const secret = 'SELECT pg_sleep(1) FROM s.t WHERE a = $$a secret value$$';
    let caught: unknown;
    try {
      verify(parser, secret, declared);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(RefusedByVerifier);
    const { kind, reason: why, message, cause } = caught as RefusedByVerifier;
    expect({ kind, why, message, cause }).toEqual({
      kind: 'function',
      why: 'function:pg_sleep',
      message: 'refused by the verifier (function:pg_sleep)',
      cause: undefined,
    });
  });

  it('of bad syntax contains nothing of the text', () => expect(reason("SELECT 'secret' FROM FROM")).toBe('syntax:parser'));
  it('truncates long names', () => expect(reason(`SELECT ${'"x".'.repeat(200)}"f"(1)`).length).toBeLessThan(150));
});

describe('a verified statement', () => {
  it('is made only by verify', () => {
    const passed = verify(parser, 'SELECT a FROM s.t', declared);
    expect(passed.sql).toBe('SELECT a FROM s.t');
    expect([passed, { ...passed }, Object.create(passed), { sql: 'SELECT 1' }, null, 'x'].map((v) => Verified.is(v))).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    // @ts-expect-error an object of the same form does not have the type
    const forged: Verified = { sql: 'SELECT 1' };
    expect(Verified.is(forged)).toBe(false);
    // @ts-expect-error the constructor is private
    expect(() => new Verified('SELECT 1', Symbol('passed'))).toThrow(TypeError);
    expect(() => Verified.of('SELECT 1', Symbol('passed'))).toThrow(TypeError);
  });
});

describe('system tables', () => {
  it('are refused even if they are declared', () => {
    const tables = [
      ['pg_catalog', 'pg_class'],
      ['information_schema', 'tables'],
      ['kg_catalog', 'users'],
      ['pg_toast', 'x'],
    ] as const;
    for (const [schema, name] of tables)
      expect(reason(`SELECT 1 FROM ${schema}.${name}`, { tables: [{ schema, name, columns: new Set(), isWhole: true }] })).toBe(`relation:${schema}.${name}`);
  });
});
