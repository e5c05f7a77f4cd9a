/**
 * The columns of a concept or view for DESC and DESCRIBE CONCEPT (docs/design/statements-and-versions.md#show-desc-and-describe-concept), from the graph that the
 * caller sees. Pure.
 */
import { made, RELATIONSHIPS_OF_A_NODE, visited } from '../../budget.ts';
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
/** The cost of a line in tree nodes: its object, its name and its JSON. */
const NODES_OF_A_LINE = 4;
/** This number of characters of a name costs as much as a node. */
const CHARACTERS_OF_A_NODE = 100;

const ENTITY = ['entity_id', 'entity_type', 'entity_label'];

/**
 * Returns the columns of a concept in a schema: those of SELECT *; in `dsvc` also its measures, multi-value properties,
 * `_type_of_<concept>`, and the columns of all paths of at most `hops` hops, nearest first.
 * @param walks whether a transitive relationship is listed as a walk, `rel[c*n]`, with the level of each row, instead of as a hop: clients read one of the two
 * @throws SvcError 400 `too_many_columns`
 */
export function conceptColumns(concept: Concept, schema: ConceptSchema, hops: number, walks = false): readonly ColumnLine[] {
  const describe = new Described(concept, hops);
  describe.star(concept, schema !== 'svc', '');
  if (schema !== 'dsvc') return describe.lines;
  describe.multiAndMeasures(concept, '');
  for (const d of concept.descendants) describe.add(`_type_of_${d.name}`, 'boolean', null);
  let level: readonly { readonly concept: Concept; readonly path: string }[] = [{ concept, path: '' }];
  for (let hop = 1; hop <= hops && level.length > 0; hop++) {
    const next: { concept: Concept; path: string }[] = [];
    for (const from of level) {
      for (const [label, relationship] of hopsOf(from.concept)) {
        const { target } = relationship;
        const steps = walks ? transitivityOf(from.concept.graph, relationship.transitive) : null;
        const path = `${from.path}${steps === null ? label : `${relationship.name}[${target.name}*${steps}]`}`;
        describe.star(target, true, `${path}.`);
        describe.multiAndMeasures(target, `${path}.`);
        // a walk has no link columns
        if (steps === null) describe.links(relationship, path);
        else describe.add(`${path}_transitivity_level`, 'integer', null);
        next.push({ concept: target, path: `${path}.` });
      }
    }
    level = next;
  }
  return describe.lines;
}

/** Returns the columns of a view or cube. */
export function viewColumns(view: ViewDef): readonly ColumnLine[] {
  made(NODES_OF_A_LINE * view.columns.length);
  return view.columns.map((c) => ({ col_name: c.name, data_type: columnType(c), comment: null, key: null }));
}

/** Collects the lines of a concept, and counts each. */
class Described {
  readonly lines: ColumnLine[] = [];
  readonly #name: string;
  readonly #hops: number;
  /** Names of the keys of concepts, folded. Paths lead to the same concepts many times. */
  readonly #keys = new Map<Concept, ReadonlyMap<string, 'PK' | 'FK'>>();

  constructor({ name }: Concept, hops: number) {
    this.#name = name;
    this.#hops = hops;
  }

  /** @throws SvcError 400 `too_many_columns` */
  add(name: string, type: string | null, comment: string | null, key: ColumnLine['key'] = null): void {
    made(NODES_OF_A_LINE + name.length / CHARACTERS_OF_A_NODE);
    this.lines.push({ col_name: name, data_type: type, comment, key });
    if (this.lines.length > MAX_LINES) {
      throw badRequest('too_many_columns', `\`${this.#name}\` has more than ${MAX_LINES} columns within ${this.#hops} hops`, {
        hint: 'Use a smaller graph_depth',
      });
    }
  }

  /** Entity columns and properties. @param derived include properties of descendants */
  star(concept: Concept, derived: boolean, path: string): void {
    const keys = this.#keysOf(concept);
    for (const name of ENTITY) this.add(path + name, 'string', null);
    const property = ({ def }: Property): void => this.add(path + def.name, def.type, def.description, keys.get(fold(def.name)) ?? null);
    concept.properties.forEach(property);
    if (derived) concept.derivedProperties.forEach(property);
  }

  #keysOf(concept: Concept): ReadonlyMap<string, 'PK' | 'FK'> {
    const found = this.#keys.get(concept);
    if (found !== undefined) return found;
    made(concept.relationships.length / RELATIONSHIPS_OF_A_NODE);
    const keys = new Map<string, 'PK' | 'FK'>();
    for (const r of concept.relationships) if (r.kind === 'fk' && !r.isInverse) for (const p of r.source) keys.set(fold(p.name), 'FK');
    for (const p of concept.key?.properties ?? []) keys.set(fold(p.name), 'PK');
    this.#keys.set(concept, keys);
    return keys;
  }

  /** Multi-value properties and measures. */
  multiAndMeasures(concept: Concept, path: string): void {
    for (const { def } of concept.multi) this.add(path + def.name, def.type, def.description);
    for (const { def } of concept.measures) this.add(`measure.${path}${def.name}`, def.type, def.description);
  }

  /** The columns of link mappings, without the keys of both ends. */
  links(relationship: Relationship, path: string): void {
    for (const c of linkColumnsOf(relationship)) this.add(`${path}_${c.name}`, columnType(c), null);
  }
}

/** Maps each label `rel[c]` to its relationship. */
function hopsOf(concept: Concept): ReadonlyMap<string, Relationship> {
  visited(concept.relationships.length);
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
