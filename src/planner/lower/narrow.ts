/**
 * Conditions of WHERE that are repeated on the tables (docs/design/sql-shapes.md#conditions-that-reach-the-tables). A property's column is cast to its declared
 * type, so that PostgreSQL can flatten the union of the mappings. If the table's type differs, the cast prevents the use of the index. A comparison with
 * constants is therefore repeated on the table's own column. The caller's condition remains, so an added condition must not remove rows that meet it.
 */
import type { SortBy } from '@pgsql/types';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import { castsAlways, lacksCollation } from '../facts/column-types.ts';
import { conversionMayRaise, typesNamed } from '../facts/conversions.ts';
import { isTotal } from '../facts/total.ts';
import type { Condition } from '../plan/barriers.ts';
import type { PathNode } from '../plan/path-node.ts';
import { and, cast, clone, conjuncts, eachColumn, equals, integer, lastName, type Node, operator, or, text } from '../plan/tree.ts';
import { INTEGER_SQL } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { sourcesOf } from '../secure/policies.ts';
import { isShown, type ReadableAs } from '../secure/shown.ts';
import type { Branch } from './branch.ts';
import { idsOf, type KeyFilter, keyCondition } from './entity-id.ts';

/** The conditions that the rows of a node must meet if a row of the block is to meet WHERE. */
export interface RowFilter {
  readonly ids?: KeyFilter;
  readonly comparisons: readonly Comparison[];
  /** Values of the parent row to which the row's own integer columns must be equal. */
  readonly joined?: readonly { readonly def: PropertyDef; readonly value: Node }[];
  /** Only the first rows are read. */
  readonly first?: FirstRows;
  /** True if the query reads all rows, as far as the planner knows. */
  readonly readsAll?: boolean;
  /** The values of `entity_type` that conditions allow. A row must be of a type in each of the sets. */
  readonly types?: readonly ReadonlySet<string>[];
  /** False if nothing filters by the concept or the mapping of a row: the statement only shows them. */
  readonly typesAreFiltered?: boolean;
  /** Only rows that the caller may read as instances of this concept. */
  readonly as?: ReadableAs;
  /** Only rows that are instances of these logic concepts, whose conditions see all rows and true values. Only `instancesOnly` sets it, which refuses masked properties. */
  readonly instancesOf?: readonly Concept[];
  /** Only rows of this mapping. */
  readonly mapping?: MappingDef;
  /** True if a barrier above decides which of the rows the caller sees. */
  readonly isBelowBarrier?: boolean;
  /**
   * True if PostgreSQL computes values of the rows, or joins them with others, before that barrier, or if a condition of a barrier may itself raise an error. In a statement with
   * barriers, conditions then do not apply to the tables: they would decide what is computed, and an error there would reveal a hidden row.
   */
  readonly isComputedEarly?: boolean;
}

/**
 * Filters for the rows of each mapping of a concept; undefined if there are not several. A condition above a barrier applies to each mapping by itself: PostgreSQL
 * computes the columns of a part of UNION ALL before it joins the union with others, so an error there would reveal a row that the condition hides.
 */
export function eachMapping(concept: Concept, filter: RowFilter | undefined): readonly RowFilter[] | undefined {
  const { mappings } = sourcesOf(concept);
  return filter?.mapping || mappings.size < 2 ? undefined : [...mappings].map((mapping) => ({ comparisons: [], ...filter, mapping }));
}

/** ORDER BY and LIMIT. No mapping contributes more than `count` rows to the first rows of the union. */
export interface FirstRows {
  readonly sorts: readonly { readonly def: PropertyDef; readonly like: SortBy }[];
  readonly count: Node;
}

/** A condition on one property, with the property on the left: a comparison operator, BETWEEN or IN. */
export interface Comparison {
  readonly def: PropertyDef;
  /** For a property of descendants, the model as the reader sees it: the values of some mappings may be hidden (../secure/shown.ts). */
  readonly seen?: Graph;
  readonly operator: string;
  readonly constants: readonly Node[];
  /** Makes the same condition on another column. */
  readonly on: (column: Node) => Node;
}

const isEquality = (c: Comparison): boolean => c.operator === '=' || c.operator === 'IN';

/** Adds the comparisons of WHERE to the filters of the nodes whose columns they compare. */
export function narrow(state: PlanState, where: Node | undefined, relations: readonly ConceptRelation[]): void {
  for (const condition of conjuncts(where)) {
    let node: PathNode | undefined;
    const ids = idsOf(
      condition,
      (n) => {
        const ref = 'ColumnRef' in n ? state.references.of(n.ColumnRef) : undefined;
        if (!ref || ref.node.columns.get('entity_id')?.name !== ref.column || ref.alias !== ref.node.alias) return false;
        if (!relations.includes(ref.relation)) return false;
        node = ref.node;
        return true;
      },
      state.bound,
    );
    if (ids && node) {
      state.facts.readsBound ||= ids.bound;
      if (!node.filter?.ids) node.filter = { ids, comparisons: node.filter?.comparisons ?? [] };
      continue;
    }
    const found = comparisonOf(condition, relations);
    if (found) found.node.filter = { ...found.node.filter, comparisons: [...(found.node.filter?.comparisons ?? []), found.comparison] };
    else markRestricted(state, condition);
  }
}

