/** The description of an ontology for `get_ontology` (docs/design/rows-and-json.md#the-detail-object), from the graph that the caller sees. Pure. */
import { type Budget, made, NODES_OF_A_PROPERTY, NODES_OF_A_RELATIONSHIP, STEPS_OF_A_LINK, visited, withinAnswer } from '../../budget.ts';
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import { type ColumnDef, isRaw, type MappingDef, type MeasureDef, type PropertyDef, type Transitivity } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { postgresTypeName } from '../../ontology/types.ts';
import type { Texts } from '../caller/texts.ts';

/** The maximum number of steps of a walk with `*`, if neither the relationship nor the ontology declares it. */
export const DEFAULT_TRANSITIVITY = 3;

export interface DetailDatasource {
  readonly name: string;
  readonly type: string;
  readonly is_active: boolean;
}

/** Returns the type of a view's column, with PostgreSQL's name for a type that the language does not have; null if the type is unknown. */
export const columnType = ({ type }: ColumnDef): string | null => (type === undefined ? null : (postgresTypeName(type) ?? type));

/** Returns the columns of a relationship's link mappings, without the keys of both ends, each once. */
export function linkColumnsOf(relationship: Relationship): readonly ColumnDef[] {
  let columns = linkColumns.get(relationship);
  if (columns === undefined) {
    columns = findLinkColumns(relationship);
    linkColumns.set(relationship, columns);
  }
  visited(columns.length);
  return columns;
}

/** All concepts that inherit a relationship have the same one. */
const linkColumns = new WeakMap<Relationship, readonly ColumnDef[]>();

function findLinkColumns({ links, parts }: Relationship): readonly ColumnDef[] {
  if (parts.length > 1) return [];
  visited(STEPS_OF_A_LINK * links.length);
  const found = new Map<string, ColumnDef>();
  for (const { mapping, near, far } of links) {
    const keys = new Set([...near.columns, ...far.columns].map(fold));
    for (const c of mapping.columns) if (!keys.has(fold(c.name)) && !found.has(fold(c.name))) found.set(fold(c.name), c);
  }
  return [...found.values()];
}

/** Returns the mappings of a concept, of its multi-value properties, and of the links of relationships that it declares. */
export function mappingsOf(concept: Concept): readonly MappingDef[] {
  const links = concept.relationships.filter((r) => r.kind === 'mtm' && !r.isInverse && r.declaredBy === concept);
  const found = new Set([...concept.mappings, ...concept.multiMappings, ...links.flatMap((r) => r.links.map((l) => l.mapping))]);
  return [...found].filter((m) => concept.graph.mapping(m.name) !== undefined);
}

/** Returns the `data` of get_ontology. @param answers budget of the request @throws SvcError 400 `too_complex` */
export function ontologyDetail(
  graph: Graph,
  version: string,
  datasources: readonly DetailDatasource[],
  texts: Texts,
  answers?: Budget,
): Record<string, unknown> {
  return withinAnswer('the description of the ontology', answers, () => detailOf(graph, version, datasources, texts));
}

function detailOf(graph: Graph, version: string, datasources: readonly DetailDatasource[], texts: Texts): Record<string, unknown> {
  const { model } = graph;
  return {
    datasources,
    ontology: graph.concepts.map((c) => conceptDetail(graph, c, texts)),
    properties: Object.fromEntries([
      ...model.properties.map((p) => [p.name, propertyDetail(p, texts)]),
      ...model.measures.map((m) => [m.name, measureDetail(m, texts)]),
    ]),
    quote: model.config.quote === '"' ? '"' : '`',
    version,
    views: Object.fromEntries(
      model.views.map((v) => [
        v.name,
        {
          description: v.description,
          is_cube: v.cube,
          query: isRaw(v) ? (texts.showsTables(v.datasource ?? '') ? v.sql : null) : texts.view(v),
          columns: v.columns.map((c) => ({ name: c.name, type: columnType(c) })),
          tags: v.tags,
        },
      ]),
    ),
  };
}

const propertyDetail = (p: PropertyDef, texts: Texts) => ({
  type: p.type,
  description: p.description,
  is_multi: p.multi,
  is_measure: false,
  expression: texts.property(p),
  tags: p.tags,
});

/** Returns the definition of a measure as in AS SELECT; null if it is hidden from the caller. */
export function measureText(measure: MeasureDef, texts: Texts): string | null {
  const visible = texts.measure(measure);
  return visible && [visible.expression, ...(visible.filter === null ? [] : [visible.filter])].join(' WHERE ');
}

const measureDetail = (m: MeasureDef, texts: Texts) => ({
  type: m.type,
  description: m.description,
  is_multi: false,
  is_measure: true,
  expression: measureText(m, texts),
  tags: m.tags,
});

function conceptDetail(graph: Graph, concept: Concept, texts: Texts): Record<string, unknown> {
  const from = (owner: Concept): string | null => (owner === concept ? null : owner.name);
  made(NODES_OF_A_PROPERTY * (concept.properties.length + concept.multi.length + concept.measures.length));
  made(NODES_OF_A_RELATIONSHIP * concept.relationships.length);
  return {
    concept: concept.name,
    inheritance: concept.parents.map((c) => c.name),
    inheritance_level: concept.level,
    description: concept.def?.description ?? null,
    primary_keys: (concept.key?.properties ?? []).map((p) => p.name),
    label_keys: concept.label.map((p) => p.name),
    query: texts.condition(concept),
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
    relationships: concept.relationships.map((r) => relationshipDetail(graph, r, from(r.from))),
    mappings: mappingsOf(concept).map((m) => m.name),
    tags: concept.def?.tags ?? {},
  };
}

/** The names of the relationships that a relationship includes. */
export const includedNames = (r: Relationship): string[] => [...new Set(r.included.map((part) => part.name))];

const relationshipDetail = (graph: Graph, r: Relationship, inheritedFrom: string | null) => ({
  name: r.name,
  target: r.target.name,
  inverse: r.inverseName,
  is_inverse: r.isInverse,
  is_mtm: r.kind === 'mtm',
  transitivity: transitivityOf(graph, r.transitive),
  is_symmetric: r.symmetric,
  includes: includedNames(r),
  source_properties: r.source.map((p) => p.name),
  target_properties: r.references.map((p) => p.name),
  description: r.description,
  inherited_from: inheritedFrom,
});

/** Returns the maximum number of steps of a relationship; null if it is not transitive. */
export function transitivityOf(graph: Graph, declared: Transitivity): number | null {
  if (declared !== 'default') return declared;
  const set = Number(graph.model.config.default_transitivity);
  return Number.isInteger(set) && set > 0 ? set : DEFAULT_TRANSITIVITY;
}
