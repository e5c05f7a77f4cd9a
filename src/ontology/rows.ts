/** Where the rows of a concept come from (docs/design/paths-and-cardinality.md#rows-of-a-concept). */
import { listed } from '../budget.ts';
import type { Concept, Graph, Rows } from './graph.ts';
import type { MappingDef } from './model.ts';

type Sources = { mapping: MappingDef; target: Concept }[];

/** The rows of `concept`. A logic concept whose source does not exist (in the middle of a script) has no rows. */
export function rowsOf(concept: Concept, graph: Graph): Rows {
  const logic = concept.def?.logic;
  if (logic) {
    const source = graph.concept(logic.concept);
    if (!source) return { kind: 'mappings', fromAncestors: false, sources: [] };
    return { kind: 'logic', name: concept.name, schema: logic.schema, source, condition: logic.condition, definer: logic.definer };
  }
  const sources: Sources = [];
  // mappings into a logic concept are rejected later; skip them here, so that their rows do not reach its ancestors
  listed(concept.descendants.length);
  for (const c of [concept, ...concept.descendants]) if (!c.def?.logic) for (const mapping of c.mappings) sources.push({ mapping, target: c });
  return sources.length > 0 ? { kind: 'mappings', fromAncestors: false, sources } : rowsOfAncestors(concept);
}

/** The rows of an unmapped concept: those of the first mapped ancestor on each path upward, or else of the first logic concept. */
function rowsOfAncestors(concept: Concept): Rows {
  const sources: Sources = [];
  const logic: Concept[] = [];
  const seen = new Set<Concept>(concept.parents);
  for (const c of seen) {
    if (c.def?.logic) logic.push(c);
    else if (c.mappings.length > 0) for (const mapping of c.mappings) sources.push({ mapping, target: c });
    else for (const parent of c.parents) seen.add(parent);
  }
  if (sources.length === 0 && logic[0]) return logic[0].rows;
  return { kind: 'mappings', fromAncestors: sources.length > 0, sources };
}
