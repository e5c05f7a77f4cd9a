/** The detail object of `get_ontology` (decisions 2), from a graph and what the caller may see. Pure. */
import type { Concept, Graph, Relationship } from '../ontology/graph.ts';
import { type ColumnDef, isRaw, type MappingDef, type MeasureDef, type PropertyDef, type Transitivity } from '../ontology/model.ts';

/** How far a star walks where neither the relationship nor the ontology says. */
export const DEFAULT_TRANSITIVITY = 3;

export interface Visible {
  concept(name: string): boolean;
  view(name: string): boolean;
}

export interface DetailDatasource {
  readonly name: string;
  readonly type: string;
  readonly is_active: boolean;
}

/** Our name for one of PostgreSQL's types; another one is told by its own. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  bpchar: 'string',
  name: 'string',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'float',
  float8: 'double',
  numeric: 'decimal',
  bool: 'boolean',
  jsonb: 'json',
};

/** The type of a view's column; null where nobody has told it. */
export const columnType = ({ type }: ColumnDef): string | null =>
  type === undefined ? null : ((Object.hasOwn(TYPES, type) ? TYPES[type] : undefined) ?? type);

/** A stored piece of SQL as it is printed: schemas and functions in the product's names. */
export type Printed = (sql: string, kind: 'expression' | 'select') => string;

/** Mappings into a concept, of its multi-value properties, and of the links of relationships that it declares, to ends that the caller sees. */
export function mappingsOf(concept: Concept, visible: Visible): readonly MappingDef[] {
  const links = concept.relationships.filter((r) => r.kind === 'mtm' && !r.isInverse && r.declaredBy === concept && visible.concept(r.target.name));
  const found = new Set([...concept.mappings, ...concept.multiMappings, ...links.flatMap((r) => r.links.map((l) => l.mapping))]);
  return [...found];
}

/** `data` of get_ontology. */
export function ontologyDetail(
  graph: Graph,
  version: string,
  datasources: readonly DetailDatasource[],
  visible: Visible,
  printed: Printed,
): Record<string, unknown> {
  const { model } = graph;
  const concepts = graph.concepts.filter((c) => visible.concept(c.name));
  const shown = new Set<string>();
  for (const concept of concepts) {
    for (const p of [...concept.properties, ...concept.multi]) shown.add(p.def.name);
    for (const m of concept.measures) shown.add(m.def.name);
  }
  // a property that no concept has belongs to nobody: who sees every concept sees it too
  const whole = concepts.length === graph.concepts.length;
  const shows = (name: string): boolean => whole || shown.has(name);
  return {
    datasources,
    ontology: concepts.map((c) => conceptDetail(graph, c, visible, printed)),
    properties: Object.fromEntries([
      ...model.properties.filter((p) => shows(p.name)).map((p) => [p.name, propertyDetail(p, printed)]),
      ...model.measures.filter((m) => shows(m.name)).map((m) => [m.name, measureDetail(m, printed)]),
    ]),
    quote: model.config.quote === '"' ? '"' : '`',
    version,
    views: Object.fromEntries(
      model.views
        .filter((v) => visible.view(v.name))
        .map((v) => [
          v.name,
          {
            description: v.description,
            is_cube: v.cube,
            query: whole ? (isRaw(v) ? v.sql : printed(v.sql, 'select')) : null,
            columns: v.columns.map((c) => ({ name: c.name, type: columnType(c) })),
            tags: v.tags,
          },
        ]),
    ),
  };
}

const propertyDetail = (p: PropertyDef, printed: Printed) => ({
  type: p.type,
  description: p.description,
  is_multi: p.multi,
  is_measure: false,
  expression: p.expression === null ? null : printed(p.expression, 'expression'),
  tags: p.tags,
});

/** A measure's definition as AS SELECT has it. */
export const measureText = ({ expression, filter }: Pick<MeasureDef, 'expression' | 'filter'>, printed: Printed): string =>
  [printed(expression, 'expression'), ...(filter === null ? [] : [printed(filter, 'expression')])].join(' WHERE ');

const measureDetail = (m: MeasureDef, printed: Printed) => ({
  type: m.type,
  description: m.description,
  is_multi: false,
  is_measure: true,
  expression: measureText(m, printed),
  tags: m.tags,
});

function conceptDetail(graph: Graph, concept: Concept, visible: Visible, printed: Printed): Record<string, unknown> {
  const parent = (c: Concept): string => c.name;
  const condition = concept.def?.logic?.condition;
  const from = (owner: Concept): string | null => (owner === concept ? null : owner.name);
  return {
    concept: concept.name,
    inheritance: concept.parents.filter((c) => c === graph.thing || visible.concept(c.name)).map(parent),
    inheritance_level: concept.level,
    description: concept.def?.description ?? null,
    primary_keys: (concept.key?.properties ?? []).map((p) => p.name),
    label_keys: concept.label.map((p) => p.name),
    query: condition === undefined ? null : printed(condition, 'expression'),
    properties: [
      ...[...concept.properties, ...concept.multi].map(({ def, owner }) => ({
        name: def.name,
        type: def.type,
        description: def.description,
        is_multi: def.multi,
        is_measure: false,
        inherited_from: from(owner),
      })),
      ...concept.measures.map(({ def, owner }) => ({
        name: def.name,
        type: def.type,
        description: def.description,
        is_multi: false,
        is_measure: true,
        inherited_from: from(owner),
      })),
    ],
    relationships: concept.relationships.filter((r) => visible.concept(r.target.name)).map((r) => relationshipDetail(graph, r, from(r.from))),
    mappings: mappingsOf(concept, visible).map((m) => m.name),
    tags: concept.def?.tags ?? {},
  };
}

const relationshipDetail = (graph: Graph, r: Relationship, inheritedFrom: string | null) => ({
  name: r.name,
  target: r.target.name,
  inverse: r.inverseName,
  is_inverse: r.isInverse,
  is_mtm: r.kind === 'mtm',
  transitivity: transitivityOf(graph, r.transitive),
  source_properties: r.source.map((p) => p.name),
  target_properties: r.references.map((p) => p.name),
  description: r.description,
  inherited_from: inheritedFrom,
});

/** The number of steps of a relationship; null where it is not transitive. */
export function transitivityOf(graph: Graph, declared: Transitivity): number | null {
  if (declared !== 'default') return declared;
  const set = Number(graph.model.config.default_transitivity);
  return Number.isInteger(set) && set > 0 ? set : DEFAULT_TRANSITIVITY;
}
