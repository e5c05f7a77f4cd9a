/**
 * Lets conditions on `entity_id` use the table's index (docs/design/sql-shapes.md#comparisons-of-entity_id). If a query compares `entity_id` with constants,
 * the rows of each mapping are filtered by the key column. The caller's own comparison of the text remains, so the filter must not remove rows that meet it,
 * but may keep others.
 */
import type { PropertyDef } from '../../ontology/model.ts';
import { findType } from '../../ontology/types.ts';
import type { BoundValue } from '../plan/context.ts';
import { and, cast, equals, integer, lastName, type Node, text } from '../plan/tree.ts';
import type { Branch } from './branch.ts';

/** A row must have one of these ids. `bound`: they are values of parameters and stay parameters. */
export interface KeyFilter {
  readonly ids: readonly string[];
  readonly bound: boolean;
}

/** The condition that a row of the branch may have one of the ids; `false` if no row can, so that the branch can be omitted. */
export function keyCondition(branch: Branch, { ids, bound }: KeyFilter): Node | false {
  const key = branch.mapped.key;
  if (!key) return false;
  const prefix = `${key.holder.name}:`;
  const conditions: Node[] = [];
  for (const id of new Set(ids)) {
    if (!id.startsWith(prefix)) continue;
    const parts = splitKey(id.slice(prefix.length), key.properties.length);
    const tests = parts?.map((part, i) => partCondition(branch, key.properties[i] as PropertyDef, part, bound));
    if (!tests || tests.includes(false)) continue;
    conditions.push(and(tests as Node[]) as Node);
  }
  if (conditions.length === 0) return false;
  return conditions.length === 1 ? (conditions[0] as Node) : { BoolExpr: { boolop: 'OR_EXPR', args: conditions } };
}

/** The parts of a key's text; undefined if the number of parts is wrong. */
function splitKey(key: string, parts: number): string[] | undefined {
  if (parts === 1) return [key];
  const split = key.split('|');
  if (split.length !== parts) return undefined;
  return split.map((p) => p.replaceAll('%7C', '|').replaceAll('%25', '%'));
}

const INTEGER = /^(0|-?[1-9]\d{0,18})$/;
/** The sizes of integer columns. */
const BITS: Readonly<Record<string, number>> = { int2: 16, int4: 32 };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function partCondition(branch: Branch, def: PropertyDef, value: string, bound: boolean): Node | false {
  const constant = (sql: string): Node => {
    if (bound) return cast({ ParamRef: { number: branch.state.parameter(`key ${sql} ${value}`, value) } }, sql);
    if (sql === 'text') return text(value);
    return cast(sql === 'bigint' ? integer(value) : text(value), sql);
  };
  const type = findType(def.type)?.sql ?? 'text';
  const given = branch.given(def);
  const typed = branch.property(def);
  if (type === 'bigint' || type === 'integer' || type === 'smallint') {
    if (!INTEGER.test(value) || BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) return false;
    // a distributed planner converts the value to the column's type, which fails
    if (given?.type !== undefined && BigInt.asIntN(BITS[given.type] ?? 64, BigInt(value)) !== BigInt(value)) return false;
    const raw = given?.type === 'int2' || given?.type === 'int4' || given?.type === 'int8' ? branch.rows.column(given.name) : typed;
    return equals(raw, constant('bigint'));
  }
  if (type === 'uuid') return UUID.test(value) ? equals(typed, constant('uuid')) : false;
  return equals(type === 'text' ? typed : cast(typed, 'text'), constant('text'));
}

/**
 * The ids that a condition allows for a column, if it compares the column with constants or a parameter by `=`, `IN` or `= ANY (ARRAY[...])`. undefined for any
 * other condition.
 */
export function idsOf(condition: Node, isColumn: (node: Node) => boolean, values: readonly BoundValue[] = []): KeyFilter | undefined {
  if (!('A_Expr' in condition)) return undefined;
  const { kind, name, lexpr, rexpr } = condition.A_Expr;
  if (!lexpr || !rexpr || name?.length !== 1 || lastName(name) !== '=') return undefined;
  if (kind === 'AEXPR_OP') {
    const other = isColumn(lexpr) ? rexpr : isColumn(rexpr) ? lexpr : undefined;
    return other && (all([other]) ?? boundIds(other, values));
  }
  if (!isColumn(lexpr)) return undefined;
  if (kind === 'AEXPR_IN' && 'List' in rexpr) return all(rexpr.List.items);
  if (kind === 'AEXPR_OP_ANY') {
    const array = 'TypeCast' in rexpr ? rexpr.TypeCast.arg : rexpr;
    if (array && 'A_ArrayExpr' in array) return all(array.A_ArrayExpr.elements);
    return boundIds(rexpr, values);
  }
  return undefined;
}

function all(items: readonly Node[] | undefined): KeyFilter | undefined {
  const texts = (items ?? []).map(textOf);
  return texts.every((t) => t !== undefined) ? { ids: texts as string[], bound: false } : undefined;
}

/** The value of a parameter, with or without a cast. */
function boundIds(node: Node, values: readonly BoundValue[]): KeyFilter | undefined {
  const inner = 'TypeCast' in node ? node.TypeCast.arg : node;
  const value = inner && 'ParamRef' in inner ? values[(inner.ParamRef.number ?? 0) - 1] : undefined;
  return value === undefined ? undefined : { ids: typeof value === 'string' ? [value] : value, bound: true };
}

/** The text of a constant, with or without a cast to text. */
function textOf(node: Node): string | undefined {
  if ('TypeCast' in node) {
    const mods = node.TypeCast.typeName?.typmods;
    return lastName(node.TypeCast.typeName?.names) === 'text' && !mods && node.TypeCast.arg ? textOf(node.TypeCast.arg) : undefined;
  }
  return 'A_Const' in node && node.A_Const.sval ? (node.A_Const.sval.sval ?? '') : undefined;
}
