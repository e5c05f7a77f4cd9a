/**
 * One SELECT taken apart: its relations, the tree of the paths that it walks, the level of each aggregate call, and whether the fan-out rule refuses it
 * (docs/design/aggregates-over-several-paths.md#levels).
 */

import { lowered } from './cube.ts';
import type { Agg, Col, Expr, Hop, Item, Mea, Query, Select } from './expr.ts';
import { expressionsOf, selectsOf, walk, walkQuery } from './expr.ts';
import type { Onto } from './onto.ts';

/** A hop of a path, or a multi-value property at its end, of one relation of a block. */
export interface Node {
  readonly index: number;
  readonly rel: string;
  readonly parent: Node | null;
  readonly hop: Hop | null;
  readonly multi: string | null;
  readonly toMany: boolean;
  /** Walked in FROM itself (ON): part of the root's row. */
  inFrom: boolean;
  /** Followed only by measures, and joined only for them. */
  measure: boolean;
}

/** Two paths of one call part. */
class Fanout extends Error {}

/** What the planner must refuse a query with: 400 and one of these codes. */
export type Refusal = 'fanout' | 'no_key';

/** A query that must be refused. */
export class Refused extends Error {
  readonly codes: ReadonlySet<Refusal>;

  constructor(codes: ReadonlySet<Refusal>) {
    super([...codes].join());
    this.codes = codes;
  }
}

export class Block {
  readonly sel: Select;
  readonly rels = new Map<string, number>();
  readonly nodes: Node[] = [];
  private readonly byKey = new Map<string, Node>();
  private readonly onto: Onto;

  constructor(sel: Select, onto: Onto) {
    this.sel = sel;
    this.onto = onto;
    sel.from.forEach((f, i) => {
      this.rels.set(f.alias, i);
    });
    const use = (inFrom: boolean) => (e: Expr) => {
      if (e.k === 'col') this.nodeOf(e, inFrom);
    };
    for (const f of sel.from) {
      if (f.on) walk(f.on, use(true), true);
      if (f.src.k === 'sub' && f.lateral) walkQuery(f.src.q, use(true));
    }
    for (const i of sel.items) if (i.k === 'wild') this.hops(i.rel, i.path, false);
    for (const e of expressionsOf(sel)) walk(this.unalias(e), use(false), true);
    const plain = this.nodes.length;
    for (const m of this.measures()) this.hops(m.rel, m.path, false);
    for (const n of this.nodes.slice(plain)) n.measure = true;
  }

  /** The nodes on the way to a measure's things, from the root's side. */
  wayOf(m: Mea): Node[] {
    const out: Node[] = [];
    for (let n = this.hops(m.rel, m.path, false); n; n = n.parent) out.unshift(n);
    return out;
  }

  /** The measures that this block's calls expand. */
  measures(): Mea[] {
    const out: Mea[] = [];
    const visit = (e: Expr) => {
      if (e.k === 'mea') out.push(e);
    };
    for (const e of expressionsOf(this.sel)) walk(this.unalias(e), visit, false);
    return out;
  }

  /** A select alias means its item. */
  unalias(e: Expr): Expr {
    switch (e.k) {
      case 'alias':
        return this.itemOf(e.name);
      case 'op':
        return { ...e, args: e.args.map((a) => this.unalias(a)) };
      default:
        return e;
    }
  }

  itemOf(name: string): Expr {
    const item = this.sel.items.find((i): i is Item & { k: 'expr' } => i.k === 'expr' && i.as === name);
    if (!item) throw new Error(`no alias ${name}`);
    return item.e;
  }

  /** The node of a column; null: the relation's own row, or a row of another block. */
  nodeOf(c: Col, inFrom = false): Node | null {
    if (!this.rels.has(c.rel)) return null;
    const at = this.hops(c.rel, c.path, inFrom);
    return c.leaf.k === 'multi' ? this.node(c.rel, at, null, c.leaf.name, inFrom) : at;
  }

  private hops(rel: string, path: readonly Hop[], inFrom: boolean): Node | null {
    let at: Node | null = null;
    for (const h of path) at = this.node(rel, at, h, null, inFrom);
    return at;
  }

  private node(rel: string, parent: Node | null, hop: Hop | null, multi: string | null, inFrom: boolean): Node {
    const key = JSON.stringify([rel, parent?.index ?? null, hop && [hop.rel, hop.inv, hop.tilde, hop.bracket, hop.star], multi]);
    let node = this.byKey.get(key);
    if (!node) {
      node = { index: this.nodes.length, rel, parent, hop, multi, toMany: hop === null || !this.onto.isToOne(hop), inFrom, measure: false };
      this.nodes.push(node);
      this.byKey.set(key, node);
    }
    if (inFrom) node.inFrom = true;
    return node;
  }

  /** The aggregate calls of this block. */
  aggregates(): Agg[] {
    const out: Agg[] = [];
    const visit = (e: Expr) => {
      if (e.k === 'agg') out.push(e);
    };
    for (const e of expressionsOf(this.sel)) walk(this.unalias(e), visit, false);
    return out;
  }

  get aggregated(): boolean {
    return this.sel.group !== null || this.aggregates().length > 0 || this.measures().length > 0;
  }

