/** The map of a model: which concepts are next to each other, and each relationship once, with both of its directions. Pure. */
import type { Subject, SubjectRelationship } from '../../service.ts';
import { subjectKey } from '../rank-index.ts';

/** A relationship. Ends are numbers of subjects. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  /** The declared direction if the caller may see it, otherwise the other one. */
  readonly there: SubjectRelationship;
  /** The direction back; null if the caller may not see it. */
  readonly back: SubjectRelationship | null;
}

/** A model's subjects, numbered in their order. */
export interface ModelMap {
  readonly subjects: readonly Subject[];
  readonly edges: readonly Edge[];
  /** The numbers of the edges at each subject. */
  readonly edgesAt: readonly (readonly number[])[];
  /** What each subject's paths lead to, including inherited ones, and its parents and children. */
  readonly near: readonly (readonly number[])[];
  readonly parents: readonly (readonly number[])[];
  /** The concepts that the relationships of a subject lead to. */
  leadsTo(n: number): readonly number[];
  /** The number of a concept by its name, ignoring case; undefined if the map has no such concept. */
  concept(name: string): number | undefined;
  numberOf(subject: Pick<Subject, 'kind' | 'name'>): number | undefined;
  /** Approximate memory use. */
  readonly bytes: number;
}

/** Builds the map of subjects. */
export function mapOf(subjects: readonly Subject[]): ModelMap {
  const concepts = new Map<string, number>();
  for (const [i, s] of subjects.entries()) if (s.kind === 'concept') concepts.set(s.name.toLowerCase(), i);
  const numbers = new Map(subjects.map((s, i) => [subjectKey(s), i]));
  const concept = (name: string): number | undefined => concepts.get(name.toLowerCase());
  const parents = subjects.map((s) => s.parents.flatMap((p) => concept(p) ?? []));
  const edges = edgesOf(subjects, concept);
  const edgesAt: number[][] = subjects.map(() => []);
  for (const [i, { from, to }] of edges.entries()) for (const end of new Set([from, to])) edgesAt[end]?.push(i);
  const near = subjects.map(() => new Set<number>());
  const join = (a: number, b: number): void => {
    if (a === b) return;
    near[a]?.add(b);
    near[b]?.add(a);
  };
  for (const [i, s] of subjects.entries()) {
    for (const p of parents[i] ?? []) join(i, p);
    for (const r of s.relationships) {
      const target = concept(r.target);
      if (target !== undefined) join(i, target);
    }
  }
  const lists = near.map((set) => [...set]);
  const places = lists.reduce((n, list) => n + list.length, 0);
  return {
    subjects,
    edges,
    edgesAt,
    near: lists,
    parents,
    leadsTo: (n) => subjects[n]?.relationships.flatMap((r) => concept(r.target) ?? []) ?? [],
    concept,
    numberOf: (subject) => numbers.get(subjectKey(subject)),
    bytes: 200 * subjects.length + 80 * edges.length + 8 * places,
  };
}

/** The relationships of subjects, each once. An inherited one belongs to the concept that declares it, if that is a subject. */
function edgesOf(subjects: readonly Subject[], concept: (name: string) => number | undefined): readonly Edge[] {
  const isOwn = (r: SubjectRelationship): boolean => r.inheritedFrom === null || concept(r.inheritedFrom) === undefined;
  const other = (from: Subject, r: SubjectRelationship, isInverse: boolean): SubjectRelationship | undefined => {
    const target = subjects[concept(r.target) ?? -1];
    return target?.relationships.find((b) => b.isInverse === isInverse && b.name === r.inverse && b.target === from.name);
  };
  return subjects.flatMap((s, from) =>
    s.relationships.flatMap((r): Edge[] => {
      const to = concept(r.target);
      if (to === undefined || !isOwn(r)) return [];
      if (!r.isInverse) return [{ from, to, there: r, back: other(s, r, true) ?? null }];
      // the declared direction, on the other concept, has both
      return other(s, r, false) === undefined ? [{ from, to, there: r, back: null }] : [];
    }),
  );
}

/**
 * The numbers of a small connected part with all `seeds` that are connected, in the order in which they were found. The tree grows from the first seed by the shortest way to the next one (a
 * heuristic for a Steiner tree). Seeds that cannot be connected are included on their own. `isIn`: what the part may contain; `score`: prefers one of several shortest ways.
 */
export function connecting(map: ModelMap, seeds: readonly number[], isIn: (n: number) => boolean, score: (n: number) => number): readonly number[] {
  const part = new Set<number>();
  const left = new Set(seeds);
  for (const seed of seeds) {
    if (!left.delete(seed)) continue;
    part.add(seed);
    for (let way = wayTo(map, part, left, isIn, score); way.length > 0; way = wayTo(map, part, left, isIn, score)) {
      for (const n of way) {
        part.add(n);
        left.delete(n);
      }
    }
  }
  return [...part];
}

/** The shortest way from a part to the nearest of `goals`, without the part itself. Empty if no way leads there. */
function wayTo(map: ModelMap, part: ReadonlySet<number>, goals: ReadonlySet<number>, isIn: (n: number) => boolean, score: (n: number) => number): number[] {
  if (goals.size === 0) return [];
  const before = new Map<number, number>();
  let ends: readonly number[] = [...part];
  while (ends.length > 0) {
    const next: number[] = [];
    for (const end of ends) {
      for (const n of map.near[end] ?? []) {
        if (part.has(n) || before.has(n) || !isIn(n)) continue;
        before.set(n, end);
        next.push(n);
      }
    }
    const [goal] = next.filter((n) => goals.has(n)).sort((a, b) => score(b) - score(a));
    if (goal !== undefined) {
      const way: number[] = [];
      for (let n: number | undefined = goal; n !== undefined && !part.has(n); n = before.get(n)) way.unshift(n);
      return way;
    }
    // of several shortest ways, the one over the best concepts
    ends = next.sort((a, b) => score(b) - score(a));
  }
  return [];
}

/** What surrounds a part, by distance: the nearest first, and among these the best; each with its distance. */
export function around(
  map: ModelMap,
  part: Iterable<number>,
  isIn: (n: number) => boolean,
  score: (n: number) => number,
  most = Number.POSITIVE_INFINITY,
): readonly { readonly number: number; readonly distance: number }[] {
  const seen = new Set(part);
  const found: { number: number; distance: number }[] = [];
  let ends: readonly number[] = [...seen];
  for (let distance = 1; ends.length > 0 && distance <= most; distance++) {
    const next: number[] = [];
    for (const end of ends) {
      for (const n of map.near[end] ?? []) {
        if (seen.has(n) || !isIn(n)) continue;
        seen.add(n);
        next.push(n);
      }
    }
    ends = next.sort((a, b) => score(b) - score(a) || a - b);
    for (const number of ends) found.push({ number, distance });
  }
  return found;
}

/** Adds the ancestors of each subject, which have its inherited columns, after it. */
export function withAncestors({ parents }: ModelMap, part: readonly number[], isIn: (n: number) => boolean): readonly number[] {
  const all = new Set<number>();
  const add = (n: number): void => {
    if (all.has(n) || !isIn(n)) return;
    all.add(n);
    for (const p of parents[n] ?? []) add(p);
  };
  for (const n of part) add(n);
  return [...all];
}
