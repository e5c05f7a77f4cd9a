/** Where the rows of a concept come from (docs/design/paths-and-cardinality.md#rows-of-a-concept). */
import { listed, made, visited } from '../budget.ts';
import type { Concept, Graph, LogicRows, Rows } from './graph.ts';
import type { MappingDef } from './model.ts';

type Sources = { mapping: MappingDef; target: Concept }[];
type MappingRows = Exclude<Rows, LogicRows>;

/** Makes a concept that is equal to another one, but has other rows. */
export type WithRows = (concept: Concept, rows: Rows) => Concept;

/** The rows of `concept`. A logic concept whose source does not exist (in the middle of a script) has no rows. */
export function rowsOf(concept: Concept, graph: Graph, withRows: WithRows): Rows {
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
  return sources.length > 0 ? { kind: 'mappings', fromAncestors: false, sources } : rowsOfAncestors(concept, withRows);
}

/** The rows of an unmapped concept: those of the first mapped ancestor on each path upward, or else those of the first logic concept that belong to its ancestors. */
function rowsOfAncestors(concept: Concept, withRows: WithRows): Rows {
  const sources: Sources = [];
  const logic: Concept[] = [];
  const seen = new Set<Concept>(concept.parents);
  for (const c of seen) {
    if (c.def?.logic) logic.push(c);
    else if (c.mappings.length > 0) for (const mapping of c.mappings) sources.push({ mapping, target: c });
    else for (const parent of c.parents) seen.add(parent);
  }
  if (sources.length > 0) return { kind: 'mappings', fromAncestors: true, sources };
  for (const { rows } of logic) {
    const own = rowsOfAncestorsIn(rows, concept, withRows);
    if (own) return own;
  }
  return { kind: 'mappings', fromAncestors: false, sources: [] };
}

/** The part of the rows of a logic concept whose mappings map INTO ancestors of `concept`, so without rows of its siblings; undefined if no such mapping exists. */
function rowsOfAncestorsIn(rows: Rows, concept: Concept, withRows: WithRows): Rows | undefined {
  const conditions = new Set<LogicRows>();
  let at = rows;
  while (at.kind === 'logic') {
    // the checks at the script's end reject a concept that is defined on itself
    if (conditions.has(at)) return rows;
    visited();
    conditions.add(at);
    at = at.source.rows;
  }
  const part = ofAncestors(at, concept);
  if (part.sources.length === 0) return undefined;
  if (part.sources.length === at.sources.length) return rows;
  return partOf(rows, part, () => {
    made(NODES_OF_A_CONCEPT * conditions.size);
    return [...conditions].reduceRight<Rows>((below, condition) => ({ ...condition, source: withRows(condition.source, below) }), part);
  });
}

/** The size of a concept with other rows, in nodes. */
const NODES_OF_A_CONCEPT = 20;

/** The parts of the rows of logic concepts that are known. Concepts with the same part share it, because a part has a concept for each condition. */
const PARTS = new WeakMap<Rows, { readonly part: MappingRows; readonly rows: Rows }[]>();

function partOf(whole: Rows, part: MappingRows, make: () => Rows): Rows {
  const known = PARTS.get(whole) ?? [];
  visited(known.length);
  const same = known.find((k) => k.part.sources.length === part.sources.length && k.part.sources.every((s, i) => s === part.sources[i]));
  if (same) return same.rows;
  const rows = make();
  PARTS.set(whole, [...known, { part, rows }]);
  return rows;
}

const ofAncestors = (rows: MappingRows, concept: Concept): MappingRows => {
  listed(rows.sources.length);
  return { ...rows, fromAncestors: true, sources: rows.sources.filter(({ target }) => concept.isA(target)) };
};
