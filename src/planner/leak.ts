/**
 * Which expressions may stand beside the condition of a row policy without telling of the rows that it hides. PostgreSQL is free to
 * evaluate a caller's condition before the policy's; an expression that can fail (a division, a cast, an overflow) would then fail on a
 * hidden row. What never fails and writes nothing may be evaluated on any row: nobody sees what it gave for one that is filtered out.
 * (PostgreSQL has the same idea for views, as LEAKPROOF and security_barrier: Rules and Privileges in its manual.)
 */
import type { A_Const, FuncCall, SubLink } from '@pgsql/types';
import { visited } from '../budget.ts';
import type { ColumnDef } from '../ontology/model.ts';
import { isAggregate } from './guard/index.ts';
import { lastName, type Node, type SelectStmt, walk } from './tree.ts';

const TOTAL_OPERATORS = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
const TOTAL_KINDS = new Set([
  'AEXPR_OP',
  'AEXPR_OP_ANY',
  'AEXPR_OP_ALL',
  'AEXPR_IN',
  'AEXPR_BETWEEN',
  'AEXPR_NOT_BETWEEN',
  'AEXPR_DISTINCT',
  'AEXPR_NOT_DISTINCT',
  'AEXPR_NULLIF',
]);
/** Functions that give a value for every value, with one argument at most: of two, `length` reads bytes in an encoding. */
const TOTAL_FUNCTIONS = new Set([
  'char_length',
  'character_length',
  'length',
  'lower',
  'upper',
  'octet_length',
  'row_number',
  'rank',
  'dense_rank',
  'percent_rank',
  'cume_dist',
  'first_value',
  'last_value',
]);
/** Aggregates that do so for every set of values; others overflow, outgrow what a value may have, or refuse a NULL. */
const TOTAL_AGGREGATES = new Set(['count', 'min', 'max', 'bool_and', 'bool_or', 'every']);

/**
 * Nodes that cannot fail by themselves. A node that is not here may: subscripts, functions in FROM, SQL/JSON, COLLATE; and comparisons of whole rows
 * (RowExpr) and arrays of arrays (A_ArrayExpr), whose types are settled when they run.
 */
const TOTAL_NODES = new Set([
  'SelectStmt',
  'CommonTableExpr',
  'RangeVar',
  'RangeSubselect',
  'JoinExpr',
  'ResTarget',
  'ColumnRef',
  'A_Star',
  'A_Const',
  'ParamRef',
  'String',
  'Integer',
  'Float',
  'Boolean',
  'BitString',
  'List',
  'A_Expr',
  'BoolExpr',
  'NullTest',
  'BooleanTest',
  'CaseExpr',
  'CaseWhen',
  'CoalesceExpr',
  'MinMaxExpr',
  'SubLink',
  'TypeCast',
  'SQLValueFunction',
  'FuncCall',
  'WindowDef',
  'SortBy',
  'GroupingSet',
  'GroupingFunc',
]);
/** Numbers of rows, which must not be negative. */
const BOUNDS = new Set(['limitCount', 'limitOffset', 'startOffset', 'endOffset']);

/**
 * Whether no part of a tree can fail on any row. Constants are the statement's own and tell nothing.
 * `isInner`: the tree is part of a sub-query (see `inner` below).
 */
export function isTotal(tree: unknown, isInner = false): boolean {
  const relations = relationNames(tree);
  /** `inner`: within a sub-query, which may read the row of the query round it, or be run only where there is one, before the policy was asked about it. */
  const total = (value: unknown, inner: boolean): boolean => {
    if (value === null || typeof value !== 'object') return true;
    visited();
    if (Array.isArray(value)) return value.every((v) => total(v, inner));
    return Object.entries(value).every(([key, member]) => {
      if (BOUNDS.has(key)) return isCount(member);
      // a recursion may have no end: a statement that runs out of time fails
      if (key === 'recursive' && member === true) return false;
      if (!isNodeName(key)) return total(member, inner);
      const node = value as Node;
      if (!TOTAL_NODES.has(key) || !isTotalNode(node, inner, relations)) return false;
      return total(member, inner || INNER.has(key));
    });
  };
  return total(tree, isInner);
}

const INNER = new Set(['SubLink', 'JsonArrayQueryConstructor', 'RangeSubselect', 'CommonTableExpr']);

const isNodeName = (key: string): boolean => /^[A-Z]/.test(key);

/** Names that stand for whole rows. */
function relationNames(tree: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    for (const [key, member] of Object.entries(value)) {
      if (typeof member === 'string' && (key === 'aliasname' || key === 'relname' || key === 'ctename')) names.add(member.toLowerCase());
      else collect(member);
    }
  };
  collect(tree);
  return names;
}

