/**
 * Random row policies and masks of a caller over a world, and what they change for the second opinion (docs/design/policies.md#row-policies,
 * docs/design/policies.md#masks).
 */
import { createHash } from 'node:crypto';
import type { Access, Mask } from '../../../src/planner/secure/access.ts';
import { Evaluator } from './evaluate.ts';
import type { Col, Expr, Kind, Scalar } from './expr.ts';
import { walk } from './expr.ts';
import { genValue } from './gen-base.ts';
import type { Scope } from './gen-from.ts';
import { QueryGen } from './gen-query.ts';
import type { Change, Thing } from './onto.ts';
import { literal, type Printer } from './print.ts';
import type { Rng } from './rng.ts';
import type { World } from './world.ts';

/** Conditions of one concept. A row is visible if one of them is true, so without conditions no row is. */
export interface RowPolicies {
  readonly concept: string;
  readonly conds: readonly Expr[];
}

export interface MaskPolicy {
  readonly prop: string;
  readonly concept: string | null;
  readonly kind: 'null' | 'full' | 'hash' | 'partial' | 'with';
  /** What WITH gives. */
  readonly value: Scalar;
}

export interface PolicySet {
  readonly rows: readonly RowPolicies[];
  readonly masks: readonly MaskPolicy[];
}

const KEY = 'a key of the test';

/** What a condition of a policy has: a path, a walk, a calculated property over a path. */
export type Trait = 'path' | 'walk' | 'calculated';

/** What a column needs to be read. */
function traitsOfColumn({ path, leaf }: Col, world: World): Trait[] {
  const traits: Trait[] = [];
  if (path.length > 0) traits.push('path');
  if (path.some((hop) => hop.star !== null)) traits.push('walk');
  if (leaf.k === 'prop' && world.props.some((p) => p.name === leaf.name && p.expr && traitsOf(p.expr, world).size > 0)) traits.push('calculated');
  return traits;
}

/** What an expression has. */
function traitsOf(expression: Expr, world: World): Set<Trait> {
  const traits = new Set<Trait>();
  walk(expression, (e) => void (e.k === 'col' && traitsOfColumn(e, world).forEach((t) => void traits.add(t))), true);
  return traits;
}

/** What the conditions of policies have. */
export const traitsOfPolicies = (set: PolicySet, world: World): ReadonlySet<Trait> =>
  new Set(set.rows.flatMap(({ conds }) => conds.flatMap((c) => [...traitsOf(c, world)])));

/** Each path to a guarded row has the conditions of its policies. With walks and calculated properties over paths in them queries are often too large. */
class ConditionGen extends QueryGen {
  readonly #isSmall = this.r.chance(70);

