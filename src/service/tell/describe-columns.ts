/**
 * The columns of a concept or view for DESC and DESCRIBE CONCEPT (docs/design/statements-and-versions.md#show-desc-and-describe-concept), from the graph that the
 * caller sees. Pure.
 */
import { badRequest } from '../../errors.ts';
import type { Concept, Graph, Property, Relationship } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { columnType, linkColumnsOf, transitivityOf } from './detail.ts';

/** A line of the answer. Only DESCRIBE CONCEPT shows `key`. */
export interface ColumnLine {
  readonly col_name: string;
  readonly data_type: string | null;
  readonly comment: string | null;
  readonly key: 'PK' | 'FK' | null;
}

export type ConceptSchema = 'svc' | 'esvc' | 'dsvc';

/** The maximum number of lines. */
export const MAX_LINES = 50_000;

const ENTITY = ['entity_id', 'entity_type', 'entity_label'];

/**
 * Returns the columns of a concept in a schema: those of SELECT *; in `dsvc` also its measures, multi-value properties,
 * `_type_of_<concept>`, and the columns of all paths of at most `hops` hops, nearest first.
 * @param walks whether a transitive relationship is also listed as a walk, `rel[c*n]`, with the level of each row
 * @throws SvcError 400 `too_many_columns`
 */
export function conceptColumns(concept: Concept, schema: ConceptSchema, hops: number, walks = false): readonly ColumnLine[] {
  const lines: ColumnLine[] = starColumns(concept, schema !== 'svc', '');
  if (schema !== 'dsvc') return lines;
  lines.push(...multiAndMeasures(concept, ''));
  for (const d of concept.descendants) lines.push(line(`_type_of_${d.name}`, 'boolean', null));
  let level: readonly { readonly concept: Concept; readonly path: string }[] = [{ concept, path: '' }];
  for (let hop = 1; hop <= hops && level.length > 0; hop++) {
    const next: { concept: Concept; path: string }[] = [];
    for (const from of level) {
      for (const [label, relationship] of hopsOf(from.concept)) {
        const path = `${from.path}${label}`;
        const { target } = relationship;
        lines.push(...starColumns(target, true, `${path}.`), ...multiAndMeasures(target, `${path}.`), ...linkColumns(relationship, path));
        if (walks) lines.push(...walkColumns(from.concept, relationship, from.path));
        if (lines.length > MAX_LINES)
          throw badRequest('too_many_columns', `\`${concept.name}\` has more than ${MAX_LINES} columns within ${hops} hops`, {
            hint: 'Use a smaller graph_depth',
          });
        next.push({ concept: target, path: `${path}.` });
      }
    }
    level = next;
  }
  return lines;
}

/** Returns the columns of a view or cube. */
export const viewColumns = (view: ViewDef): readonly ColumnLine[] => view.columns.map((c) => line(c.name, columnType(c), null));

const line = (name: string, type: string | null, comment: string | null, key: ColumnLine['key'] = null): ColumnLine => ({
  col_name: name,
  data_type: type,
  comment,
  key,
});

/** Entity columns and properties. @param derived include properties of descendants */
function starColumns(concept: Concept, derived: boolean, path: string): ColumnLine[] {
  const foreign = new Set<string>();
  for (const r of concept.relationships) if (r.kind === 'fk' && !r.isInverse) for (const p of r.source) foreign.add(fold(p.name));
  const primary = new Set((concept.key?.properties ?? []).map((p) => fold(p.name)));
  const keyOf = (name: string): ColumnLine['key'] => (primary.has(fold(name)) ? 'PK' : foreign.has(fold(name)) ? 'FK' : null);
  const property = ({ def }: Property): ColumnLine => line(path + def.name, def.type, def.description, keyOf(def.name));
  return [
    ...ENTITY.map((name) => line(path + name, 'string', null)),
    ...concept.properties.map(property),
    ...(derived ? concept.derivedProperties.map(property) : []),
  ];
}

/** Multi-value properties and measures. */
const multiAndMeasures = (concept: Concept, path: string): ColumnLine[] => [
  ...concept.multi.map(({ def }) => line(path + def.name, def.type, def.description)),
  ...concept.measures.map(({ def }) => line(`measure.${path}${def.name}`, def.type, def.description)),
];

/** The columns of a walk along a transitive relationship of at most its declared number of steps. */
function walkColumns({ graph }: Concept, { name, target, transitive }: Relationship, path: string): readonly ColumnLine[] {
  const steps = transitivityOf(graph, transitive);
  if (steps === null) return [];
  const walk = `${path}${name}[${target.name}*${steps}]`;
  return [...starColumns(target, true, `${walk}.`), line(`${walk}_transitivity_level`, 'integer', null)];
}

/** The columns of link mappings, without the keys of both ends. */
const linkColumns = (relationship: Relationship, path: string): ColumnLine[] =>
  linkColumnsOf(relationship).map((c) => line(`${path}_${c.name}`, columnType(c), null));

/** Maps each label `rel[c]` to its relationship. */
function hopsOf(concept: Concept): ReadonlyMap<string, Relationship> {
  const hops = new Map<string, Relationship>();
  for (const r of concept.relationships) {
    const label = `${r.name}[${r.target.name}]`;
    if (!hops.has(label)) hops.set(label, r);
  }
  return hops;
}

/** Names of concepts and views that DESC accepts, for messages. */
export const describable = (graph: Graph): { readonly concepts: readonly string[]; readonly views: readonly string[] } => ({
  concepts: graph.concepts.map((c) => c.name),
  views: graph.model.views.map((v) => v.name),
});