function isTotalNode(node: Node, inner: boolean, relations: ReadonlySet<string>): boolean {
  if ('A_Const' in node) return isPlainConstant(node.A_Const);
  if ('A_Expr' in node) return isTotalOperator(node.A_Expr.kind, node.A_Expr.name);
  if ('FuncCall' in node) return isTotalCall(node.FuncCall, inner);
  if ('TypeCast' in node) return isTotalCast(node);
  if ('SubLink' in node) return isTotalSubLink(node.SubLink) && !multiplies(node.SubLink.subselect);
  if ('ColumnRef' in node) {
    const [only, ...others] = node.ColumnRef.fields ?? [];
    return others.length > 0 || only === undefined || !('String' in only) || !relations.has((only.String.sval ?? '').toLowerCase());
  }
  return true;
}

/** A sub-query that stands for a value fails where it gives two; one that is compared does where the comparison may. */
function isTotalSubLink({ subLinkType, operName }: SubLink): boolean {
  if (subLinkType === 'EXISTS_SUBLINK') return true;
  return (subLinkType === 'ANY_SUBLINK' || subLinkType === 'ALL_SUBLINK') && isTotalName(operName);
}

/**
 * Whether a sub-query of an expression reads more than one relation, itself or by a common table expression: for a single row of the block around
 * it, its time is the product of their sizes, and a statement that runs out of time fails. What views and mappings read is counted as they are
 * expanded (`Work.joins`).
 */
export function multiplies(subselect: Node | undefined): boolean {
  let relations = 0;
  walk(subselect, (n) => {
    // without a schema it is a common table expression, of however many relations
    if ('RangeVar' in n) relations += n.RangeVar.schemaname === undefined ? 2 : 1;
    if ('RangeSubselect' in n) relations++;
    return relations < 2;
  });
  return relations > 1;
}

const isTotalName = (name: readonly Node[] | undefined): boolean => {
  const last = name?.at(-1);
  return last === undefined || !('String' in last) || TOTAL_OPERATORS.has(last.String.sval ?? '');
};

const isTotalOperator = (kind: string | undefined, name: readonly Node[] | undefined): boolean =>
  TOTAL_KINDS.has(kind ?? '') && (kind?.endsWith('BETWEEN') === true || isTotalName(name));

/** Aggregates and windows see only rows that have passed every condition of their block; but not those of the block round it. */
function isTotalCall(call: FuncCall, inner: boolean): boolean {
  const name = lastName(call.funcname);
  if (call.funcname?.length !== 1) return false;
  return (TOTAL_FUNCTIONS.has(name) && (call.args?.length ?? 0) < 2) || TOTAL_AGGREGATES.has(name) || (!inner && isAggregate(name));
}

/** A number of rows that is surely not negative. */
function isCount(value: unknown): boolean {
  const node = value as Node;
  if ('ParamRef' in node) return true;
  if (!('A_Const' in node)) return false;
  const { ival, isnull } = node.A_Const;
  return isnull === true || (ival !== undefined && (ival.ival ?? 0) >= 0);
}

/** Numbers that only some types hold: they fail where PostgreSQL makes a comparison's or a CASE's two types one. */
const EXTREME = /\d{31}|\d\.?e[+-]?\d/i;

/** The words of one or two letters that PostgreSQL takes in a day or time. */
const DAY_WORDS = new Set(['t', 'z', 'j', 'y', 'm', 'd', 'h', 's', 'ad', 'bc', 'am', 'pm', 'at', 'on', 'jd']);

/**
 * Whether a text may be a day that `date` holds and `timestamp` or `timestamptz` does not, in any format of PostgreSQL (`1/1/294277`, `294277 Jan 1`,
 * `J109202770`, `2942770101`; Date/Time Input Interpretation in its manual): a year of five digits, or one before Christ. Too many texts rather than too few.
 */
function mayBeFarDay(value: string): boolean {
  const words: readonly string[] = value.toLowerCase().match(/[a-z]+/g) ?? [];
  if (!words.every((w) => w.length > 2 || DAY_WORDS.has(w))) return false;
  if (words.includes('bc')) return true;
  const digits = value.trim();
  // without separators, month and day are the last four digits
  if (/^\d+$/.test(digits)) return digits.length > 8;
  return /\d{5}/.test(value.replace(/:\d\d\.\d+/g, ''));
}

/** Whether a constant is within the bounds of every type that it may be taken for. */
const isPlainConstant = ({ sval, fval }: A_Const): boolean =>
  !EXTREME.test(sval?.sval ?? '') && !EXTREME.test(fval?.fval ?? '') && !mayBeFarDay(sval?.sval ?? '');

