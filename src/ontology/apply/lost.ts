/** The names that a script removed from concepts, for checks of older SQL that may read them. */
import type { Concept, Graph } from '../graph.ts';
import type { ConceptDef, Model } from '../model.ts';
import { fold } from '../names.ts';
import type { Places } from './context.ts';
import { mentions } from './drop.ts';

/** With more names than this, every text is checked. */
const MAX_SEARCHED = 100;

export interface Lost {
  /** Whether one of the texts may read a name that a concept lost. */
  mayConcern(texts: readonly string[]): boolean;
  /** The place of the statement that removed a name which the texts contain. */
  placeOf(texts: readonly string[]): number | undefined;
}

/**
 * Finds the properties, measures and relationships that concepts had before the script, and no longer have, and the concepts that were dropped or have other
 * parents. @param old the model before the script
 */
export function lostNames(before: Model, graph: Graph, old: () => Graph, places: Places): Lost {
  const kept = new Set<object>(graph.model.concepts);
  const lost = new Map<string, number | undefined>();
  for (const def of before.concepts) {
    if (kept.has(def)) continue;
    const now = graph.concept(def.name)?.def;
    const place = places.get('concept', def.name);
    for (const name of namesLost(def, now ?? undefined, old)) if (!lost.has(name)) lost.set(name, place);
  }
  const found = (texts: readonly string[]): string | undefined => [...lost.keys()].find((name) => texts.some((text) => mentions(text, name)));
  return {
    mayConcern: (texts) => lost.size > MAX_SEARCHED || (lost.size > 0 && found(texts) !== undefined),
    placeOf: (texts) => lost.get(found(texts) ?? ''),
  };
}

/** The folded names that a concept lost. If its parents are others, also what it inherited, and the names that lead to it and its descendants. */
function namesLost(def: ConceptDef, now: ConceptDef | undefined, old: () => Graph): readonly string[] {
  const own = (d: ConceptDef): readonly string[] => [...d.properties, ...d.multi, ...d.measures].map(fold);
  const kept = new Set(now ? own(now) : []);
  const links = new Set(now?.relationships.map((r) => JSON.stringify({ ...r, description: null })));
  const gone = def.relationships.filter((r) => !links.has(JSON.stringify({ ...r, description: null }))).flatMap((r) => [r.name, r.inverse ?? r.name].map(fold));
  const names = [...own(def).filter((name) => !kept.has(name)), ...gone];
  const concept = old().concept(def.name);
  const hasOtherParents = now === undefined || now.parents.map(fold).join() !== def.parents.map(fold).join();
  return hasOtherParents && concept ? [...names, ...inherited(concept)] : names;
}

function inherited(concept: Concept): readonly string[] {
  const elements = [...concept.properties, ...concept.multi, ...concept.measures].map((p) => p.def.name);
  const links = concept.relationships.flatMap((r) => [r.name, ...(r.inverseName === null ? [] : [r.inverseName])]).map((name) => name.replace(/^~/, ''));
  return [...elements, ...links, concept.name, ...concept.descendants.map((d) => d.name)].map(fold);
}