  protected override col(scope: Scope, kind: Kind | null): Col | null {
    if (!this.#isSmall) return super.col(scope, kind);
    const isSmall = (col: Col): boolean => col.path.length <= 2 && traitsOfColumn(col, this.world).every((t) => t === 'path');
    return super.col(
      scope.map((rel) => ({ ...rel, places: rel.places.map((place) => place.filter(isSmall)) })),
      kind,
    );
  }

  /** A condition over a concept's own columns and paths. */
  condition(concept: string): Expr {
    // no sub-queries: a condition is in the words of the concept
    this.depth = 2;
    return this.cond([this.conceptRel('', 'dsvc', concept, 1)], 1);
  }
}

/** Policies for some concepts and masks for some properties. */
export function genPolicies(r: Rng, world: World): PolicySet {
  const evaluator = new Evaluator(world);
  const filled = world.concepts.filter((c) => evaluator.onto.rows(c.name).length > 0);
  const rows = r.some(filled.length && r.chance(90) ? filled : world.concepts, r.pick([0, 1, 1, 2, 2, 3])).map((c) => ({
    concept: c.name,
    conds: Array.from({ length: r.pick([0, 1, 1, 1, 2]) }, () => new ConditionGen(r, world, evaluator.onto).condition(c.name)),
  }));
  const masks = r.some(maskable(world), r.pick([0, 0, 1, 2])).map((p): MaskPolicy => {
    const kinds = p.kind === 'text' ? (['null', 'full', 'hash', 'partial', 'with'] as const) : (['null', 'full', 'with'] as const);
    return {
      prop: p.name,
      concept: r.chance(60) ? null : r.pick(world.concepts.filter((c) => !c.logic)).name,
      kind: r.pick(kinds),
      value: genValue(r, p.kind, 20),
    };
  });
  return { rows, masks };
}

/** Properties that are not used in joins or keys, and on which no measure and no logic concept depends. Queries that read such definitions are refused. */
function maskable(world: World): World['props'] {
  const taken = new Set<string>();
  for (const c of world.concepts) for (const n of [...c.key, ...c.rels.flatMap((d) => [...d.source, ...d.references])]) taken.add(n);
  for (const m of world.mappings) if (m.kind === 'link') for (const c of m.columns) taken.add(c.as);
  const read = (e: Expr): void =>
    walk(
      e,
      (x) => {
        if (x.k !== 'col') return;
        if (x.leaf.k === 'entity') for (const c of world.concepts) for (const n of c.label) taken.add(n);
        if (x.leaf.k === 'prop') taken.add(x.leaf.name);
      },
      true,
    );
  for (const c of world.concepts) if (c.logic) read(c.logic.cond);
  for (const m of world.measures ?? []) for (const e of [m.expr, m.filter]) if (e) read(e);
  for (let before = -1; before !== taken.size; ) {
    before = taken.size;
    for (const p of world.props) if (p.expr && taken.has(p.name)) read(p.expr);
  }
  return world.props.filter((p) => !p.multi && !taken.has(p.name));
}

/** The policies in the form of the planner. */
export function accessOf(set: PolicySet, world: World, printer: Printer): Access {
  return {
    rows: set.rows.map(({ concept, conds }) => ({ concept, conditions: conds.map((c, i) => ({ policy: `${concept}_${i}`, condition: printer.expr(c) })) })),
    masks: set.masks.map((m) => ({ policy: `mask_${m.prop}`, property: m.prop, concept: m.concept, mask: maskOf(m, world) })),
    caller: { username: 'someone', roles: [], claims: {} },
    maskKey: KEY,
  };
}

function maskOf(m: MaskPolicy, world: World): Mask {
  if (m.kind === 'partial') return { kind: 'partial', first: 1, filler: 'x', last: 1 };
  if (m.kind !== 'with') return { kind: m.kind };
  return { kind: 'with', expression: m.value === null ? 'NULL' : literal(m.value, (world.props.find((p) => p.name === m.prop) as { kind: string }).kind) };
}

/**
 * What the caller sees, by the words of docs/design/policies.md#row-policies: a thing is hidden if a concept that it is an instance of has policies and none of
 * them is true for it.
 */
export function changeOf(set: PolicySet, world: World): Change {
  const all = new Evaluator(world);
  const ids = (concept: string): ReadonlySet<number> => new Set(all.onto.rows(concept).map((t) => t.id));
  const hidden = new Set<number>();
  for (const { concept, conds } of set.rows)
    for (const thing of all.onto.rows(concept)) if (!conds.some((c) => all.holds(thing, 'dsvc', concept, c))) hidden.add(thing.id);
  // a policy on some row of a concept hides links that refer to no visible row of it (docs/policies.md)
  const { onto } = all;
  const isGuarded = (concept: string): boolean =>
    onto.mappedFor(concept).some((c) => set.rows.some((p) => onto.isA(c, p.concept) || onto.mappedFor(p.concept).includes(c)));
  const guarded = new Set(world.concepts.map((c) => c.name).filter(isGuarded));
  const masks = new Map(set.masks.map((m) => [m.prop, { ...m, ids: m.concept === null ? null : ids(m.concept) }] as const));
  const isText = (prop: string): boolean => world.props.find((p) => p.name === prop)?.kind === 'text';
  return {
    hides: (thing: Thing) => hidden.has(thing.id),
    hidesLink: ({ concept, columns, references }, link) => {
      const refersTo = (thing: Thing): boolean => references.every((p, i) => onto.value(thing, concept, p) === link.get(columns[i] as string));
      return guarded.has(concept) && !onto.rows(concept).some((thing) => !hidden.has(thing.id) && refersTo(thing));
    },
    value: (thing, prop, value) => {
      const mask = masks.get(prop);
      if (!mask || (mask.ids && !mask.ids.has(thing.id))) return value;
      return masked(mask, value, isText(prop));
    },
  };
}

function masked(m: MaskPolicy, value: Scalar, isText: boolean): Scalar {
  if (m.kind === 'with') return m.value;
  if (value === null || m.kind === 'null' || !isText) return null;
  const text = String(value);
  if (m.kind === 'full') return '****';
  if (m.kind === 'partial') return text.length <= 2 ? 'x'.repeat(text.length) : `${text[0]}${'x'.repeat(text.length - 2)}${text.at(-1)}`;
  const hash = (bytes: Buffer): Buffer => createHash('sha256').update(KEY).update(bytes).digest();
  return hash(hash(Buffer.from(text))).toString('hex');
}

/** Smaller sets, for shrinking. */
export function* smaller(set: PolicySet): Generator<PolicySet> {
  for (const i of set.rows.keys()) yield { ...set, rows: set.rows.filter((_, j) => j !== i) };
  for (const i of set.masks.keys()) yield { ...set, masks: set.masks.filter((_, j) => j !== i) };
  for (const [i, { concept, conds }] of set.rows.entries()) {
    for (const k of conds.keys()) yield { ...set, rows: set.rows.map((x, j) => (j === i ? { concept, conds: conds.filter((_, n) => n !== k) } : x)) };
    for (const [k, c] of conds.entries()) {
      const parts: readonly Expr[] = c.k === 'op' ? c.args.filter((a) => a.kind === 'bool') : [];
      for (const p of parts) yield { ...set, rows: set.rows.map((x, j) => (j === i ? { concept, conds: conds.map((o, n) => (n === k ? p : o)) } : x)) };
    }
  }
}
