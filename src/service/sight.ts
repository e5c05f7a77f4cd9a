/** An ontology as a caller sees it: what its grants open of it, and nothing else (docs/design/rights-and-visibility.md#the-visible-part-of-a-model). */
import { can, canAll, type Holder } from '../auth/grants.ts';
import { cacheOf } from '../cache.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { expressionReferences } from '../language/expressions.ts';
import type { SqlParser } from '../language/parser.ts';
import type { Graph } from '../ontology/graph.ts';
import { lensOf, type Sight } from '../ontology/lens.ts';
import { fold } from '../ontology/names.ts';

/** Whether the caller sees all of an ontology: what is hidden of others needs no thought. */
export const seesAll = (holder: Holder, ontology: string): boolean => canAll(holder, 'access', ['ontology', ontology]);

/**
 * What of the caller's grants decides which part of an ontology it sees and reads, as a part of a cache's key: equal texts, equal
 * graphs. Empty for who may query all of it.
 */
export function sightKey(holder: Holder, ontology: string): string {
  if (canAll(holder, 'query', ['ontology', ontology])) return '';
  const key = fold(ontology);
  const told = holder.grants
    .filter((g) => g.privilege !== 'auth' && g.key[0] === 'ontology' && (g.key.length === 1 || g.key[1] === key))
    .map((g) => `${g.privilege} ${g.all} ${JSON.stringify(g.key.slice(2))} ${g.key.length}`);
  return `:${[...new Set(told)].sort().join('\n')}`;
}

/**
 * Which datasources' tables the holder may query; undefined: those of all datasources of the ontology, so that nothing that a mapping leaves out is
 * hidden from it.
 */
export function tablesOf(holder: Holder, { datasources }: Pick<OntologyRow, 'datasources'>): ((datasource: string) => boolean) | undefined {
  const queries = (datasource: string): boolean => can(holder, 'query', ['datasource', datasource]);
  return datasources.every(queries) ? undefined : queries;
}

/** The same as a part of a cache's key. Names are quoted, because a name may contain a separator. */
export const tablesKey = (holder: Holder, { datasources }: Pick<OntologyRow, 'datasources'>): string =>
  JSON.stringify(datasources.filter((d) => !can(holder, 'query', ['datasource', d])));

interface Kept {
  readonly whole: Graph;
  readonly seen: Graph;
}
const lenses = cacheOf<Kept>('lens');

/** `whole` as the holder sees it; the very same graph for who may query all of it. */
export function seenBy(holder: Holder, whole: Graph, parser: SqlParser): Graph {
  const key = sightKey(holder, whole.ontology);
  if (key === '' || whole.ontology === '') return whole;
  return kept(`${whole.ontology}/${key}`, whole, () => lensOf(whole, sightOf(holder, whole.ontology, parser)));
}

/** The same with every view and concept that is seen open to reading: by which a definition may be told that reads nothing hidden. */
export function toldTo(holder: Holder, whole: Graph, parser: SqlParser): Graph {
  if (seesAll(holder, whole.ontology)) return whole;
  const sight: Sight = { ...sightOf(holder, whole.ontology, parser), readsConcept: () => true, readsView: () => true };
  return kept(`${whole.ontology}/told${sightKey(holder, whole.ontology)}`, whole, () => lensOf(whole, sight));
}

/**
 * `whole` as the writer of a script may use it: what its grants let it query, and what the script has made (`made`: folded names of concepts and
 * views). The very same graph for who may query all of it.
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

/** One lens a version and sight: a version's graph is one object while it is remembered, a draft's is never asked for again. */
function kept(key: string, whole: Graph, make: () => Graph): Graph {
  const known = lenses.get(key);
  if (known?.whole === whole) return known.seen;
  const seen = make();
  const { concepts, properties, mappings } = whole.model;
  lenses.set(key, { whole, seen }, 2000 + 800 * concepts.length + 100 * (properties.length + mappings.length));
  return seen;
}

function sightOf(holder: Holder, ontology: string, parser: SqlParser): Sight {
  const asked = (privilege: 'access' | 'query', kind: 'concept' | 'view') => {
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
    concept: asked('access', 'concept'),
    view: asked('access', 'view'),
    readsConcept: asked('query', 'concept'),
    readsView: asked('query', 'view'),
    columnsOf: (expression) => expressionReferences(parser, { text: expression, offset: 0 }).map((r) => r.name),
  };
}
