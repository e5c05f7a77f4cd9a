/** The part of an ontology that a caller's grants make visible (docs/design/rights-and-visibility.md#the-visible-part-of-a-model). */
import { createHash } from 'node:crypto';
import { can, canAll, type Holder } from '../../auth/grants.ts';
import { cacheOf } from '../../cache.ts';
import type { GrantRow, OntologyRow } from '../../catalog/snapshot.ts';
import { expressionReferences } from '../../language/expressions.ts';
import type { SqlParser } from '../../language/parser.ts';
import type { Graph } from '../../ontology/graph.ts';
import { lensOf, type Sight } from '../../ontology/lens.ts';
import { fold } from '../../ontology/names.ts';

/** True if the holder sees the whole ontology, so that no filtering is needed. */
export const seesAll = (holder: Holder, ontology: string): boolean => canAll(holder, 'access', ['ontology', ontology]);

/** The grants that decide which part of an ontology the holder sees and may query, as a text: equal texts imply equal graphs. Empty if the holder may query all of it. */
export function sightText(holder: Holder, ontology: string): string {
  if (canAll(holder, 'query', ['ontology', ontology])) return '';
  const key = fold(ontology);
  const relevant = holder.grants
    .filter((g) => g.privilege !== 'auth' && g.key[0] === 'ontology' && (g.key.length === 1 || g.key[1] === key))
    .map((g) => `${g.privilege} ${g.all} ${JSON.stringify(g.key.slice(2))} ${g.key.length}`);
  return `:${[...new Set(relevant)].sort().join('\n')}`;
}

const sightKeys = new WeakMap<readonly GrantRow[], { readonly count: number; readonly keys: Map<string, string> }>();

/**
 * A cache key for `sightText`: a digest, because many caches have it in their keys and a caller may have thousands of grants. It is computed once for each list
 * of grants. A script adds grants to the end of its own list.
 */
export function sightKey(holder: Holder, ontology: string): string {
  if (canAll(holder, 'query', ['ontology', ontology])) return '';
  const { grants } = holder;
  let known = sightKeys.get(grants);
  if (known?.count !== grants.length) {
    known = { count: grants.length, keys: new Map() };
    sightKeys.set(grants, known);
  }
  const name = fold(ontology);
  const key = known.keys.get(name) ?? `:${createHash('sha256').update(sightText(holder, name)).digest('base64')}`;
  known.keys.set(name, key);
  return key;
}

/**
 * Returns which datasources the holder may query; undefined if it may query all datasources of the ontology, so that no rows are hidden from it that a
 * mapping excludes.
 */
export function tablesOf(holder: Holder, { datasources }: Pick<OntologyRow, 'datasources'>): ((datasource: string) => boolean) | undefined {
  const queries = (datasource: string): boolean => can(holder, 'query', ['datasource', datasource]);
  return datasources.every(queries) ? undefined : queries;
}

/** A cache key for `tablesOf`. Names are quoted, because they may contain a separator. */
export const tablesKey = (holder: Holder, { datasources }: Pick<OntologyRow, 'datasources'>): string =>
  JSON.stringify(datasources.filter((d) => !can(holder, 'query', ['datasource', d])));

interface Kept {
  readonly whole: Graph;
  readonly seen: Graph;
}
const lenses = cacheOf<Kept>('lens');

/** Returns the part of a graph that the holder sees; the graph itself if the holder may query all of it. */
export function seenBy(holder: Holder, whole: Graph, parser: SqlParser): Graph {
  const key = sightKey(holder, whole.ontology);
  if (key === '' || whole.ontology === '') return whole;
  return kept(`${whole.ontology}/${key}`, whole, () => lensOf(whole, sightOf(holder, whole.ontology, parser)));
}

/** As `seenBy`, but all visible views and concepts count as readable. A definition may be shown if it is valid for this graph. */
export function definitionsSeenBy(holder: Holder, whole: Graph, parser: SqlParser): Graph {
  if (seesAll(holder, whole.ontology)) return whole;
  return kept(`${whole.ontology}/definitions${sightKey(holder, whole.ontology)}`, whole, () => {
    const sight = sightOf(holder, whole.ontology, parser);
    const seen = seenBy(holder, whole, parser);
    const { concepts, views } = seen.model;
    if (concepts.every((c) => sight.readsConcept(c.name)) && views.every((v) => sight.readsView(v.name))) return seen;
    return lensOf(whole, { ...sight, readsConcept: () => true, readsView: () => true }, seen);
  });
}

/**
 * Returns the part of a graph that the writer of a script may use: what its grants allow it to query, and what the script has created. Returns the graph
 * itself if the writer may query all of it.
 * @param made folded names of the concepts and views that the script has created
 */
export function usableBy(holder: Holder, whole: Graph, made: Record<'concept' | 'view', ReadonlySet<string>>, parser: SqlParser): Graph {
  if (canAll(holder, 'query', ['ontology', whole.ontology])) return whole;
  const { columnsOf, concept, view, readsConcept, readsView } = sightOf(holder, whole.ontology, parser);
  const isMade = (kind: 'concept' | 'view', name: string): boolean => made[kind].has(fold(name));
  return lensOf(whole, {
    columnsOf,
    concept: (name) => isMade('concept', name) || concept(name),
    view: (name) => isMade('view', name) || view(name),
    readsConcept: (name) => isMade('concept', name) || readsConcept(name),
    readsView: (name) => isMade('view', name) || readsView(name),
  });
}

/** Caches one lens for each version and sight. The graph of a version is one object while it is cached, so it identifies the version. */
function kept(key: string, whole: Graph, make: () => Graph): Graph {
  const known = lenses.get(key);
  if (known?.whole === whole) return known.seen;
  const seen = make();
  const { concepts, properties, mappings } = whole.model;
  lenses.set(key, { whole, seen }, 2000 + 800 * concepts.length + 100 * (properties.length + mappings.length));
  return seen;
}

function sightOf(holder: Holder, ontology: string, parser: SqlParser): Sight {
  const check = (privilege: 'access' | 'query', kind: 'concept' | 'view') => {
    if (canAll(holder, privilege, ['ontology', ontology])) return () => true;
    const known = new Map<string, boolean>();
    return (name: string): boolean => {
      let answer = known.get(name);
      if (answer === undefined) {
        answer = can(holder, privilege, ['ontology', ontology, kind, name]);
        known.set(name, answer);
      }
      return answer;
    };
  };
  return {
    concept: check('access', 'concept'),
    view: check('access', 'view'),
    readsConcept: check('query', 'concept'),
    readsView: check('query', 'view'),
    columnsOf: (expression) => expressionReferences(parser, { text: expression, offset: 0 }).map((r) => r.name),
  };
}
