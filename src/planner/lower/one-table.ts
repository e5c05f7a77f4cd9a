/**
 * Reads several mappings of one table in one SELECT (docs/design/sql-shapes.md#mappings-of-one-table). The conditions of the mappings must exclude each other, so
 * that a row of the table belongs to one mapping, and the mappings may differ only in constants: the type of the row.
 */
import { visited } from '../../budget.ts';
import type { ColumnDef } from '../../ontology/model.ts';
import { BARRIER, isBarrier } from '../plan/barriers.ts';
import { and, clone, conjuncts, isNotNull, isSame, type Node, or, type SelectStmt, select, target } from '../plan/tree.ts';
import type { Branch } from './branch.ts';
import { complements, excludes, type Test, testOf } from './exclusion.ts';
import { isConstant } from './narrow.ts';

/** The SELECT over a mapping. */
export interface MappingSelect {
  readonly branch: Branch;
  readonly query: SelectStmt;
}

/** The rows of one or more mappings of a table, each with its own conditions. */
interface Group {
  readonly branches: MappingSelect[];
  /** The conditions of each mapping. */
  readonly conditions: (readonly Condition[])[];
}

/** One of the conditions of a mapping, and the same as a test of a column; undefined if it is anything else. */
interface Condition {
  readonly node: Node;
  readonly test: Test | undefined;
}

const conditionsOf = (query: SelectStmt): Condition[] => conjuncts(query.whereClause).map((node) => ({ node, test: testOf(node) }));

/**
 * The SELECTs of a concept's mappings, with those over one table merged.
 * @param typesAreFiltered a condition may read constants in which the mappings differ: then only mappings without such constants are merged, because PostgreSQL
 * removes a branch by a constant, but does not use an index for a CASE
 */
export function mergeTables(selects: readonly MappingSelect[], typesAreFiltered: boolean): SelectStmt[] {
  const [only] = selects;
  if (only !== undefined && selects.length === 1) return [only.query];
  const groups: Group[] = [];
  // only mappings of one table are compared: a concept may have thousands of mappings
  const ofTable = new Map<string, Group[]>();
  for (const one of selects) {
    const own = conditionsOf(one.query);
    const table = tableOf(one.query);
    const others: Group[] = (table === undefined ? undefined : ofTable.get(table)) ?? [];
    const known = others.find((group) => canMerge(group, one, own, typesAreFiltered));
    if (known) {
      known.branches.push(one);
      known.conditions.push(own);
      continue;
    }
    const group = { branches: [one], conditions: [own] };
    groups.push(group);
    others.push(group);
    if (table !== undefined) ofTable.set(table, others);
  }
  return groups.map((group) => merged(group));
}

const PLAIN = new Set(['targetList', 'fromClause', 'whereClause', 'limitOption', 'op', ...Object.keys(BARRIER)]);

/** True if a SELECT is nothing but columns, one table and conditions: no ORDER BY, no LIMIT, no conditions for statements with or without barriers. */
const isPlain = (query: SelectStmt): boolean =>
  Object.keys(query).every((k) => PLAIN.has(k)) && query.fromClause?.length === 1 && query.fromClause.every((item) => 'RangeVar' in item);

/** The name of the table of a plain SELECT; undefined for other SELECTs. */
function tableOf(query: SelectStmt): string | undefined {
  const [item] = isPlain(query) ? (query.fromClause ?? []) : [];
  return item !== undefined && 'RangeVar' in item ? `${item.RangeVar.schemaname ?? ''}.${item.RangeVar.relname ?? ''}` : undefined;
}

/** The cost of comparing the conditions of two mappings. */
const STEPS_OF_A_COMPARISON = 10;

/** True if the mapping of a plain SELECT can be merged with a group of mappings of its table. */
function canMerge({ branches, conditions }: Group, { branch, query }: MappingSelect, own: readonly Condition[], typesAreFiltered: boolean): boolean {
  visited(STEPS_OF_A_COMPARISON * conditions.length);
  const [first] = branches as readonly MappingSelect[] as readonly [MappingSelect];
  if (!isSame(query.fromClause, first.query.fromClause)) return false;
  if (isBarrier(query) !== isBarrier(first.query)) return false;
  const columns = valuesOf(query);
  const same = valuesOf(first.query).every((value, i) => {
    const other = columns[i] as Node;
    return isSame(value, other) || (!typesAreFiltered && isConstant(value) && isConstant(other));
  });
  if (!same) return false;
  // the test of all mappings is the same for each comparison
  const known: { readonly column: Node; readonly texts: boolean }[] = [];
  const comparesTexts = (column: Node): boolean => {
    const before = known.find((k) => isSame(k.column, column));
    if (before) return before.texts;
    const texts = hasPlainTexts(branch, column) || branches.some((b) => hasPlainTexts(b.branch, column));
    known.push({ column, texts });
    return texts;
  };
  return conditions.every((others) => {
    const [theirs, mine] = [testsOf(without(others, own)), testsOf(without(own, others))];
    return theirs !== undefined && mine !== undefined && theirs.some((a) => mine.some((b) => excludes(a, b, comparesTexts)));
  });
}

