import type { Node, SelectStmt } from '@pgsql/types';
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { SvcError } from '../../../../src/errors.ts';
import { printExpression, printSelect } from '../../../../src/planner/print/index.ts';
import { MAX_DEPTH } from '../../../../src/planner/print/sink.ts';
import { CORPUS } from '../print-corpus.ts';
import { withoutPlaces } from '../print-tree.ts';

const parser = await loadNodeParser();

function tree(sql: string): SelectStmt {
  const node = parser.parse(sql).stmts[0]?.stmt;
  if (node === undefined || !('SelectStmt' in node)) throw new Error(`no SELECT: ${sql}`);
  return node.SelectStmt;
}

/** The status and code of the SvcError that `run` throws, or the result of `run`. */
function outcome(run: () => string): string {
  try {
    return run();
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    return `${e.status} ${e.code}`;
  }
}

const text = (sql: string): string => printSelect(tree(sql));
const column = (name: string): Node => ({ ColumnRef: { fields: [{ String: { sval: name } }] } });
const binary = (op: string, lexpr: Node, rexpr: Node): Node => ({ A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: op } }], lexpr, rexpr } });

describe('round trips', () => {
  it('has a corpus of at least 200 queries', () => expect(new Set(CORPUS).size).toBeGreaterThanOrEqual(200));

  it.each(CORPUS)('%s', (sql) => {
    const before = tree(sql);
    const printed = printSelect(before);
    expect(withoutPlaces(tree(printed)), printed).toEqual(withoutPlaces(before));
    expect(text(printed)).toBe(printed);
  });
});

describe('text', () => {
  it.each([
    ['select A, "B", "select", "über", "a b" from "T"', 'SELECT a, "B", "select", "über", "a b" FROM "T"'],
    ["select 'a', 'it''s', 'a\\b', e'\\n'", "SELECT 'a', 'it''s', E'a\\\\b', '\n'"],
    ['select a - -1, -1::int, (-1)::int', 'SELECT a - (-1), - 1::integer, (-1)::integer'],
    ['select a fetch first 2 rows only', 'SELECT a LIMIT 2'],
    ['select a from t order by a fetch first 2 rows with ties', 'SELECT a FROM t ORDER BY a FETCH FIRST (2) ROWS WITH TIES'],
    ['select (array[1,2,3])[2:3]', 'SELECT (ARRAY[1, 2, 3])[2:3]'],
    ['select 0xFFFFFFFFFF, -0o7777777777777, 1_0, 1_000.5, 0x1F', 'SELECT 1099511627775, -549755813887, 10, 1000.5, 31'],
    ['select * from cast(1 as int) as x', 'SELECT * FROM CAST(1 AS integer) AS x'],
    ['select a from t group by "rollup"(a), rollup(a)', 'SELECT a FROM t GROUP BY "rollup"(a), ROLLUP (a)'],
    ['select a::timestamp(3) with time zone, b::interval(2)', 'SELECT a::timestamp(3) with time zone, b::interval(2)'],
    ['select 1 union (select 2 order by 1 limit 1)', 'SELECT 1 UNION (SELECT 2 ORDER BY 1 LIMIT 1)'],
  ])('%s', (sql, printed) => expect(text(sql)).toBe(printed));
});

describe('refusals', () => {
  it.each([
    'SELECT * FROM ONLY a',
    'SELECT * FROM a FOR UPDATE',
    'SELECT * FROM a FOR SHARE OF a NOWAIT',
    'SELECT 1 INTO b FROM a',
    'WITH x AS (DELETE FROM a RETURNING *) SELECT * FROM x',
    'WITH x AS (INSERT INTO a VALUES (1) RETURNING *) SELECT * FROM x',
    "SELECT xmlelement(NAME a, 'b')",
    "SELECT xmlexists('//a' PASSING b)",
    'SELECT xmlserialize(CONTENT a AS text)',
    "SELECT * FROM xmltable('/a' PASSING b COLUMNS c int)",
    "SELECT * FROM json_table(a, '$' COLUMNS (b int))",
    'VALUES (DEFAULT)',
    'SELECT CAST(a AS SETOF int)',
    'SELECT a::pg_catalog.time(1 + 1)',
    '(SELECT a FROM t FOR UPDATE) UNION SELECT 1',
  ])('%s', (sql) => expect(outcome(() => text(sql))).toBe('400 unsupported_syntax'));

  it('refuses an unknown node and an unknown field, except a default value', () => {
    const select = (over: object): SelectStmt => ({ ...tree('SELECT a FROM t'), ...over });
    expect(outcome(() => printSelect(select({ qualifyClause: { A_Const: { isnull: true } } })))).toBe('400 unsupported_syntax');
    expect(outcome(() => printSelect(select({ qualifyClause: [], newer: false, newest: 0, none: '' })))).toBe('SELECT a FROM t');
    expect(outcome(() => printExpression({ Newer: {} } as unknown as Node))).toBe('400 unsupported_syntax');
    expect(outcome(() => printExpression({} as Node))).toBe('400 unsupported_syntax');
    const unknown = (body: object): string => outcome(() => printExpression({ FuncCall: { funcname: [{ String: { sval: 'f' } }], ...body } } as Node));
    expect(unknown({})).toBe('f()');
    expect(unknown({ ignore_nulls: 1 })).toBe('400 unsupported_syntax');
    expect(unknown({ constructor: 1 })).toBe('400 unsupported_syntax');
  });

  it('refuses a name that is not an operator and a constant that is not a number', () => {
    for (const op of ['a', '--', '/*', '+--', '; x', ''])
      expect(
        outcome(() => printExpression(binary(op, column('a'), column('b')))),
        op,
      ).toBe('400 unsupported_syntax');
    for (const n of ['1; x', '', '1e', 'x', '0x', '1 2']) {
      expect(
        outcome(() => printExpression({ A_Const: { fval: { fval: n } } } as Node)),
        n,
      ).toBe('400 unsupported_syntax');
    }
  });
});

