/** The rows of a logic concept: those of its source that meet the condition, each once (docs/design/paths-and-cardinality.md#logic-concepts). */
import { badRequest } from '../errors.ts';
import type { Concept, Graph, Rows } from '../ontology/graph.ts';
import { levelOf, nodesIn } from './aggregate/calls.ts';
import { asExists } from './aggregate/conditions.ts';
import type { RowFilter } from './narrow.ts';
import { ConceptRelation } from './relation.ts';
import { Resolver } from './resolve.ts';
import { Scope } from './scope.ts';
import type { WantedColumns } from './sources.ts';
import { column, FENCE, type Node, type SelectStmt, select, target } from './tree.ts';
import type { Work } from './work.ts';

/** A SELECT of `wanted` over the rows of `source` that meet the condition of `concept`. */
export function logicSource(
  work: Work,
  concept: Concept,
  rows: Extract<Rows, { kind: 'logic' }>,
  wanted: WantedColumns,
  reader: Concept,
  filter?: RowFilter,
): SelectStmt {
  if (work.expanding.has(concept)) throw badRequest('circular_concept', `the logic concept \`${concept.name}\` is defined by itself`);
  work.expanding.add(concept);
  const alias = work.alias();
  const relation = new ConceptRelation(work, rows.source, rows.schema, alias, reader);
  relation.root.filter = filter;
  for (const [name, w] of wanted) relation.expose(name, w);
  const condition = resolveCondition(
    work,
    concept,
    rows.condition,
    new ConceptRelation(work, rows.source, rows.schema, alias, rows.source, [], alias, relation),
  );
  const used = nodesIn(condition, [relation]);
  const facts = { scope: new Scope(undefined), relations: [relation], fromNodes: new Set<never>() };
  const isBranch = (node: Parameters<typeof levelOf>[0]): boolean => levelOf(node, facts) !== null;
  const where = asExists(condition, { relations: [relation], isBranch });
  const from = relation.emit(new Set([...used].filter((n) => !isBranch(n))));
  const fence = work.bars(rows.source) && work.fenced ? FENCE : {};
  work.expanding.delete(concept);
  return select({ targetList: [...wanted.keys()].map((name) => target(column(alias, name), name)), fromClause: [from], whereClause: where, ...fence });
}

/** The stored condition of a logic concept with its names resolved against a relation. */
export function resolveCondition(work: Work, owner: object, condition: string, relation: ConceptRelation, offset?: number, graph: Graph = work.graph): Node {
  const { node, parsed } = work.expression(owner, condition, offset);
  const scope = new Scope(undefined);
  scope.add(relation);
  work.judged.push('the concept');
  try {
    return new Resolver(work, parsed, graph).expression(node, scope);
  } finally {
    work.judged.pop();
  }
}
