/** A verified statement that is changed at any place by something forbidden is refused. */
import type { Node, SelectStmt } from '@pgsql/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printSelect } from '../../../../src/planner/print/index.ts';
import { type Declared, RefusedByVerifier, verify } from '../../../../src/planner/verify/index.ts';
import { forms } from '../../../support/corpora/forms.ts';
import { written } from '../../../support/corpora/written.ts';
import { generated, patience } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { parser } from './verified.ts';

const SIZES = sizesOf('unit/planner/verify/mutated');

interface Passed {
  readonly sql: string;
  readonly declared: Declared;
}
const passed: Passed[] = [forms(parser), ...written(parser, SIZES.everyTrap)].flatMap((corpus) =>
  [...corpus.planned()].map(({ plan, declared }) => ({ sql: plan.sql, declared })).filter(({ sql }) => sql.length < 6000),
);

type Slot = Record<string, unknown>;
const strings = (...names: string[]): Node[] => names.map((sval) => ({ String: { sval } }));

/** A change: the type of the node, the change in place (false: not applicable to this node), and the expected kinds of refusal. */
interface Change {
  readonly what: string;
  readonly type: string;
  readonly make: (body: Slot, name: string, slot: Slot) => boolean | undefined;
  readonly kinds: readonly string[];
}

const FORBIDDEN = ['pg_sleep', 'current_setting', 'query_to_xml', 'ts_stat', 'pg_read_file', 'lo_import', 'txid_current', 'regclass', 'Upper', 'to_regclass'];
const FIELDS = ['current_setting', 'pg_sleep', 'ts_stat', 'pg_column_size', 'record_out', 'row_to_json', 'md5', 'upper', 'regclass', 'text'];
const TYPES = ['regclass', 'regtype', 'regrole', 'xml', 'oid', 'aclitem', 'record', 'money', 'pg_node_tree'];
const TABLES = ['pg_proc', 'pg_authid', 'pg_shadow', 'secrets'];

/** Expressions that can be replaced by one of their attributes. */
const WRAPPED = ['ColumnRef', 'A_Const', 'FuncCall', 'TypeCast', 'A_Expr', 'CaseExpr', 'SubLink', 'CoalesceExpr', 'ParamRef', 'A_ArrayExpr', 'BoolExpr'];