/** Types whose comparisons compute, and overflow, whose values may have no place in the type that PostgreSQL makes of two, or that have a collation of their own, which may conflict. */
const COMPUTED = new Set(['point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'macaddr8', 'name']);

/**
 * Whether comparisons of a column's values, or conversions that PostgreSQL makes by itself, may fail: geometric types overflow, and of types that are
 * not PostgreSQL's own nothing is known. `type`: as the datasource names it (`int4`, `_text`, `oid:16400`); undefined: not known.
 */
export const isComputed = (type: string | undefined): boolean =>
  type === undefined || type.startsWith('oid:') || (type !== 'name' && COMPUTED.has(type.replace(/^_/, '')));

const COMPARING = ['A_Expr', 'CaseExpr', 'CoalesceExpr', 'MinMaxExpr'];

/**
 * Whether a SELECT over tables computes a column by comparing values of its tables or by choosing one of several: their types are not known from its
 * text, so this may fail (`isComputed`, conversions.ts).
 */
export function comparesColumns(stmt: SelectStmt): boolean {
  let found = false;
  const computes = (n: Node): boolean => {
    return COMPARING.some((key) => key in n) || ('FuncCall' in n && lastName(n.FuncCall.funcname) === 'length');
  };
  walk(stmt, (n) => {
    if ('ResTarget' in n)
      walk(n.ResTarget.val, (v) => {
        found ||= computes(v);
        return !found;
      });
    return !found;
  });
  return found;
}

/** A cast of a constant, or one to text. */
function isTotalCast(node: Extract<Node, { TypeCast: unknown }>): boolean {
  const { arg, typeName } = node.TypeCast;
  const type = lastName(typeName?.names);
  if (COMPUTED.has(type.replace(/^_/, ''))) return false;
  if (arg && ('A_Const' in arg || 'ParamRef' in arg)) return true;
  return type === 'text' && !typeName?.typmods?.length && !typeName?.arrayBounds?.length;
}

const FAMILIES: readonly ReadonlySet<string>[] = [new Set(['int2', 'int4', 'int8']), new Set(['text', 'varchar', 'bpchar', 'char', 'name'])];
const WIDTH: Readonly<Record<string, number>> = { int2: 1, int4: 2, int8: 3 };
const DECLARED: Readonly<Record<string, string>> = {
  integer: 'int4',
  bigint: 'int8',
  smallint: 'int2',
  'double precision': 'float8',
  boolean: 'bool',
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
};

/** Digits before the point that a whole number of a type can have. */
const DIGITS: Readonly<Record<string, number>> = { int2: 5, int4: 10, int8: 19 };
/** What PostgreSQL adds to a type modifier (VARHDRSZ). */
const MODIFIER_OFFSET = 4;

/** Whether a column gives texts: PostgreSQL quotes a text that it cannot cast in its message. */
export const givesTexts = (column: ColumnDef): boolean => column.type === undefined || castsAlways(column, 'varchar');

/** Whether every value of a column fits numeric(precision, scale): rounding could make one digit more. */
function fitsDigits({ type = '', modifier }: ColumnDef, precision: number, scale: number): boolean {
  if (type in DIGITS) return (DIGITS[type] as number) <= precision - scale;
  if (type !== 'numeric' || modifier === undefined) return false;
  const packed = modifier - MODIFIER_OFFSET;
  const [has, fraction] = [packed >> 16, packed & 0x7ff];
  return fraction <= scale && has - fraction <= precision - scale;
}

/**
 * Whether PostgreSQL derives no collation for a column: any comparison of it fails.
 */
export const lacksCollation = (column: ColumnDef): boolean => column.collation === '';

/**
 * Whether columns that one statement reads have different collations, other than the default. An expression of two of them, or a CASE that gives one or the other,
 * has no collation, and PostgreSQL fails where it compares such a value ("could not determine which collation to use", Collation Support in its manual). A column of
 * the default collation takes that of the other one.
 */
export function collationsConflict(columns: Iterable<ColumnDef>): boolean {
  const found = new Set<string>();
  for (const column of columns) {
    if (lacksCollation(column)) return true;
    const collation = column.collation ?? (column.type === 'name' || column.type === '_name' ? '"C"' : undefined);
    if (collation !== undefined) found.add(collation);
  }
  return found.size > 1;
}

/** Whether a table's column can be cast to a declared SQL type whatever it holds. */
export function castsAlways(column: ColumnDef | undefined, declared: string): boolean {
  const given = column?.type;
  if (column === undefined || given === undefined || lacksCollation(column)) return false;
  const wanted = DECLARED[declared] ?? declared;
  if (given === wanted || wanted === 'text') return true;
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,\s*(\d+))?\)$/.exec(wanted) ?? [];
  if (precision !== undefined) return fitsDigits(column, Number(precision), Number(scale));
  if (wanted === 'numeric' || wanted === 'float8') return given in WIDTH || (wanted === 'float8' && given === 'float4');
  if (given in WIDTH && wanted in WIDTH) return (WIDTH[given] as number) <= (WIDTH[wanted] as number);
  return FAMILIES.some((f) => f.has(given) && f.has(wanted));
}
