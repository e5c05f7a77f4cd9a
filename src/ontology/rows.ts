/** Where the rows of a concept come from (docs/design/paths-and-cardinality.md#rows-of-a-concept). */
import { listed } from '../budget.ts';
import type { Concept, Graph, Rows } from './graph.ts';
import type { MappingDef } from './model.ts';

type Sources = { mapping: MappingDef; target: Concept }[];

/** The rows of `concept`. A logic concept whose source does not exist (in the middle of a script) has none. */
export function rowsOf(concept: Concept, graph: Graph): Rows {
  const logic = concept.def?.logic;
  if (logic) {
    const source = graph.concept(logic.concept);
    return source ? { kind: 'logic', schema: logic.schema, source, condition: logic.condition } : { kind: 'mappings', standIn: false, sources: [] };
  }
  const sources: Sources = [];
  // Mappings into a logic concept are refused; passing over them here keeps its rows from being added to its ancestors.
  listed(concept.descendants.length);
  for (const c of [concept, ...concept.descendants]) if (!c.def?.logic) for (const mapping of c.mappings) sources.push({ mapping, target: c });
  return sources.length > 0 ? { kind: 'mappings', standIn: false, sources } : standIn(concept);
}

/** What an unmapped concept stands for: on each way upward the first ancestor that is mapped, or the logic concept met first where no way leads to a mapped one. */
function standIn(concept: Concept): Rows {
  const sources: Sources = [];
  const logic: Concept[] = [];
  const seen = new Set<Concept>(concept.parents);
  for (const c of seen) {
    if (c.def?.logic) logic.push(c);
    else if (c.mappings.length > 0) for (const mapping of c.mappings) sources.push({ mapping, target: c });
    else for (const parent of c.parents) seen.add(parent);
  }
  if (sources.length === 0 && logic[0]) return logic[0].rows;
  return { kind: 'mappings', standIn: sources.length > 0, sources };
}