const CHANGES: readonly Change[] = [
  {
    what: 'another function',
    type: 'FuncCall',
    make: (body, name) => void Object.assign(body, { funcname: strings(name), funcformat: 'COERCE_EXPLICIT_CALL' }),
    kinds: ['function'],
  },
  {
    what: 'a function of another schema',
    type: 'FuncCall',
    make: (body) => void Object.assign(body, { funcname: strings('public', 'upper'), funcformat: 'COERCE_EXPLICIT_CALL' }),
    kinds: ['function'],
  },
  {
    what: 'another table',
    type: 'RangeVar',
    make: (body, name) => void Object.assign(body, { schemaname: 'pg_catalog', relname: name }),
    kinds: ['relation'],
  },
  {
    what: 'another table of the schema',
    type: 'RangeVar',
    make: (body, name) => (body.schemaname === undefined ? false : void Object.assign(body, { relname: name })),
    kinds: ['relation'],
  },
  {
    what: 'a table without its schema',
    type: 'RangeVar',
    make: (body) => (body.schemaname === undefined ? false : void delete body.schemaname),
    kinds: ['relation'],
  },
  {
    what: 'a catalog in the place of a common table expression',
    type: 'RangeVar',
    make: (body, name) => (body.schemaname === undefined ? void Object.assign(body, { relname: name }) : false),
    kinds: ['relation'],
  },
  {
    what: 'a table of another database',
    type: 'RangeVar',
    make: (body) => void Object.assign(body, { catalogname: 'db', schemaname: 's' }),
    kinds: ['member'],
  },
  { what: 'another type', type: 'TypeCast', make: (body, name) => void Object.assign(body.typeName as Slot, { names: strings(name) }), kinds: ['type'] },
  {
    what: 'a type of another schema',
    type: 'TypeCast',
    make: (body) => void Object.assign(body.typeName as Slot, { names: strings('public', 'text') }),
    kinds: ['type'],
  },
  {
    what: 'an operator of another schema',
    type: 'A_Expr',
    make: (body) => (body.kind === 'AEXPR_OP' ? void Object.assign(body, { name: strings('public', '=') }) : false),
    kinds: ['operator'],
  },
  {
    what: 'another operator',
    type: 'A_Expr',
    make: (body) => (body.kind === 'AEXPR_OP' ? void Object.assign(body, { name: strings('<#>') }) : false),
    kinds: ['operator'],
  },
  {
    what: 'a function in the place of a column',
    type: 'ColumnRef',
    make: (body, name) => {
      const fields = body.fields as Node[];
      return fields.length < 2 || 'A_Star' in (fields.at(-1) as Node)
        ? false
        : void Object.assign(body, { fields: [...fields.slice(0, -1), ...strings(name)] });
    },
    kinds: ['field'],
  },
  {
    what: 'an unknown alias',
    type: 'ColumnRef',
    make: (body) => {
      const fields = body.fields as Node[];
      return fields.length < 2 ? false : void Object.assign(body, { fields: [...strings('nobody'), ...fields.slice(1)] });
    },
    kinds: ['qualifier'],
  },
  {
    what: 'an unknown column',
    type: 'ColumnRef',
    make: (body) => ((body.fields as Node[]).some((f) => 'A_Star' in f) ? false : void Object.assign(body, { fields: strings('nobody') })),
    kinds: ['column'],
  },
  { what: 'a parameter that is not bound', type: 'ParamRef', make: (body) => void Object.assign(body, { number: 99 }), kinds: ['parameter'] },
  {
    what: 'a value of the session',
    type: 'A_Const',
    make: (_, __, slot) => {
      delete slot.A_Const;
      slot.SQLValueFunction = { op: 'SVFOP_CURRENT_USER', typmod: -1 };
      return undefined;
    },
    kinds: ['value', 'type'],
  },
  ...WRAPPED.map(
    (type): Change => ({
      what: `an attribute of ${type}`,
      type,
      make: (body, name, slot) => {
        delete slot[type];
        slot.A_Indirection = { arg: { [type]: body }, indirection: strings(name) };
        return undefined;
      },
      // pg_typeof passes only directly below a cast
      kinds: type === 'FuncCall' ? ['field', 'type', 'function'] : ['field', 'type'],
    }),
  ),
];
const NAMES: Readonly<Record<string, readonly string[]>> = { FuncCall: FORBIDDEN, RangeVar: TABLES, TypeCast: TYPES };

/** The places of a tree with a node in an expression, by the type of the node. */
function places(value: unknown, found = new Map<string, Slot[]>()): ReadonlyMap<string, readonly Slot[]> {
  if (typeof value !== 'object' || value === null) return found;
  const slot = value as Slot;
  const keys = Object.keys(slot);
  const [type] = keys;
  if (!Array.isArray(value) && type !== undefined && keys.length === 1 && typeof slot[type] === 'object') {
    const same = found.get(type);
    if (same === undefined) found.set(type, [slot]);
    else same.push(slot);
  }
  for (const key of keys) if (!SKIPPED.has(key)) places(slot[key], found);
  return found;
}
/** Members in which the grammar accepts no expression: names, the call of a function in FROM, constants of types and of CYCLE. */
const SKIPPED = new Set(['fields', 'names', 'typmods', 'functions', 'colnames', 'cycle_clause']);

function refusal(sql: string, declared: Declared): string {
  try {
    verify(parser, sql, declared);
    return 'passes';
  } catch (error) {
    if (!(error instanceof RefusedByVerifier)) throw error;
    return error.reason;
  }
}

const treeOf = (sql: string): SelectStmt => (parser.parse(sql).stmts[0] as { stmt: { SelectStmt: SelectStmt } }).stmt.SelectStmt;