describe('a sub-query', () => {
  it('keeps its meaning as the only item of IN or as the array of ANY', () => {
    const scalar: Node = { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: tree('SELECT b') } } };
    const inList = (item: Node): string =>
      printExpression({ A_Expr: { kind: 'AEXPR_IN', name: [{ String: { sval: '=' } }], lexpr: column('a'), rexpr: { List: { items: [item] } } } });
    expect(inList(scalar)).toBe('a = (SELECT b)');
    const any = (rexpr: Node): string => printExpression({ A_Expr: { kind: 'AEXPR_OP_ANY', name: [{ String: { sval: '=' } }], lexpr: column('a'), rexpr } });
    expect(any(scalar)).toBe('a = ANY (COALESCE((SELECT b)))');
  });
});

describe('marks', () => {
  it('give the offset in the output of the token at each location', () => {
    const sql = "select  'ä' as x, coalesce( b ,1), lower(c)  ,d::int , e  =  f,g is  null from t u";
    const at: [string, string][] = [];
    const marks: [number, number][] = [];
    const out = printSelect(tree(sql), { mark: (offset, location) => marks.push([offset, location]) });
    const bytes = new TextEncoder().encode(sql);
    const word = (s: string): string => /^(?:\w+|\W)/u.exec(s)?.[0] ?? '';
    for (const [offset, location] of marks) at.push([word(out.slice(offset)), word(new TextDecoder().decode(bytes.slice(location)))]);
    expect(at.map(([, source]) => source)).toEqual(["'", 'coalesce', 'b', '1', 'lower', 'c', 'd', ':', 'int', 'e', '=', 'f', 'g', 'is', 't']);
    for (const [printed, source] of at) expect(printed.toLowerCase().replace('integer', 'int')).toBe(source);
  });
});

describe('limits of nesting', () => {
  const nest = (levels: number, wrap: (inner: Node) => Node): Node => {
    let node = column('a');
    for (let i = 0; i < levels; i++) node = wrap(node);
    return node;
  };
  const wraps: Record<string, (inner: Node) => Node> = {
    case: (result) => ({ CaseExpr: { args: [{ CaseWhen: { expr: column('b'), result } }] } }),
    not: (inner) => ({ BoolExpr: { boolop: 'NOT_EXPR', args: [inner] } }),
    call: (inner) => ({ FuncCall: { funcname: [{ String: { sval: 'f' } }], args: [inner] } }),
    right: (inner) => binary('-', column('b'), inner),
    comparison: (inner) => binary('=', inner, column('b')),
    subquery: (val) => ({ SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: { targetList: [{ ResTarget: { val } }] } } } }),
    grouping: (inner) => ({
      SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: { groupClause: [{ GroupingSet: { kind: 'GROUPING_SET_CUBE', content: [inner] } }] } } },
    }),
  };

  it.each(Object.keys(wraps))('refuse a tree that is too deep: %s', (name) => {
    const wrap = wraps[name] as (inner: Node) => Node;
    expect(outcome(() => printExpression(nest(MAX_DEPTH + 10, wrap)))).toBe('400 too_complex');
    expect(outcome(() => printExpression(nest(50_000, wrap)))).toBe('400 too_complex');
    expect(printExpression(nest(150, wrap)).length).toBeGreaterThan(450);
  });

  it('allow long chains that are nested on the left', () => {
    const sum = Array.from({ length: 3000 }, (_, i) => i).join(' + ');
    expect(text(`SELECT ${sum}`)).toBe(`SELECT ${sum}`);
    let union: SelectStmt = { targetList: [{ ResTarget: { val: column('a') } }] };
    for (let i = 0; i < 5000; i++) union = { op: 'SETOP_UNION', larg: union, rarg: { targetList: [{ ResTarget: { val: column('a') } }] } };
    expect(printSelect(union).match(/UNION SELECT a/g)).toHaveLength(5000);
    let join: Node = { RangeVar: { relname: 't', inh: true } };
    for (let i = 0; i < 5000; i++) join = { JoinExpr: { jointype: 'JOIN_INNER', larg: join, rarg: { RangeVar: { relname: 't', inh: true } } } };
    expect(printSelect({ fromClause: [join] }).match(/CROSS JOIN t/g)).toHaveLength(5000);
    const or = Array.from({ length: 5000 }, (_, i) => `a = ${i}`).join(' OR ');
    expect(text(`SELECT ${or}`)).toBe(`SELECT ${or}`);
  });
});