  /** The nearest to-many node at or above a node, the root being null. */
  private toManyAt(node: Node | null): Node | null {
    for (let n = node; n; n = n.parent) if (n.toMany && !n.inFrom) return n;
    return null;
  }

  /** The deepest of some nodes, when they lie on one way from the root. */
  private deepest(nodes: readonly (Node | null)[]): Node | null {
    let deep: Node | null = null;
    for (const n of nodes) {
      if (n === null || within(n, deep)) continue;
      if (deep !== null && !within(deep, n)) throw new Fanout();
      deep = n;
    }
    return deep;
  }

  /**
   * The level of a call: the last node of the longest to-many path among its columns; null: the root.
   * @throws Fanout where two part
   */
  levelOf(call: Agg): Node | null {
    return this.deepest(this.nodesOf(call));
  }

  private nodesOf(call: Agg): (Node | null)[] {
    const columns: (Node | null)[] = [];
    for (const part of [call.arg, ...(call.order ?? []).map((o) => o.e)])
      walk(
        part ?? NOTHING,
        (e) => {
          if (e.k === 'col') columns.push(this.toManyAt(this.nodeOf(e)));
        },
        true,
      );
    return columns;
  }

  /** The ends of the to-many paths of a call, or of the block if it has no columns. Several where they part; none: the root. */
  endsOf(call: Agg): Node[] {
    const nodes = this.hasColumns(call) ? this.nodesOf(call) : this.nodes.filter((n) => !n.measure).map((n) => this.toManyAt(n));
    const levels = [...new Set(nodes)].filter((n): n is Node => n !== null);
    return levels.filter((n) => !levels.some((m) => m !== n && within(n, m)));
  }

  /** A call without columns counts joined rows: its level is the deepest to-many path of the block. */
  hasColumns(call: Agg): boolean {
    let any = false;
    for (const part of [call.arg, ...(call.order ?? []).map((o) => o.e)])
      walk(
        part ?? NOTHING,
        (e) => {
          if (e.k === 'col') any = true;
        },
        true,
      );
    return any;
  }

  /** Why the rule refuses the block itself (docs/design/aggregates-over-several-paths.md#levels). */
  refusals(): Set<Refusal> {
    const out = new Set<Refusal>();
    try {
      for (const call of this.aggregates()) {
        if (this.hasColumns(call)) this.levelOf(call);
        else if (!call.roots) this.deepest(this.nodes.filter((n) => !n.measure).map((n) => this.toManyAt(n)));
      }
    } catch (e) {
      if (!(e instanceof Fanout)) throw e;
      out.add('fanout');
    }
    const lacksKey = (m: Mea): boolean => this.isMultiplied(m) && !this.onto.isKeyed(this.conceptOf(m));
    const sharesKey = (m: Mea): boolean => !this.isReachedOnce(m) && this.onto.countsDuplicates(m.name) && !this.onto.isKeyProvided(this.conceptOf(m));
    if (this.measures().some((m) => lacksKey(m) || sharesKey(m))) out.add('no_key');
    return out;
  }

  /** Whether several rows of FROM may belong to one thing of a measure, judging by the query: then only a key distinguishes things. */
  private isMultiplied(m: Mea): boolean {
    return m.path.length > 0 || this.sel.from.length > 1;
  }

  /** Whether at most one joined row leads to each thing of a measure: FROM is one concept, and each hop finds rows by a foreign key to the start's whole key. */
  private isReachedOnce(m: Mea): boolean {
    const [from, ...others] = this.sel.from;
    return others.length === 0 && from?.src.k === 'concept' && m.path.every((hop) => this.onto.isOfOne(hop));
  }

  /** The concept through which a measure's things are read. */
  conceptOf(m: Mea): string {
    const src = this.sel.from[this.rels.get(m.rel)!]!.src;
    return m.path.at(-1)?.bracket ?? (src.k === 'concept' ? src.concept : '');
  }
}

const NOTHING: Expr = { k: 'lit', v: null, kind: 'int' };

/** Whether `a` is `b` or lies on the way to it. */
function within(a: Node, b: Node | null): boolean {
  for (let n = b; n; n = n.parent) if (n === a) return true;
  return false;
}

/** Why a query must be refused; empty: it must be answered. */
export function refusalsOf(q: Query, onto: Onto): Set<Refusal> {
  const out = new Set<Refusal>();
  const add = (codes: Iterable<Refusal>) => {
    for (const c of codes) out.add(c);
  };
  const inside = (e: Expr) => {
    if (e.k === 'exists' || e.k === 'scalar' || e.k === 'insub') add(refusalsOf(e.q, onto));
  };
  for (const c of q.ctes) add(refusalsOf(c.q, onto));
  for (const written of selectsOf(q)) {
    const s = lowered(written, onto.world);
    for (const f of s.from) {
      if (f.src.k === 'sub') add(refusalsOf(f.src.q, onto));
      if (f.on) walk(f.on, inside, false);
    }
    for (const e of expressionsOf(s)) walk(e, inside, false);
    add(new Block(s, onto).refusals());
  }
  return out;
}
