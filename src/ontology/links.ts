/**
 * Pairs the declarations of a model that describe one relationship from its two ends, and finds the relationship of a link
 * mapping. Works only on names, so that `compile` and the checks at the end of a script agree.
 */
import type { ConceptDef, LinkDef, Model, RelationshipDef } from './model.ts';
import { fold, otherWay } from './names.ts';

/** A relationship of the model: its first declaration and, if the other end declares it too, that declaration. */
export interface Pair {
  readonly def: RelationshipDef;
  /** The concept that declares `def`. */
  readonly owner: ConceptDef;
  /**
   * The same relationship as declared by the target; null if the target does not declare it
   * (docs/design/paths-and-cardinality.md#relationships-and-their-inverses).
   */
  readonly twin: RelationshipDef | null;
  /** Its name as seen from the target: the INVERSEOF name, the twin's name, or `~name`. */
  readonly inverseName: string;
}

export interface Pairs {
  readonly all: readonly Pair[];
  /** By the folded name of the declaring concept. */
  readonly from: ReadonlyMap<string, readonly Pair[]>;
  /** By the folded name of the declared target. */
  readonly to: ReadonlyMap<string, readonly Pair[]>;
  /** By the folded names in both directions, without a `~`. */
  readonly named: ReadonlyMap<string, readonly Pair[]>;
  /** The pair of a declaration, whether as `def` or as `twin`. */
  readonly of: ReadonlyMap<RelationshipDef, Pair>;
}

/**
 * Whether `b`, declared by concept `at`, is `a` (declared by `owner`) as seen from its target: one names the other as its
 * INVERSEOF, neither names a third one, and their kinds, ends and properties mirror each other.
 */
function mirrors(a: RelationshipDef, owner: string, b: RelationshipDef, at: string): boolean {
  if (a === b || a.kind !== b.kind || fold(a.target) !== at || fold(b.target) !== owner) return false;
  const named = a.inverse !== null && fold(a.inverse) === fold(b.name);
  const naming = b.inverse !== null && fold(b.inverse) === fold(a.name);
  if (!named && !naming) return false;
  if ((a.inverse !== null && !named) || (b.inverse !== null && !naming)) return false;
  if (a.kind === 'mtm') return true;
  const ends = (columns: readonly string[], others: readonly string[]): string =>
    columns
      .map((c, i) => `${fold(c)}=${fold(others[i] ?? '')}`)
      .sort()
      .join(',');
  return ends(a.source, a.references) === ends(b.references, b.source);
}

/** The relationships of a concept that can mirror one with a name or an INVERSEOF name, to the concept that declares it: the others differ in a name or in the target. */
class Mirrors {
  readonly #known = new Map<ConceptDef, ReadonlyMap<string, readonly RelationshipDef[]>>();

  of(a: RelationshipDef, owner: string, target: ConceptDef): readonly RelationshipDef[] {
    const key = a.inverse === null ? keyOf('naming', a.name, owner) : keyOf('named', a.inverse, owner);
    return this.#all(target).get(key) ?? [];
  }

  #all(target: ConceptDef): ReadonlyMap<string, readonly RelationshipDef[]> {
    const known = this.#known.get(target);
    if (known !== undefined) return known;
    const all = new Map<string, RelationshipDef[]>();
    for (const r of target.relationships) {
      push(all, keyOf('named', r.name, r.target), r);
      if (r.inverse !== null) push(all, keyOf('naming', r.inverse, r.target), r);
    }
    this.#known.set(target, all);
    return all;
  }
}

/** Names have no line breaks. */
const keyOf = (kind: 'named' | 'naming', name: string, concept: string): string => `${kind}\n${fold(name)}\n${fold(concept)}`;

/** All relationships of a model, each once, in order of declaration. */
export function pairRelationships(model: Model): Pairs {
  const concepts = new Map(model.concepts.map((c) => [fold(c.name), c]));
  const mirrored = new Mirrors();
  const all: Pair[] = [];
  const from = new Map<string, Pair[]>();
  const to = new Map<string, Pair[]>();
  const named = new Map<string, Pair[]>();
  const of = new Map<RelationshipDef, Pair>();
  for (const owner of model.concepts) {
    for (const def of owner.relationships) {
      if (of.has(def)) continue;
      const target = concepts.get(fold(def.target));
      const candidates = target === undefined ? [] : mirrored.of(def, owner.name, target);
      const twin = candidates.find((r) => !of.has(r) && mirrors(def, fold(owner.name), r, fold(def.target))) ?? null;
      const pair: Pair = { def, owner, twin, inverseName: twin?.name ?? def.inverse ?? `~${def.name}` };
      all.push(pair);
      of.set(def, pair);
      if (twin) of.set(twin, pair);
      push(from, fold(owner.name), pair);
      push(to, fold(def.target), pair);
      for (const name of new Set([fold(def.name), bare(pair.inverseName)])) push(named, name, pair);
    }
  }
  return { all, from, to, named, of };
}

/** A folded name without leading `~`. */
const bare = (name: string): string => fold(name).replace(/^~+/, '');

export function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** The direction that a name in a link mapping refers to: `r` (or `~r2`) is forward, `r2` (or `~r`) is back. */
export function directionOf(pair: Pair, name: string): 'forward' | 'back' | null {
  const asked = fold(name).replace(/^(~~)+/, '');
  const forward = fold(pair.def.name);
  const back = fold(pair.inverseName);
  if (asked === forward || asked === otherWay(back)) return 'forward';
  if (asked === back || asked === otherWay(forward)) return 'back';
  return null;
}

/** How closely `concept` is related to the end `end` of a relationship: 0 if equal, 1 for a descendant, 2 for an ancestor, undefined if unrelated. */
export type Kinship = (concept: string, end: string) => number | undefined;

/**
 * The relationship of a link mapping: of those with its names, the one whose ends are most closely related to the mapping's
 * concepts. Also returns whether the mapping's `forward` end is the far end of the relationship.
 */
export function relationshipOf(link: LinkDef, pairs: Pairs, kinship: Kinship): { readonly pair: Pair; readonly forward: boolean } | null {
  let best: { pair: Pair; forward: boolean } | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const pair of pairs.named.get(bare(link.forward.relationship)) ?? []) {
    if (pair.def.kind !== 'mtm') continue;
    const first = directionOf(pair, link.forward.relationship);
    const second = directionOf(pair, link.back.relationship);
    if (first === null || second === null || first === second) continue;
    const [far, near] = first === 'forward' ? [link.forward, link.back] : [link.back, link.forward];
    const a = kinship(near.concept, pair.owner.name);
    const b = kinship(far.concept, pair.def.target);
    if (a === undefined || b === undefined || a + b >= smallest) continue;
    smallest = a + b;
    best = { pair, forward: first === 'forward' };
  }
  return best;
}
