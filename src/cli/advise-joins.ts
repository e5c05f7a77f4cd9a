/** The tables that the mappings of a model read, and the relationships that join them. */
import { physicalColumns } from '../checks/indexes.ts';
import type { SqlParser } from '../language/parser.ts';
import type { Concept, Graph, Relationship } from '../ontology/graph.ts';
import type { MappingDef } from '../ontology/model.ts';
import { fold, sameName } from '../ontology/names.ts';
import { type Node, walk } from '../planner/plan/tree.ts';
import type { TableJoin } from './advise-layout.ts';

/** What a model reads of a datasource. */
export interface ModelTables {
  /** `schema.table`. Names of common table expressions are among them. */
  readonly tables: ReadonlySet<string>;
  /** Only those by columns that mappings pass through unchanged, each once. */
  readonly joins: readonly TableJoin[];
}

/** Properties of a mapping, or columns of links. */
type Side = { readonly mapping: MappingDef; readonly names: readonly string[] };

/** The tables and joins of a model in a datasource. */
export function modelTables(graph: Graph, parser: SqlParser, datasource: string): ModelTables {
  const mappings = graph.model.mappings.filter((m) => fold(m.datasource) === fold(datasource));
  const columns = new Map(mappings.map((m) => [m, physicalColumns(m.sql, parser)]));
  const joins = new Map<string, TableJoin>();
  const placed = ({ mapping, names }: Side) => {
    const known = columns.get(mapping);
    const found = names.map((name) => [...(known ?? [])].find(([n]) => sameName(n, name))?.[1]);
    const [first] = found;
    return first && found.every((c) => c?.schema === first.schema && c.table === first.table)
      ? { key: `${first.schema}.${first.table}`, columns: found.map((c) => c?.column ?? '') }
      : undefined;
  };
  const add = (near: Side, far: Side, by: string, isWalk: boolean): void => {
    const [a, b] = [placed(near), placed(far)];
    if (!a || !b || a.columns.length !== b.columns.length) return;
    const pairs = a.columns.map((c, i) => [c, b.columns[i] as string] as const);
    const id = JSON.stringify([by, a, b]);
    if (!joins.has(id)) joins.set(id, { from: a.key, to: b.key, pairs, by, isWalk });
  };
  for (const concept of graph.concepts)
    for (const r of concept.relationships) if (r.declaredBy === concept && !r.isInverse) addJoins(r, `${concept.name}.${r.name}`, graph, add);
  return { tables: new Set(mappings.flatMap((m) => tablesIn(m.sql, parser))), joins: [...joins.values()] };
}

function addJoins(r: Relationship, by: string, graph: Graph, add: (near: Side, far: Side, by: string, isWalk: boolean) => void): void {
  const isWalk = r.transitive !== null;
  const sides = (concept: Concept | undefined, names: readonly string[]): Side[] => (concept ? mappingsOf(concept).map((mapping) => ({ mapping, names })) : []);
  const names = (defs: readonly { readonly name: string }[]): string[] => defs.map((d) => d.name);
  if (r.kind === 'fk') for (const near of sides(r.from, names(r.source))) for (const far of sides(r.target, names(r.references))) add(near, far, by, isWalk);
  for (const { mapping, near, far } of r.links)
    for (const end of [near, far])
      for (const other of sides(graph.concept(end.concept), end.references)) add({ mapping, names: end.columns }, other, by, isWalk);
}

/** The mappings of a concept. For a logic concept, those of its source. */
function mappingsOf(concept: Concept): readonly MappingDef[] {
  let { rows } = concept;
  while (rows.kind === 'logic') rows = rows.source.rows;
  return rows.sources.map((s) => s.mapping);
}

function tablesIn(sql: string, parser: SqlParser): string[] {
  let tree: Node | undefined;
  try {
    tree = parser.parse(sql).stmts[0]?.stmt;
  } catch {
    return []; // written with back-quotes or the like
  }
  const found: string[] = [];
  walk([tree], (n) => {
    if ('RangeVar' in n && n.RangeVar.relname) found.push(`${n.RangeVar.schemaname ?? 'public'}.${n.RangeVar.relname}`);
    return undefined;
  });
  return found;
}