const valuesOf = (query: SelectStmt): Node[] => (query.targetList ?? []).map((t) => ('ResTarget' in t ? t.ResTarget.val : undefined) as Node);

/** The conditions that are not among others. */
function without(conditions: readonly Condition[], others: readonly Condition[]): Condition[] {
  visited(conditions.length * others.length);
  return conditions.filter((c) => !others.some((o) => isSame(o.node, c.node)));
}

/** Conditions as tests; undefined if one is anything else. */
function testsOf(conditions: readonly Condition[]): Test[] | undefined {
  const tests = conditions.map((c) => c.test);
  return tests.every((t) => t !== undefined) ? (tests as Test[]) : undefined;
}

/** True if a column of a mapping's table is known to have a text type without a collation of its own. */
export function hasPlainTexts({ mapping, rows }: Branch, column: Node): boolean {
  const isText = (c: ColumnDef): boolean => (c.type === 'text' || c.type === 'varchar') && c.collation === undefined;
  return mapping.columns.some((c) => isText(c) && isSame(rows.column(c.name), column));
}

/** One SELECT over the table of a group. */
function merged({ branches, conditions }: Group): SelectStmt {
  const [first, ...others] = branches as readonly MappingSelect[] as readonly [MappingSelect, ...MappingSelect[]];
  if (others.length === 0) return first.query;
  const [own = []] = conditions;
  const shared = own.filter((c) => conditions.every((other) => other.some((o) => isSame(o.node, c.node))));
  const rest = conditions.map((list) => without(list, shared).map((c) => c.node));
  const where = and([...shared.map((c) => c.node), ...anyOf(rest)]);
  const values = branches.map((b) => valuesOf(b.query));
  const targetList = (first.query.targetList ?? []).map((t, i) => {
    const name = 'ResTarget' in t ? t.ResTarget.name : undefined;
    return target(
      caseOf(
        values.map((v) => v[i] as Node),
        rest,
      ),
      name,
    );
  });
  return select({ targetList, fromClause: first.query.fromClause ?? [], ...(where ? { whereClause: where } : {}), ...(isBarrier(first.query) ? BARRIER : {}) });
}

/** The value of a column: a CASE over the conditions of the mappings if they differ. */
function caseOf(values: readonly Node[], conditions: readonly (readonly Node[])[]): Node {
  const [first, ...others] = values as readonly [Node, ...Node[]];
  const different = others.flatMap((value, i) => (isSame(value, first) ? [] : [{ value, when: clone(and(conditions[i + 1] ?? []) as Node) }]));
  if (different.length === 0) return first;
  return { CaseExpr: { args: different.map(({ value, when }) => ({ CaseWhen: { expr: when, result: value } })), defresult: first } };
}

/** The condition that a row meets the conditions of one of the mappings. */
function anyOf(alternatives: readonly (readonly Node[])[]): Node[] {
  const tests = alternatives.map((list) => (list.length === 1 ? testOf(list[0] as Node) : undefined));
  const [a, b, ...more] = tests;
  if (a && b && more.length === 0 && isSame(a.column, b.column)) {
    if (complements(a, b)) return [isNotNull(a.column)];
    if (a.kind === 'null' || b.kind === 'null') {
      const other = a.kind === 'null' ? b : a;
      if (other.kind === 'not null') return [];
    }
  }
  if (a && tests.every((t) => t?.kind === 'in' && isSame(t.column, a.column)))
    return [
      isIn(
        a.column,
        tests.flatMap((t) => t?.constants ?? []),
      ),
    ];
  return [or(alternatives.map((list) => and(list) as Node))];
}

const isIn = (lexpr: Node, items: Node[]): Node => ({
  A_Expr: { kind: 'AEXPR_IN', name: [{ String: { sval: '=' } }], lexpr, rexpr: { List: { items } } },
});