/** The statement with one change; undefined if the change does not apply, or the printer refuses the result. */
function changed(sql: string, change: Change, place: number, choice: number): string | undefined {
  const tree = treeOf(sql);
  const slots = places(tree).get(change.type) ?? [];
  if (slots.length === 0) return undefined;
  const slot = slots[place % slots.length] as Slot;
  const names = NAMES[change.type] ?? FIELDS;
  if (change.make(slot[change.type] as Slot, names[choice % names.length] as string, slot) === false) return undefined;
  try {
    return printSelect(tree);
  } catch {
    return undefined;
  }
}

describe('a change of one node', () => {
  /** The statements to which each change applies. */
  const candidates = new Map(CHANGES.map((change) => [change, [] as Passed[]]));
  for (const statement of passed) {
    const found = places(treeOf(statement.sql));
    for (const change of CHANGES)
      if (found.get(change.type)?.some((slot) => change.make({ ...(slot[change.type] as Slot) }, 'x', { ...slot }) !== false))
        candidates.get(change)?.push(statement);
  }
  const tried = new Map<string, number>();

  it('is refused', { timeout: patience(60_000) }, () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...CHANGES), fc.nat(), fc.nat(), (which, change, place, choice) => {
        const of = candidates.get(change) as Passed[];
        const { sql, declared } = of[which % of.length] as Passed;
        const text = changed(sql, change, place, choice);
        const reason = text === undefined ? 'syntax:parser' : refusal(text, declared);
        fc.pre(reason !== 'syntax:parser');
        tried.set(change.what, (tried.get(change.what) ?? 0) + 1);
        expect(change.kinds, `${change.what}: ${reason}\n${text}`).toContain(reason.replace(/:.*$/s, ''));
      }),
      generated(SIZES.statements, SIZES.statements),
    );
  });

  it('was tried for every kind', () => expect(CHANGES.filter((c) => (tried.get(c.what) ?? 0) < 10).map((c) => `${c.what}: ${tried.get(c.what)}`)).toEqual([]));
});

describe('a change of the text', () => {
  const ROW = / AS "row" FROM /;
  const CHANGED: readonly (readonly [what: string, change: (sql: string) => string, kind: string])[] = [
    ['a second statement', (sql) => `${sql}; SELECT 1`, 'statement:2 statements'],
    ['a second statement before it', (sql) => `SET ROLE x; ${sql}`, 'statement:2 statements'],
    ['INTO', (sql) => sql.replace(ROW, ' AS "row" INTO x FROM '), 'member:SelectStmt.intoClause'],
    ['FOR UPDATE', (sql) => `${sql} FOR UPDATE`, 'member:SelectStmt.lockingClause'],
    ['a CTE that deletes', (sql) => `WITH zz AS (DELETE FROM s.t RETURNING 1) SELECT * FROM (${sql}) q`, 'statement:DeleteStmt'],
    [
      'a CTE that inserts',
      (sql) => `SELECT * FROM (WITH zz AS (INSERT INTO s.t VALUES (1) RETURNING 1) ${sql.replace(/^WITH .*$/s, 'SELECT 1')}) q`,
      'statement:InsertStmt',
    ],
    ['a UNION with a catalog', (sql) => `(${sql}) UNION ALL SELECT relname FROM pg_class`, 'relation:pg_class'],
    ['a join with a catalog', (sql) => sql.replace(ROW, ' AS "row" FROM pg_authid CROSS JOIN '), 'relation:pg_authid'],
    ['EXPLAIN', (sql) => `EXPLAIN ANALYZE ${sql}`, 'statement:ExplainStmt'],
    ['a table made of it', (sql) => `CREATE TABLE x AS ${sql}`, 'statement:CreateTableAsStmt'],
    ['an output to a file', (sql) => `COPY (${sql}) TO PROGRAM 'x'`, 'statement:CopyStmt'],
  ];
  it.each(CHANGED)('by %s is refused', (_, change, kind) => {
    const some = passed.filter((_p, i) => i % 25 === 0 && ROW.test(passed[i]?.sql as string));
    expect(some.length).toBeGreaterThan(20);
    for (const { sql, declared } of some) expect(refusal(change(sql), declared), change(sql)).toBe(kind);
  });
});
