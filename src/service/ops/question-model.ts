/** The subjects of questions in words: the concepts, views and cubes that the caller may read, as plain data. */
import type { Caller } from '../../auth/authenticate.ts';
import { made, NODES_OF_A_PROPERTY, NODES_OF_A_RELATIONSHIP, withinAnswer } from '../../budget.ts';
import { cacheOf } from '../../cache.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { leadsToMany } from '../../planner/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { connectionDigest } from '../caller/datasource.ts';
import { loadGraph, requireOntology, upToDate } from '../caller/lookup.ts';
import { accessKey, accessOf, factsKey, factsOf } from '../caller/policies.ts';
import { seenBy, sightKey } from '../caller/sight.ts';
import { Texts } from '../caller/texts.ts';
import { columnType, linkColumnsOf, transitivityOf } from '../describe/detail.ts';
import type { ServiceRequest } from '../runtime.ts';

export type Tags = Readonly<Record<string, string>>;

/** A property, a measure (its name has no prefix `measure.`) or a column of a view. */
export interface SubjectColumn {
  readonly name: string;
  /** The declared type; null if it is unknown. */
  readonly type: string | null;
  readonly description: string | null;
  readonly tags: Tags;
  /** For a column of a view: the tags of the property with the same name, even if it is hidden from the caller. They are not shown; they decide whether values may be shown. */
  readonly valueTags?: Tags;
  readonly isMeasure: boolean;
  readonly isMulti: boolean;
  /** Part of the primary key. */
  readonly isKey: boolean;
  readonly isLabel: boolean;
  /** The concept that declares it; null for the subject itself and for columns of views. */
  readonly inheritedFrom: string | null;
}

/** A relationship as seen from the subject; a path is `name[target].property`. */
export interface SubjectRelationship {
  readonly name: string;
  readonly target: string;
  /** True if a row may have several related rows. */
  readonly toMany: boolean;
  /** The maximum number of steps of a walk with `*`; null: not transitive. */
  readonly transitivity: number | null;
  readonly isInverse: boolean;
  /** The name of the other direction; null if the caller may not see it. */
  readonly inverse: string | null;
  /** The concept that this direction starts from; null for the subject itself. */
  readonly inheritedFrom: string | null;
  /** Columns of the link between the two, which a path reads as `name[target]_column`. */
  readonly linkColumns: readonly LinkColumn[];
  /** What this direction means; null for the other direction of a described relationship, whose description does not fit it. */
  readonly description: string | null;
}

export interface LinkColumn {
  readonly name: string;
  /** Null if the type is unknown. */
  readonly type: string | null;
}

/** A concept, view or cube that the caller may read. */
export interface Subject {
  readonly kind: 'concept' | 'view' | 'cube';
  readonly name: string;
  readonly description: string | null;
  readonly tags: Tags;
  /** Direct parents; empty for views. */
  readonly parents: readonly string[];
  /** The condition of a logic concept; null if it is hidden from the caller. */
  readonly condition: string | null;
  /** True for a logic concept, also if its condition is hidden. */
  readonly isLogic?: boolean;
  readonly columns: readonly SubjectColumn[];
  readonly relationships: readonly SubjectRelationship[];
}

export interface QuestionModel {
  /** Who sees it. Values that are kept under `key` are read with the rights of this caller: that of the request may have an older snapshot. */
  readonly caller: Caller;
  readonly ontology: string;
  readonly version: string;
  /** A cache key: equal for callers for whom the model and all values in its rows are the same. */
  readonly key: string;
  /** A cache key of the model: equal for callers for whom `subjects` are the same. */
  readonly shape: string;
  readonly subjects: readonly Subject[];
  /** Finds a subject by name, ignoring case; a concept precedes a view. */
  subject(name: string): Subject | undefined;
}

