/** The mappings that views over concepts read, by the names in their texts. Pure. */
import { visited } from '../../budget.ts';
import type { SqlReader } from '../../ontology/apply.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import { isRaw, type MappingDef, type ViewDef } from '../../ontology/model.ts';
import { followPath, isPath } from '../../ontology/paths.ts';

const MEASURE = /^measure\./i;

/** The mappings of a concept's rows; for a logic concept those of the concept it reads from. */
function mappingsOfRows({ rows }: Concept): readonly MappingDef[] {
  return rows.kind === 'logic' ? mappingsOfRows(rows.source) : rows.sources.map((s) => s.mapping);
}

/** Finds the mappings of the views of a model. Each text is read once, however many views read it. */
export class ViewMappings {
  readonly #graph: Graph;
  readonly #reader: SqlReader;
  readonly #known = new Map<ViewDef, ReadonlySet<MappingDef>>();

  constructor(graph: Graph, reader: SqlReader) {
    this.#graph = graph;
    this.#reader = reader;
  }

  /** Returns the visible mappings of the concepts and links that a view reads, also through other views, each once. */
  of(view: ViewDef): readonly MappingDef[] {
    return [...this.#all(view)].filter((m) => this.#graph.mapping(m.name) !== undefined);
  }

  #all(view: ViewDef): ReadonlySet<MappingDef> {
    const known = this.#known.get(view);
    if (known !== undefined) return known;
    const found = new Set<MappingDef>();
    // before its text is read, so that a view that reads itself ends
    this.#known.set(view, found);
    if (isRaw(view)) return found;
    const sql = { text: view.sql, offset: 0 };
    const { concepts, views } = this.#relations(sql);
    const paths = new Set(this.#reader.referencesOf(sql, 'select').flatMap(({ name }) => (isPath(name) ? [name.replace(MEASURE, '')] : [])));
    const hops = [...paths].flatMap((path) => concepts.flatMap((c) => followPath(c, path)?.hops ?? []));
    const add = (mappings: Iterable<MappingDef>): void => {
      for (const m of mappings) {
        visited(1);
        found.add(m);
      }
    };
    for (const inner of views) add(this.#all(inner));
    for (const c of [...concepts, ...hops.map((h) => h.rows)]) add(mappingsOfRows(c));
    for (const { relationship } of hops) add(relationship.links.map((l) => l.mapping));
    return found;
  }

  /** The concepts and views that a text names, each once. */
  #relations(sql: { readonly text: string; readonly offset: number }): { readonly concepts: readonly Concept[]; readonly views: readonly ViewDef[] } {
    const [concepts, views] = [new Set<Concept>(), new Set<ViewDef>()];
    for (const { schema, name } of this.#reader.relationsOf(sql)) {
      const concept = schema?.toLowerCase() === 'vsvc' ? undefined : this.#graph.concept(name);
      const inner = concept === undefined ? this.#graph.view(name) : undefined;
      if (concept) concepts.add(concept);
      else if (inner) views.add(inner);
    }
    return { concepts: [...concepts], views: [...views] };
  }
}