/** Marks the nodes whose columns a condition reads. */
function markRestricted(state: PlanState, condition: Node): void {
  eachColumn(condition, (column) => {
    const ref = state.references.of(column);
    if (ref && ref.alias === ref.node.alias) ref.node.isRestricted = true;
  });
}

/** The selectivity of a condition of an unknown kind. */
export const RESTRICTED = 2;

/** A rank of how few rows of a node WHERE leaves: 3 if it compares the key, 2 if it has an equality, 1 for other comparisons, 0 without comparisons. */
export function selectivity(node: PathNode): number {
  if (isKeyLookup(node)) return 3;
  const comparisons = node.filter?.comparisons ?? [];
  return comparisons.some(isEquality) ? RESTRICTED : Math.min(comparisons.length, 1);
}

/** True if WHERE compares the primary key of a node's rows, so that few rows are expected. */
export function isKeyLookup(root: PathNode): boolean {
  const { filter, concept } = root;
  if (!filter) return false;
  if (filter.ids) return true;
  const compared = new Set(filter.comparisons.filter(isEquality).map((c) => c.def));
  return concept.key?.properties.every((p) => compared.has(p)) ?? false;
}

/** A longer list of constants is not repeated in each mapping, because parsing the longer text would take more time than the index saves. */
const LONGEST_LIST = 2000;

/** The commuted operator of each comparison. */
const COMMUTED: Readonly<Record<string, string>> = { '=': '=', '<': '>', '>': '<', '<=': '>=', '>=': '<=' };

function comparisonOf(condition: Node, relations: readonly ConceptRelation[]): { node: PathNode; comparison: Comparison } | undefined {
  if (!('A_Expr' in condition)) return undefined;
  const expr = condition.A_Expr;
  const { kind, name, lexpr, rexpr } = expr;
  const op = name?.length === 1 ? lastName(name) : '';
  if (!lexpr || !rexpr) return undefined;
  const left = propertyAt(lexpr, relations);
  const made = (at: NonNullable<typeof left>, constants: readonly Node[] | undefined, operator: string, on: Comparison['on']) =>
    constants?.every(isConstant) && constants.length <= LONGEST_LIST ? { node: at.node, comparison: { ...at.property, constants, operator, on } } : undefined;
  const exchanged = COMMUTED[op];
  if (kind === 'AEXPR_OP' && exchanged) {
    const right = left ? undefined : propertyAt(rexpr, relations);
    if (left) return made(left, [rexpr], op, (c) => ({ A_Expr: { ...expr, lexpr: c, rexpr: clone(rexpr) } }));
    if (right) return made(right, [lexpr], exchanged, (c) => ({ A_Expr: { ...expr, lexpr: clone(lexpr), rexpr: c } }));
    return undefined;
  }
  if (!left || !('List' in rexpr)) return undefined;
  if (kind === 'AEXPR_BETWEEN' || (kind === 'AEXPR_IN' && op === '=')) {
    return made(left, rexpr.List.items, kind === 'AEXPR_IN' ? 'IN' : 'BETWEEN', (c) => ({ A_Expr: { ...expr, lexpr: c, rexpr: clone(rexpr) } }));
  }
  return undefined;
}

/** The property and the node of an expression that is a property's column. */
function propertyAt(expr: Node, relations: readonly ConceptRelation[]): { node: PathNode; property: Pick<Comparison, 'def' | 'seen'> } | undefined {
  const ref = 'ColumnRef' in expr ? relations[0]?.state.references.of(expr.ColumnRef) : undefined;
  if (!ref || !relations.includes(ref.relation) || ref.alias !== ref.node.alias) return undefined;
  const wanted = ref.node.wantedOf(ref.column);
  if (wanted?.kind !== 'property') return undefined;
  const { def, seen } = wanted;
  return { node: ref.node, property: seen === undefined ? { def } : { def, seen } };
}

/** True for a constant or a parameter, with or without casts. */
export function isConstant(node: Node): boolean {
  if ('TypeCast' in node) return node.TypeCast.arg !== undefined && isConstant(node.TypeCast.arg);
  return 'A_Const' in node || 'ParamRef' in node;
}