/** Returns the model as the caller sees it. @throws SvcError 404 `unknown_ontology`, 400 `too_complex`, 503 */
export async function questionModel(request: ServiceRequest, name: string): Promise<QuestionModel> {
  const caller = await upToDate(request, name);
  const row = requireOntology(caller, name);
  const { parser, config } = request.runtime;
  const graph = seenBy(caller.principal, await loadGraph(request.runtime, row), parser);
  const texts = new Texts(parser, config.product, caller.principal, graph, allowedFunctionsOf(row));
  // rows come from the attached datasources, and from the active one if a statement reads no mapping
  const connections = await Promise.all(row.datasources.map((key) => connectionDigest(request.runtime, caller, key)));
  const data = JSON.stringify([row.cacheGeneration, row.active, row.datasources, connections, row.allowedFunctions]);
  const shape = [row.id, row.version, row.name, config.product, sightKey(caller.principal, row.name)].join('\u0000');
  const subjects = cachedSubjects(shape, () => withinAnswer('the description of the ontology', request.spending.answers, () => subjectsOf(graph, texts)));
  const byName = new Map([...subjects].reverse().map((s) => [fold(s.name), s]));
  return {
    caller,
    ontology: row.name,
    version: row.version,
    shape,
    // the rows of a view depend on the rights of its definer
    key: [shape, data, caller.snapshot.permissions, accessKey(accessOf(caller, row)), factsKey(factsOf(caller.principal))].join('\u0000'),
    subjects,
    subject: (wanted) => byName.get(fold(wanted)),
  };
}

const cache = cacheOf<readonly Subject[]>('subjects');

function cachedSubjects(shape: string, make: () => readonly Subject[]): readonly Subject[] {
  const known = cache.get(shape);
  if (known !== undefined) return known;
  const subjects = make();
  // names, descriptions and tags are shared with the model, so they are not counted
  cache.set(
    shape,
    subjects,
    subjects.reduce((n, s) => n + 400 + 150 * s.columns.length + 100 * s.relationships.length, 0),
  );
  return subjects;
}

/** Returns the subjects of a model as the caller sees it. @param texts returns the visible definitions. Pure. */
export const subjectsOf = (graph: Graph, texts: Pick<Texts, 'condition'>): readonly Subject[] => [
  ...graph.concepts.filter((c) => c.readable).map((c) => conceptSubject(graph, c, texts)),
  ...graph.model.views
    .filter((v) => graph.reads(v))
    .map(
      (v): Subject => ({
        kind: v.cube ? 'cube' : 'view',
        name: v.name,
        description: v.description,
        tags: v.tags,
        parents: [],
        condition: null,
        columns: v.columns.map((c) => ({ ...PLAIN, name: c.name, type: columnType(c), valueTags: graph.whole.property(c.name)?.tags ?? {} })),
        relationships: [],
      }),
    ),
];

const PLAIN = { description: null, tags: {}, isMeasure: false, isMulti: false, isKey: false, isLabel: false, inheritedFrom: null };

function conceptSubject(graph: Graph, concept: Concept, texts: Pick<Texts, 'condition'>): Subject {
  const from = (owner: Concept): string | null => (owner === concept ? null : owner.name);
  made(NODES_OF_A_PROPERTY * (concept.properties.length + concept.multi.length + concept.measures.length));
  made(NODES_OF_A_RELATIONSHIP * concept.relationships.length);
  const keys = new Set(concept.key?.properties ?? []);
  const labels = new Set(concept.label);
  return {
    kind: 'concept',
    name: concept.name,
    description: concept.def?.description ?? null,
    tags: concept.def?.tags ?? {},
    parents: concept.parents.filter((p) => p.def !== null).map((p) => p.name),
    condition: texts.condition(concept),
    isLogic: concept.rows.kind !== 'mappings',
    columns: [
      ...[...concept.properties, ...concept.multi].map(({ def, owner }) => ({
        ...PLAIN,
        name: def.name,
        type: def.type,
        description: def.description,
        tags: def.tags,
        isMulti: def.multi,
        isKey: keys.has(def),
        isLabel: labels.has(def),
        inheritedFrom: from(owner),
      })),
      ...concept.measures.map(({ def, owner }) => ({
        ...PLAIN,
        name: def.name,
        type: def.type,
        description: def.description,
        tags: def.tags,
        isMeasure: true,
        inheritedFrom: from(owner),
      })),
    ],
    relationships: concept.relationships
      .filter((r) => r.target.readable)
      .map((r) => ({
        name: r.name,
        target: r.target.name,
        toMany: leadsToMany(r),
        transitivity: transitivityOf(graph, r.transitive),
        isInverse: r.isInverse,
        inverse: r.inverseName,
        inheritedFrom: from(r.from),
        linkColumns: linkColumnsOf(r).map((c) => ({ name: c.name, type: columnType(c) })),
        description: r.description,
      })),
  };
}
