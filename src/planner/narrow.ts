/**
 * Conditions of WHERE that reach the tables (docs/design/sql-shapes.md#conditions-that-reach-the-tables). A property's column is cast to its declared type, so
 * that the branches of a union flatten; if the table has another type, the cast keeps the index out. A comparison with constants is then repeated on the
 * table's own column. The caller's condition stays: what is added may only narrow.
 */
import type { SortBy } from '@pgsql/types';
import type { PropertyDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import { conjuncts } from './aggregate/conditions.ts';
import { mayMeet, typesNamed } from './conversions.ts';
import { idsOf, type KeyFilter, keyCondition } from './entity-id.ts';
import type { PathNode } from './joins.ts';
import { castsAlways, isTotal, lacksCollation } from './leak.ts';
import { referenceOf } from './references.ts';
import type { ConceptRelation } from './relation.ts';
import type { OpenAs } from './shown.ts';
import type { Branch, Wanted } from './sources.ts';
import { and, cast, clone, equals, integer, lastName, type Node, operator, or, text } from './tree.ts';
import type { Work } from './work.ts';

/** What the rows of a node must meet for a row of the block to meet WHERE. */
export interface RowFilter {
  readonly ids?: KeyFilter;
  readonly comparisons: readonly Comparison[];
  /** Values of the row that a path comes from, which a row's own whole numbers must equal. */
  readonly joined?: readonly { readonly def: PropertyDef; readonly value: Node }[];
  /** The first rows alone are wanted. */
  readonly first?: FirstRows;
  /** Only rows that the caller may read as instances of a concept. */
  readonly as?: OpenAs;
}

/** ORDER BY properties and LIMIT: of each mapping, no more rows can be among the first of all. */
export interface FirstRows {
  readonly sorts: readonly { readonly def: PropertyDef; readonly like: SortBy }[];
  readonly count: Node;
}

/** A condition on one property: `=` and its like, or BETWEEN or IN, the property on the left. */
interface Comparison {
  readonly def: PropertyDef;
  readonly operator: string;
  readonly constants: readonly Node[];
  /** The condition of the property's column as the table has it. */
  readonly on: (column: Node) => Node;
}

const isEquality = (c: Comparison): boolean => c.operator === '=' || c.operator === 'IN';

/** Tells each node of the block's relations what WHERE asks of its columns. */
export function narrow(work: Work, where: Node | undefined, relations: readonly ConceptRelation[]): void {
  for (const condition of conjuncts(where)) {
    let node: PathNode | undefined;
    const ids = idsOf(
      condition,
      (n) => {
        const ref = 'ColumnRef' in n ? referenceOf(n.ColumnRef) : undefined;
        if (!ref || ref.node.columns.get('entity_id')?.name !== ref.column || ref.alias !== ref.node.alias) return false;
        if (!relations.includes(ref.relation)) return false;
        node = ref.node;
        return true;
      },
      work.bound,
    );
    if (ids && node) {
      work.readsBound ||= ids.bound;
      if (!node.filter?.ids) node.filter = { ids, comparisons: node.filter?.comparisons ?? [] };
      continue;
    }
    const found = comparisonOf(condition, relations);
    if (found) found.node.filter = { ...found.node.filter, comparisons: [...(found.node.filter?.comparisons ?? []), found.comparison] };
  }
}

/** Whether a block asks for rows of a relation by their key: a handful, however many there are. */
export function isFew(root: PathNode): boolean {
  const { filter, concept } = root;
  if (!filter) return false;
  if (filter.ids) return true;
  const asked = new Set(filter.comparisons.filter(isEquality).map((c) => c.def));
  return concept.key?.properties.every((p) => asked.has(p)) ?? false;
}

/** A longer list of constants is not repeated for each mapping: the text would become larger than what an index saves. */
const LONGEST_LIST = 2000;

/** The comparisons, as they are with their sides exchanged. */
const COMPARES: Readonly<Record<string, string>> = { '=': '=', '<': '>', '>': '<', '<=': '>=', '>=': '<=' };

function comparisonOf(condition: Node, relations: readonly ConceptRelation[]): { node: PathNode; comparison: Comparison } | undefined {
  if (!('A_Expr' in condition)) return undefined;
  const expr = condition.A_Expr;
  const { kind, name, lexpr, rexpr } = expr;
  const op = name?.length === 1 ? lastName(name) : '';
  if (!lexpr || !rexpr) return undefined;
  const left = propertyAt(lexpr, relations);
  const made = (at: NonNullable<typeof left>, constants: readonly Node[] | undefined, operator: string, on: Comparison['on']) =>
    constants?.every(isConstant) && constants.length <= LONGEST_LIST ? { node: at.node, comparison: { def: at.def, constants, operator, on } } : undefined;
  const exchanged = COMPARES[op];
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

/** Whether a column has the values of a property in all rows, as far as grants decide: else they choose no rows below the column. */
const isOpen = (wanted: Wanted): wanted is Extract<Wanted, { kind: 'property' }> => wanted.kind === 'property' && wanted.seen === undefined;

/** The property whose column an expression is, at a node of the relations. */
function propertyAt(expr: Node, relations: readonly ConceptRelation[]): { node: PathNode; def: PropertyDef } | undefined {
  const ref = 'ColumnRef' in expr ? referenceOf(expr.ColumnRef) : undefined;
  if (!ref || !relations.includes(ref.relation) || ref.alias !== ref.node.alias) return undefined;
  for (const { name, wanted } of ref.node.columns.values()) if (name === ref.column && isOpen(wanted)) return { node: ref.node, def: wanted.def };
  return undefined;
}

/** A constant, or a parameter, also behind a cast. */
export function isConstant(node: Node): boolean {
  if ('TypeCast' in node) return node.TypeCast.arg !== undefined && isConstant(node.TypeCast.arg);
  return 'A_Const' in node || 'ParamRef' in node;
}

/** What a filter asks of a mapping's own columns; `false`: none of its rows can meet it. */
export function branchCondition(branch: Branch, filter: RowFilter): Node[] | false {
  const conditions: Node[] = [];
  const key = branch.mapped.key?.properties ?? [];
  if (filter.ids && branch.isPlainKey(key)) {
    const condition = keyCondition(branch, filter.ids);
    if (condition === false) return false;
    conditions.push(condition);
  }
  for (const c of filter.comparisons) {
    const given = branch.isMasked(c.def) ? undefined : branch.given(c.def);
    if (!given?.type || lacksCollation(given)) continue;
    const column = (): Node => branch.rows.column(given.name);
    // it is asked of hidden rows too: where it may fail, it stays above
    if (branch.isFenced && !isSafe(c)) continue;
    // below a fence PostgreSQL puts nothing by itself
    if (branch.isFenced && castsAlways(given, parseType(c.def.type).sql)) conditions.push(c.on(branch.property(c.def, true)));
    else if (helps(c, given.type)) conditions.push(c.on(column()));
    else if (given.type === 'timestamp' && parseType(c.def.type).sql === 'date' && c.constants.every(isDate)) conditions.push(onDays(c, column));
  }
  for (const { def, value } of filter.joined ?? []) {
    const given = branch.given(def);
    if (given?.type && INTEGERS[given.type]) conditions.push(equals(branch.rows.column(given.name), clone(value)));
  }
  return conditions;
}

/** Whether a comparison cannot fail on any value of its property. */
const isSafe = ({ def, constants }: Comparison): boolean =>
  constants.every((c) => isTotal(c)) && !mayMeet([parseType(def.type).sql, ...constants.flatMap((c) => [...typesNamed(c)])]);

const INTEGERS: Readonly<Record<string, string>> = { int2: 'smallint', int4: 'integer', int8: 'bigint' };

/** Whether the condition means the same of the table's own column, whose type is another one than the declared. */
function helps(c: Comparison, type: string): boolean {
  const declared = parseType(c.def.type).sql;
  const integer = INTEGERS[type];
  if (integer) return integer !== declared && ['smallint', 'integer', 'bigint'].includes(declared) && c.constants.every(isInteger);
  // Blanks at the end do not count among char(n): more rows than the text has, never fewer.
  return type === 'bpchar' && declared === 'text' && isEquality(c) && c.constants.every((k) => 'A_Const' in k && k.A_Const.sval !== undefined);
}

function isInteger(constant: Node): boolean {
  if ('TypeCast' in constant) {
    return /^(int[248]|bigint|integer|smallint)$/.test(lastName(constant.TypeCast.typeName?.names));
  }
  if ('A_Expr' in constant) return false;
  return 'A_Const' in constant && (constant.A_Const.ival !== undefined || /^\d+$/.test(constant.A_Const.fval?.fval ?? ''));
}

/** Whether a constant is surely read as a date: a time of day behind it would count in a comparison with one. */
function isDate(constant: Node): boolean {
  if (!('TypeCast' in constant)) return 'A_Const' in constant && constant.A_Const.sval !== undefined;
  return lastName(constant.TypeCast.typeName?.names) === 'date' && !constant.TypeCast.typeName?.arrayBounds?.length;
}

/** The last date that has a next one; what comes after it (infinity, too) is its own. */
const LAST_DATE = '5874897-12-30';
const isPlainDate = (node: Node): boolean =>
  'TypeCast' in node
    ? node.TypeCast.arg !== undefined && isPlainDate(node.TypeCast.arg)
    : 'A_Const' in node && /^\d{4}-\d\d-\d\d$/.test(node.A_Const.sval?.sval ?? '');

/** A comparison of days as one of the moments that make them: a day ends before, or (which keeps infinity) at, the next one's midnight. */
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