/** The conditions of a filter on the columns of a mapping; `false` if no row of the mapping can meet them. */
export function branchCondition(branch: Branch, filter: RowFilter): Condition[] | false {
  const conditions: Condition[] = [];
  const key = branch.mapped.key?.properties ?? [];
  const isFixed = filter.isComputedEarly === true || ((branch.mayBeBarred || branch.isBelowBarrier) && !branch.rows.isNarrowable);
  const always: Pick<Condition, 'when'> = isFixed ? { when: 'without barriers' } : {};
  if (filter.ids && branch.canCompareKey(key)) {
    const condition = keyCondition(branch, filter.ids);
    if (condition === false) return false;
    conditions.push({ node: condition, ...always });
  }
  for (const c of filter.comparisons) {
    // a condition on the table's column would reveal values that the caller may not see
    if (!isShown(c, branch.mapping)) continue;
    const given = branch.isMasked(c.def) ? undefined : branch.given(c.def);
    if (!given?.type || lacksCollation(given)) continue;
    const column = (): Node => branch.rows.column(given.name);
    const onTable = isEquivalent(c, given.type)
      ? c.on(column())
      : given.type === 'timestamp' && parseType(c.def.type).sql === 'date' && c.constants.every(isDate)
        ? onDays(c, column)
        : undefined;
    if (!branch.mayBeBarred) {
      if (onTable) conditions.push({ node: onTable, ...always });
      continue;
    }
    // PostgreSQL does not push conditions below a barrier. A condition that may raise an error must stay above it, because the rows below it include hidden
    // ones.
    const barred = isFixed || !isSafe(c) ? undefined : castsAlways(given, parseType(c.def.type).sql) ? c.on(branch.property(c.def, { actual: true })) : onTable;
    if (barred === onTable && onTable) conditions.push({ node: onTable });
    else {
      if (barred) conditions.push({ node: barred, when: 'with barriers' });
      if (onTable) conditions.push({ node: onTable, when: 'without barriers' });
    }
  }
  for (const { def, value } of filter.joined ?? []) {
    const given = branch.given(def);
    if (given?.type && INTEGER_SQL[given.type]) conditions.push({ node: equals(branch.rows.column(given.name), clone(value)), ...always });
  }
  return conditions;
}

/** True if a comparison raises no error for any value of its property. */
const isSafe = ({ def, constants }: Comparison): boolean =>
  constants.every((c) => isTotal(c)) && !conversionMayRaise([parseType(def.type).sql, ...constants.flatMap((c) => [...typesNamed(c)])]);

/** True if the condition means the same on the table's column, whose type differs from the declared one. */
function isEquivalent(c: Comparison, type: string): boolean {
  const declared = parseType(c.def.type).sql;
  const integer = INTEGER_SQL[type];
  if (integer) return integer !== declared && ['smallint', 'integer', 'bigint'].includes(declared) && c.constants.every(isInteger);
  // Comparisons of char(n) ignore trailing blanks, so this one finds at least the rows that the comparison as text finds.
  return type === 'bpchar' && declared === 'text' && isEquality(c) && c.constants.every((k) => 'A_Const' in k && k.A_Const.sval !== undefined);
}

function isInteger(constant: Node): boolean {
  if ('TypeCast' in constant) {
    return /^(int[248]|bigint|integer|smallint)$/.test(lastName(constant.TypeCast.typeName?.names));
  }
  if ('A_Expr' in constant) return false;
  return 'A_Const' in constant && (constant.A_Const.ival !== undefined || /^\d+$/.test(constant.A_Const.fval?.fval ?? ''));
}

/** True if PostgreSQL reads the constant as a date. A constant with a time of day would change the comparison. */
function isDate(constant: Node): boolean {
  if (!('TypeCast' in constant)) return 'A_Const' in constant && constant.A_Const.sval !== undefined;
  return lastName(constant.TypeCast.typeName?.names) === 'date' && !constant.TypeCast.typeName?.arrayBounds?.length;
}

/** The last date that has a successor. A later date, or infinity, is compared with itself. */
const LAST_DATE = '5874897-12-30';
const isPlainDate = (node: Node): boolean =>
  'TypeCast' in node
    ? node.TypeCast.arg !== undefined && isPlainDate(node.TypeCast.arg)
    : 'A_Const' in node && /^\d{4}-\d\d-\d\d$/.test(node.A_Const.sval?.sval ?? '');

/** A comparison of dates as a comparison of timestamps. A day ends before the midnight of the next day, or at it, so that infinity is included. */
function onDays({ operator: op, constants }: Comparison, moment: () => Node): Node {
  const day = (constant: Node): Node => cast(clone(constant), 'date');
  const next = (constant: Node): Node => {
    const following = operator('+', day(constant), integer('1'));
    if (isPlainDate(constant)) return following;
    return {
      CaseExpr: { args: [{ CaseWhen: { expr: operator('>', day(constant), cast(text(LAST_DATE), 'date')), result: day(constant) } }], defresult: following },
    };
  };
  const within = (from: Node, to: Node): Node => and([operator('>=', moment(), day(from)), operator('<=', moment(), next(to))]) as Node;
  const [first, last = first] = constants as [Node, Node?];
  if (op === 'IN') return or(constants.map((c) => within(c, c)));
  if (op === '=' || op === 'BETWEEN') return within(first, last);
  if (op === '<' || op === '>=') return operator(op, moment(), day(first));
  return op === '<=' ? operator('<=', moment(), next(first)) : operator('>=', moment(), day(first));
}
