/** The rows of a logic concept: the rows of its source that meet the condition, each of them once (docs/design/paths-and-cardinality.md#logic-concepts). */
import { badRequest } from '../../errors.ts';
import type { Concept, LogicRows } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { logicCondition } from '../bind/condition.ts';
import { ConceptRelation } from '../bind/relation.ts';
import { BARRIER } from '../plan/barriers.ts';
import { column, type SelectStmt, select, subselect, target } from '../plan/tree.ts';
import type { WantedColumns } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { asExists } from './aggregate/conditions.ts';
import { levelOf, NONE, nodesIn } from './aggregate/spine.ts';
import { emitConcept } from './emission.ts';
import { bindAndLower } from './finish.ts';
import { eachMapping, type RowFilter } from './narrow.ts';
import { unionOf } from './union.ts';

/** The error for a logic concept whose condition depends on its own rows. */
export const circularConcept = (concept: Concept): Error => badRequest('circular_concept', `the logic concept \`${concept.name}\` depends on itself`);

/**
 * A SELECT of `wanted` over the rows of the concept's source that meet its condition.
 * @throws SvcError 400 `circular_concept`
 */
export function logicSource(state: PlanState, concept: Concept, rows: LogicRows, wanted: WantedColumns, reader: Concept, filter?: RowFilter): SelectStmt {
  return state.position.expanding(
    concept,
    () => circularConcept(concept),
    () => rowsOf(state, rows, wanted, reader, filter),
    readOf(wanted),
  );
}

/** What columns read, regardless of their names. Only a finite number of texts, so that a circle reads the same again. */
const readOf = (wanted: WantedColumns): string =>
  JSON.stringify([...new Set([...wanted.values()].map((w) => `${w.kind} ${'def' in w ? fold(w.def.name) : ''}`))].sort());

function rowsOf(state: PlanState, rows: LogicRows, wanted: WantedColumns, reader: Concept, filter: RowFilter | undefined): SelectStmt {
  const selection = (own: RowFilter | undefined): SelectStmt => rowsThatMeet(state, rows, wanted, reader, own);
  const plain = selection(filter);
  const parts = state.hidesRows(rows.source) ? eachMapping(rows.source, filter) : undefined;
  if (!parts) return plain;
  const alias = state.alias();
  const item = state.item(subselect(plain, alias), () => subselect(unionOf(parts.map(selection)), alias));
  return select({ targetList: [...wanted.keys()].map((name) => target(column(alias, name), name)), fromClause: [item] });
}

/** True if the condition of a logic concept may raise an error on a row that it hides. */
function conditionMayFail(state: PlanState, rows: LogicRows, reader: Concept): boolean {
  const known = state.failing.get(rows);
  if (known !== undefined) return known;
  const found = state.facts.raises(() => void rowsThatMeet(state, rows, new Map(), reader, undefined));
  state.failing.set(rows, found);
  return found;
}

function rowsThatMeet(state: PlanState, rows: LogicRows, wanted: WantedColumns, reader: Concept, filter: RowFilter | undefined): SelectStmt {
  const alias = state.alias();
  const relation = new ConceptRelation(state, { concept: rows.source, schema: rows.schema, alias, reader });
  const hides = state.hidesRows(rows.source);
  relation.root.filter =
    filter && hides ? { ...filter, isBelowBarrier: true, ...(conditionMayFail(state, rows, reader) ? { isComputedEarly: true } : {}) } : filter;
  for (const [name, w] of wanted) relation.expose(name, w);
  const condition = bindAndLower(state, () => logicCondition(state, rows, relation));
  const used = nodesIn(condition, [relation]);
  const isBranch = (node: Parameters<typeof levelOf>[0]): boolean => levelOf(node, { fromNodes: NONE }) !== null;
  const where = asExists(condition, { relations: [relation], isBranch });
  state.references.settle(where, relation);
  const from = emitConcept(relation, new Set([...used].filter((n) => !isBranch(n))));
  state.facts.hidesRows ||= hides;
  const barrier = hides ? BARRIER : {};
  return select({ targetList: [...wanted.keys()].map((name) => target(column(alias, name), name)), fromClause: [from], whereClause: where, ...barrier });
}
