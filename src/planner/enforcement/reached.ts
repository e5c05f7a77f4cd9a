/** Finds the conditions of logic concepts, and the views, that a change of the model can affect. Planning all of them would take too long in a large model. */
import { visited } from '../../budget.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import { isRaw, type Model } from '../../ontology/model.ts';
import { fold, THING } from '../../ontology/names.ts';
import { isPath } from '../../ontology/paths.ts';

/** The names of the concepts of both versions whose conditions the change may affect. */
export function reachedConditions(before: Graph, after: Graph): readonly string[] {
  const open = new Map<string, string>();
  for (const { name, def } of after.concepts)
    if (def?.logic != null && before.concept(name) !== undefined) open.set(fold(name), withPaths(after, fold(`${def.logic.concept} ${def.logic.condition}`)));
  if (open.size === 0) return [];
  if (changesOlder(before.model, after.model, 'properties') || changesOlder(before.model, after.model, 'measures')) return namesOf(after, open);
  const names = touched(before, after);
  if (names.size === 0) return [];
  // A condition does not show what a view reads, or which rows `thing` has.
  for (const name of [...before.model.views, ...after.model.views]) names.add(fold(name.name));
  names.add(THING);
  const found = new Map<string, string>();
  for (let fresh: ReadonlySet<string> = names; fresh.size > 0; ) {
    const next = new Set<string>();
    for (const [name, text] of open) {
      visited(fresh.size);
      if (!names.has(name) && !/u&"|["`]{2}/i.test(text) && ![...fresh].some((n) => text.includes(n))) continue;
      found.set(name, text);
      open.delete(name);
      // Next are the concepts with the rows of this one, and those whose conditions name it.
      const concept = after.concept(name);
      for (const c of concept === undefined ? [] : [concept, ...concept.descendants]) if (!names.has(fold(c.name))) next.add(fold(c.name));
    }
    for (const name of next) names.add(name);
    fresh = next;
  }
  return namesOf(after, found);
}

/** The names of views and cubes over concepts that the change did not write, and for which it may matter. */
export function reachedViews(before: Graph, after: Graph): readonly string[] {
  const views = after.model.views.filter((v) => !isRaw(v) && isSame(v, before.view(v.name)));
  if (views.length === 0) return [];
  const all = changesOlder(before.model, after.model, 'properties') || changesOlder(before.model, after.model, 'measures');
  if (all) return views.map((v) => v.name);
  const names = touched(before, after);
  if (names.size === 0) return [];
  for (const concept of reachedConditions(before, after)) for (const c of kinOf(after, concept)) names.add(fold(c.name));
  names.add(THING);
  const found = new Set<string>();
  const texts = new Map(views.map(({ name, sql }) => [name, withPaths(after, fold(sql))] as const));
  for (let more = true; more; ) {
    more = false;
    for (const [name, text] of texts) {
      visited(names.size);
      if (found.has(name) || !mayName(text, names)) continue;
      found.add(name);
      names.add(fold(name));
      more = true;
    }
  }
  return [...found];
}

const kinOf = (graph: Graph, name: string): readonly Concept[] => {
  const concept = graph.concept(name);
  return concept === undefined ? [] : [concept, ...concept.descendants];
};

/** A folded text, followed by the expressions of the calculated properties over paths that it may read, directly or through others. */
function withPaths({ model }: Graph, text: string): string {
  const calculated = model.properties.flatMap((p) => (p.expression === null ? [] : [[fold(p.name), fold(p.expression)] as const]));
  if (!calculated.some(([, expression]) => isPath(expression))) return text;
  let all = text;
  const open = new Map(calculated);
  for (let more = true; more; ) {
    more = false;
    for (const [name, expression] of open) {
      visited();
      if (!all.includes(name)) continue;
      all += ` ${expression}`;
      open.delete(name);
      more = true;
    }
  }
  return all;
}

/** Whether a folded text may contain one of the names. An identifier with escapes or doubled quotes may be any. */
const mayName = (text: string, names: ReadonlySet<string>): boolean => /u&"|["`]{2}/i.test(text) || [...names].some((n) => text.includes(n));

const namesOf = (graph: Graph, folded: ReadonlyMap<string, unknown>): readonly string[] =>
  graph.concepts.filter((c) => folded.has(fold(c.name))).map((c) => c.name);

/** True if an entry of the old list is changed or missing in the new one. */
const changesOlder = (before: Model, after: Model, list: 'properties' | 'measures'): boolean => {
  const now = new Map<string, unknown>(after[list].map((o) => [fold(o.name), o]));
  return before[list].some((o) => !isSame(o, now.get(fold(o.name))));
};

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/**
 * The folded names of the concepts whose declaration changed or that lost a mapping, with their ancestors, their descendants and the targets of their
 * relationships.
 */
function touched(before: Graph, after: Graph): Set<string> {
  const names = new Set<string>();
  const add = (graph: Graph, name: string | null | undefined): void => {
    const concept = name == null ? undefined : graph.concept(name);
    if (concept === undefined) return;
    for (const c of [concept, ...concept.ancestors, ...concept.descendants]) if (c.def !== null) names.add(fold(c.name));
  };
  const declared = (graph: Graph): ReadonlyMap<string, Concept> => new Map(graph.concepts.map((c) => [fold(c.name), c]));
  const [old, now] = [declared(before), declared(after)];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [a, b] = [old.get(name)?.def, now.get(name)?.def];
    if (isSame(a, b)) continue;
    for (const graph of [before, after]) {
      add(graph, name);
      for (const r of [...(a?.relationships ?? []), ...(b?.relationships ?? [])]) add(graph, r.target);
    }
  }
  for (const m of before.model.mappings) {
    if (after.mapping(m.name) !== undefined) continue;
    for (const graph of [before, after]) for (const name of [m.concept, m.link?.forward.concept, m.link?.back.concept]) add(graph, name);
  }
  if (names.size > 0) for (const graph of [before, after]) addIncluding(graph, names, (name) => add(graph, name));
  return names;
}

/** Adds the ends of relationships that include others between concepts with these names. */
function addIncluding(graph: Graph, names: ReadonlySet<string>, add: (concept: string) => void): void {
  for (const c of graph.concepts.filter(({ def }) => def?.relationships.some((r) => r.includes !== undefined))) {
    for (const r of c.relationships.filter((o) => o.declaredBy === c && o.parts.length > 1)) {
      if (r.parts.some(({ from, target }) => names.has(fold(from.name)) || names.has(fold(target.name)))) for (const end of [r.from, r.target]) add(end.name);
    }
  }
}
