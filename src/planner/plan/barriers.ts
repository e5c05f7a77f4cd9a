/**
 * Barriers keep PostgreSQL from evaluating expressions of the caller on rows that a condition hides (docs/design/policies.md#barriers). A statement needs them only if
 * some part of it may raise an error on a value, which is known when the whole statement is planned. Until then a SELECT has marks, and a FROM item that has a second
 * form for statements with barriers is a slot.
 */
import type { RangeVar } from '@pgsql/types';
import { raiseValues } from './raised.ts';
import { and, conjuncts, hasOnlyNames, type Node, OFFSET_ZERO, type SelectStmt } from './tree.ts';

/** A part of WHERE. `when`: whether it applies only to statements with barriers, or only to those without. */
export interface Condition {
  readonly node: Node;
  readonly when?: 'with barriers' | 'without barriers';
}

/** Marks of a SELECT, which `settleBarriers` removes. */
interface Marks {
  /** Add OFFSET 0 in a statement with barriers. */
  barrier?: true;
  /** Further conditions for WHERE. */
  conditions?: readonly Condition[];
}

/** Marks a SELECT as a barrier if the statement needs barriers. */
export const BARRIER: Readonly<Pick<Marks, 'barrier'>> = { barrier: true };

/** True for a SELECT with the mark of a barrier. */
export const isBarrier = (query: SelectStmt): boolean => 'barrier' in query;

/** The WHERE clause for conditions, some of which may depend on whether the statement has barriers. */
export function whereOf(conditions: readonly Condition[]): Pick<SelectStmt, 'whereClause'> & Pick<Marks, 'conditions'> {
  if (conditions.some((c) => c.when !== undefined)) return { conditions };
  const whereClause = and(conditions.map((c) => c.node));
  return whereClause ? { whereClause } : {};
}

/** The conditions as they apply only to statements without barriers. */
export const withoutBarriers = (conditions: readonly Condition[]): Condition[] =>
  conditions.flatMap((c) => (c.when === 'with barriers' ? [] : [{ node: c.node, when: 'without barriers' as const }]));

/** A FROM item with a second form for statements with barriers. */
export interface LateItem {
  readonly plain: Node;
  readonly withBarrier: () => Node;
}

/** The persistence of a RangeVar that is the slot of a late item. The parser writes a single letter. */
const SLOT = 'late item';

/** The slot of a late item. */
export const slotOfLate = (index: number): Node => ({ RangeVar: { relpersistence: SLOT, relname: String(index) } });

/** What a statement consists of besides its tree. */
export interface Unsettled {
  readonly late: readonly LateItem[];
  /** A new alias, unique in the statement. */
  alias(): string;
}

/** Replaces the marks and slots of a planned statement by the form that it needs (in place). */
export function settleBarriers<T>(tree: T, statement: Unsettled, hasBarriers: boolean): T {
  /** @param isBelow whether the value is part of the FROM clause of a barrier */
  const settle = (value: unknown, isBelow: boolean): unknown => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const by = settle(value[i], isBelow);
        if (by !== value[i]) value[i] = by;
      }
      return value;
    }
    const slot = slotIn(value, statement.late);
    if (slot) return settle(hasBarriers ? slot.withBarrier() : slot.plain, isBelow);
    if ('barrier' in value || 'conditions' in value) settleMarks(value as SelectStmt & Marks, hasBarriers);
    const isKept = isSettledBarrier(value);
    const o = value as Record<string, unknown>;
    for (const k in o) {
      const v = o[k];
      if (v === null || typeof v !== 'object' || hasOnlyNames(k)) continue;
      const by = settle(v, k === 'fromClause' ? isBelow || isKept : isBelow && !ENDS_FROM.has(k));
      if (by !== v) o[k] = by;
    }
    if (isKept && isBelow) raiseValues(value as SelectStmt, () => statement.alias());
    return value;
  };
  return settle(tree, false) as T;
}

/** Members whose sub-queries are no part of FROM. */
const ENDS_FROM = new Set(['targetList', 'whereClause', 'quals', 'havingClause', 'groupClause', 'sortClause', 'limitCount']);

/** True for a SELECT with the OFFSET 0 of a barrier. */
const isSettledBarrier = (value: object): boolean => 'limitOffset' in value && value.limitOffset === OFFSET_ZERO.limitOffset;

/** The late item of a slot. */
function slotIn(value: object, items: readonly LateItem[]): LateItem | undefined {
  const slot = 'RangeVar' in value ? (value.RangeVar as RangeVar) : undefined;
  return slot?.relpersistence === SLOT ? items[Number(slot.relname)] : undefined;
}

function settleMarks(marked: SelectStmt & Marks, hasBarriers: boolean): void {
  if (marked.barrier) {
    delete marked.barrier;
    if (hasBarriers) Object.assign(marked, OFFSET_ZERO);
  }
  if (marked.conditions) {
    const left = hasBarriers ? 'without barriers' : 'with barriers';
    const where = and([...conjuncts(marked.whereClause), ...marked.conditions.flatMap((c) => (c.when === left ? [] : [c.node]))]);
    delete marked.conditions;
    if (where) marked.whereClause = where;
  }
}
