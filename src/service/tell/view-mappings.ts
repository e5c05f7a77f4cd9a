/** The mappings that a view over concepts reads, by the names in its text. Pure. */
import type { SqlReader } from '../../ontology/apply.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import { isRaw, type MappingDef, type ViewDef } from '../../ontology/model.ts';
import { followPath, isPath } from '../../ontology/paths.ts';

const MEASURE = /^measure\./i;

/** The mappings of a concept's rows; for a logic concept those of the concept it reads from. */
function mappingsOfRows({ rows }: Concept): readonly MappingDef[] {
  return rows.kind === 'logic' ? mappingsOfRows(rows.source) : rows.sources.map((s) => s.mapping);
}

/** Returns the visible mappings of the concepts and links that a view reads, also through other views, each once. */
export function mappingsOfView(graph: Graph, reader: SqlReader, view: ViewDef): readonly MappingDef[] {
  const found = new Set<MappingDef>();
  const seen = new Set<ViewDef>();
  const read = (v: ViewDef): void => {
    if (seen.has(v) || isRaw(v)) return;
    seen.add(v);
    const sql = { text: v.sql, offset: 0 };
    const concepts: Concept[] = [];
    for (const { schema, name } of reader.relationsOf(sql)) {
      const concept = schema?.toLowerCase() === 'vsvc' ? undefined : graph.concept(name);
      const inner = concept === undefined ? graph.view(name) : undefined;
      if (concept) concepts.push(concept);
      else if (inner) read(inner);
    }
    const hops = reader
      .referencesOf(sql, 'select')
      .filter(({ name }) => isPath(name))
      .flatMap(({ name }) => concepts.flatMap((c) => followPath(c, name.replace(MEASURE, ''))?.hops ?? []));
    for (const c of [...concepts, ...hops.map((h) => h.rows)]) for (const m of mappingsOfRows(c)) found.add(m);
    for (const { relationship } of hops) for (const { mapping } of relationship.links) found.add(mapping);
  };
  read(view);
  return [...found].filter((m) => graph.mapping(m.name) !== undefined);
}
