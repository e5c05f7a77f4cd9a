/**
 * The second opinion: a query evaluated in memory, literally by docs/design/aggregates-over-several-paths.md#levels. A path is a LEFT JOIN; an aggregate call
 * is computed over the distinct instances of its level among the joined rows that meet WHERE. No cleverness on purpose.
 */
import type { Node } from './block.ts';
import { Block, Refused, refusalsOf } from './block.ts';
import { lowered } from './cube.ts';
import type { Agg, Col, Expr, Mea, Query, Scalar, Schema, Select, Win } from './expr.ts';
import { aggregate, compareNulls, distinct, sameRow } from './folds.ts';
import type { Change, Match, Thing } from './onto.ts';
import { NO_MATCH, Onto } from './onto.ts';
import { columnsOf } from './output.ts';
import { Printer } from './print.ts';
import { apply, same } from './values.ts';
import type { World } from './world.ts';

/** More joined rows than a quick test should have: the case is left out. */
export class TooLarge extends Error {}
const MOST_ROWS = 800;

export interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Scalar[])[];
}

type RelRow = { readonly thing: Thing } | { readonly out: ReadonlyMap<string, Scalar> } | null;

interface Joined {
  readonly rels: readonly RelRow[];
  readonly matches: readonly (Match | undefined)[];
  /** Which row of FROM it comes from. */
  readonly root: number;
}

interface Frame {
  readonly block: Block;
  readonly row: Joined;
  readonly parent: Frame | null;
  readonly ctes: ReadonlyMap<string, Result>;
  /** In a grouped block: the group's joined rows, its GROUP BY values, and which of them its grouping set has. */
  readonly group?: { readonly rows: readonly Joined[]; readonly keys: readonly Scalar[]; readonly set: readonly number[] };
  readonly windows?: ReadonlyMap<Win, Scalar>;
}

/** Evaluates queries over one world. */
export class Evaluator {
  readonly onto: Onto;
  private readonly printer: Printer;
  private readonly blocks = new Map<Select, Block>();
  private readonly views = new Map<string, Result>();

  /** `change`: what a caller sees otherwise than it is. */
  constructor(world: World, change: Change | null = null) {
    this.printer = new Printer(world, { backQuotes: false });
    this.onto = new Onto(
      world,
      (thing, schema, concept, cond) => this.holds(thing, schema, concept, cond),
      (thing, concept, e) => {
        const from = { alias: '', join: 'first' as const, on: null, src: { k: 'concept' as const, schema: 'dsvc' as const, concept }, lateral: false };
        const block = new Block({ ...EMPTY, from: [from], items: [{ k: 'expr', e, as: 'c' }] }, this.onto);
        // an aggregate is computed over the rows that the thing's own paths lead to
        const rows = this.expand(block, [{ rels: [{ thing }], matches: [], root: 0 }], false);
        const frame: Frame = { block, row: rows[0]!, parent: null, ctes: new Map() };
        return this.expr(e, block.aggregated ? { ...frame, group: { rows, keys: [], set: [] } } : frame);
      },
      change,
    );
  }

  /** Whether a thing, read as a concept, meets a condition over relation ''. */
  holds(thing: Thing, schema: Schema, concept: string, cond: Expr): boolean {
    const item = { k: 'expr' as const, e: cond, as: 'c' };
    const sel: Select = {
      ...EMPTY,
      from: [{ alias: '', join: 'first', on: null, src: { k: 'concept', schema, concept }, lateral: false }],
      items: [item],
      where: cond,
    };
    const block = new Block(sel, this.onto);
    const rows = this.expand(block, [{ rels: [{ thing }], matches: [], root: 0 }], false);
    return rows.some((row) => this.expr(cond, { block, row, parent: null, ctes: new Map() }) === true);
  }

  /** @throws Refused where the planner must refuse the query */
  run(q: Query): Result {
    const codes = refusalsOf(q, this.onto);
    if (codes.size) throw new Refused(codes);
    return this.query(q, null, new Map());
  }

  /**
   * The answer to a query with calls over paths that part, where the rows show that the paths are one.
   * @throws Refused where they are not: no proof can be right
   */
  proved(q: Query): Result {
    return this.query(q, null, new Map());
  }

  private query(q: Query, parent: Frame | null, ctes: ReadonlyMap<string, Result>): Result {
    let known = ctes;
    for (const c of q.ctes) known = new Map([...known, [c.name, this.query(c.q, parent, known)]]);
    if (q.body.k === 'select') return this.select(q.body, parent, known);
    const left = this.select(q.body.left, parent, known);
    const right = this.select(q.body.right, parent, known);
    const has = (rows: readonly (readonly Scalar[])[], r: readonly Scalar[]) => rows.some((o) => sameRow(o, r));
    const rows =
      q.body.op === 'UNION ALL'
        ? [...left.rows, ...right.rows]
        : q.body.op === 'UNION'
          ? distinct([...left.rows, ...right.rows])
          : distinct(left.rows.filter((r) => has(right.rows, r) === (q.body.k === 'setop' && q.body.op === 'INTERSECT')));
    return { columns: left.columns, rows };
  }

  private blockOf(sel: Select): Block {
    let b = this.blocks.get(sel);
    if (!b) {
      b = new Block(sel, this.onto);
      this.blocks.set(sel, b);
    }
    return b;
  }

  private view(name: string): Result {
    let out = this.views.get(name);
    if (!out) {
      out = this.query(this.onto.world.views!.find((v) => v.name === name)!.q, null, new Map());
      this.views.set(name, out);
    }
    return out;
  }

  private select(written: Select, parent: Frame | null, ctes: ReadonlyMap<string, Result>): Result {
    const sel = lowered(written, this.onto.world);
    const block = this.blockOf(sel);
    const roots = this.from(block, parent, ctes).map((r, root) => ({ ...r, root }));
    let rows = this.expand(block, roots, false);
    const frame = (row: Joined): Frame => ({ block, row, parent, ctes });
    if (sel.where) {
      const where = block.unalias(sel.where);
      rows = rows.filter((r) => this.expr(where, frame(r)) === true);
    }
    const columns = columnsOf(block, this.onto, this.printer);
    let frames: Frame[] = block.aggregated ? this.groups(block, rows, frame) : rows.map(frame);
    if (sel.having) {
      const having = block.unalias(sel.having);
      frames = frames.filter((f) => this.expr(having, f) === true);
    }
    frames = this.windows(block, frames);
    let out = frames.map((f) => ({
      row: columns.map((c) => this.expr(c.e, f)),
      by: sel.order.map((o) => (typeof o.by === 'number' ? null : this.expr(block.unalias(o.by), f))),
    }));
    if (sel.distinct) out = out.filter((o, i) => out.findIndex((p) => sameRow(p.row, o.row)) === i);
    if (sel.order.length) {
      const key = (o: (typeof out)[number], i: number) =>
        typeof sel.order[i]!.by === 'number' ? (o.row[(sel.order[i]!.by as number) - 1] as Scalar) : (o.by[i] as Scalar);
      out.sort((a, b) => {
        for (const [i, o] of sel.order.entries()) {
          const d = compareNulls(key(a, i), key(b, i), o);
          if (d) return d;
        }
        return 0;
      });
    }
    if (sel.on) {
      const by = sel.order.slice(0, sel.on.n).map((o) => (o.by as number) - 1);
      out = out.filter((o, i) => out.findIndex((p) => by.every((k) => same(p.row[k]!, o.row[k]!))) === i);
    }
    const from = sel.offset ?? 0;
    out = out.slice(from, sel.limit === null ? undefined : from + sel.limit);
    return { columns: columns.map((c) => c.name), rows: out.map((o) => o.row) };
  }

  /** The rows of FROM; paths in ON are followed here. */
  private from(block: Block, parent: Frame | null, ctes: ReadonlyMap<string, Result>): Joined[] {
    let rows: Joined[] = [{ rels: [], matches: [], root: 0 }];
    const none = block.sel.from.map((): RelRow => null);
    block.sel.from.forEach((f, i) => {
      const own = (left: Joined): Joined[] => {
        const frame: Frame = { block, row: left, parent, ctes };
        const list: RelRow[] =
          f.src.k === 'concept'
            ? this.onto.rows(f.src.concept).map((thing) => ({ thing }))
            : ((r: Result) => r.rows.map((v) => ({ out: new Map(r.columns.map((c, k) => [c, v[k] as Scalar])) })))(
                f.src.k === 'cte' ? ctes.get(f.src.name)! : f.src.k === 'sub' ? this.query(f.src.q, f.lateral ? frame : parent, ctes) : this.view(f.src.name),
              );
        return list.flatMap((r) =>
          this.expand(block, [{ rels: none.map((_, k) => (k === i ? r : (left.rels[k] ?? null))), matches: left.matches, root: 0 }], true, f.alias),
        );
      };
      const meets = (r: Joined) => !f.on || this.expr(f.on, { block, row: r, parent, ctes }) === true;
      const empty: Joined = { rels: none, matches: [], root: 0 };
      const fixed = f.lateral ? null : own(empty);
      const join = (l: Joined, r: Joined): Joined => ({
        rels: none.map((_, k) => (k === i ? (r.rels[k] ?? null) : (l.rels[k] ?? null))),
        matches: merge(l.matches, r.matches),
        root: 0,
      });
      const met = new Set<Joined>();
      const next: Joined[] = [];
      for (const l of rows) {
        let any = false;
        for (const r of fixed ?? own(l)) {
          const both = fixed ? join(l, r) : r;
          if (!meets(both)) continue;
          any = true;
          met.add(r);
          next.push(both);
        }
        if (!any && (f.join === 'left' || f.join === 'full')) next.push(l);
      }
      if (f.join === 'right' || f.join === 'full') for (const r of fixed!) if (!met.has(r)) next.push(r);
      rows = next;
      if (rows.length > MOST_ROWS) throw new TooLarge();
    });
    return rows;
  }

  /** Walks the block's paths from each row: the ones of FROM (of one relation), or all others. */
  private expand(block: Block, rows: readonly Joined[], inFrom: boolean, only?: string): Joined[] {
    let out = [...rows];
    // A node comes after its parent in the list.
    for (const n of block.nodes) {
      if (n.measure || n.inFrom !== inFrom || (only !== undefined && n.rel !== only)) continue;
      out = out.flatMap((r) => {
        const found = this.matches(block, n, r);
        return (found.length ? found : [NO_MATCH]).map((m) => ({ ...r, matches: set(r.matches, n.index, m) }));
      });
      if (out.length > MOST_ROWS) throw new TooLarge();
    }
    return out;
  }

  private matches(block: Block, n: Node, row: Joined): readonly Match[] {
    const thing = n.parent ? (row.matches[n.parent.index]?.thing ?? null) : this.thingOf(block, n.rel, row);
    if (!thing) return [];
    return n.hop ? this.onto.related(thing, n.hop) : this.onto.values(thing, n.multi!);
  }

  private thingOf(block: Block, rel: string, row: Joined): Thing | null {
    const r = row.rels[block.rels.get(rel)!];
    return r && 'thing' in r ? r.thing : null;
  }

  private groups(block: Block, rows: readonly Joined[], frame: (row: Joined) => Frame): Frame[] {
    const exprs = (block.sel.group ?? []).map((e) => block.unalias(e));
    const sets = block.sel.sets?.sets ?? [exprs.map((_, i) => i)];
    const nothing: Joined = { rels: block.sel.from.map(() => null), matches: [], root: -1 };
    return sets.flatMap((list) => {
      const groups = new Map<string, { keys: Scalar[]; rows: Joined[]; set: readonly number[] }>();
      if (!list.length) groups.set('', { keys: exprs.map(() => null), rows: [], set: list });
      for (const r of rows) {
        const keys = exprs.map((e, i) => (list.includes(i) ? this.expr(e, frame(r)) : null));
        const id = list.length ? JSON.stringify(keys) : '';
        const g = groups.get(id) ?? { keys, rows: [], set: list };
        g.rows.push(r);
        groups.set(id, g);
      }
      return [...groups.values()].map((group): Frame => ({ ...frame(group.rows[0] ?? nothing), group }));
    });
  }

  private windows(block: Block, frames: Frame[]): Frame[] {
    const calls: Win[] = [];
    const find = (e: Expr) => {
      if (e.k === 'win') calls.push(e);
      if (e.k === 'op') e.args.forEach(find);
    };
    for (const i of block.sel.items) if (i.k === 'expr') find(i.e);
    if (!calls.length) return frames;
    const values = frames.map(() => new Map<Win, Scalar>());
    for (const w of calls) {
      const keys = frames.map((f) => JSON.stringify(w.partition.map((p) => this.expr(p, f))));
      const orders = frames.map((f) => w.order.map((o) => this.expr(o.e, f)));
      const before = (a: number, b: number) => {
        for (const [i, o] of w.order.entries()) {
          const d = compareNulls(orders[a]![i] as Scalar, orders[b]![i] as Scalar, { desc: o.desc, nulls: null });
          if (d) return d;
        }
        return 0;
      };
      frames.forEach((_, i) => {
        const mates = frames.map((_, k) => k).filter((k) => keys[k] === keys[i]);
        if (w.fn === 'rank' || w.fn === 'dense_rank') {
          const ahead = mates.filter((k) => before(k, i) < 0);
          values[i]!.set(w, 1 + (w.fn === 'rank' ? ahead.length : new Set(ahead.map((k) => JSON.stringify(orders[k]))).size));
          return;
        }
        // The default frame: up to the last peer.
        const seen = mates.filter((k) => before(k, i) <= 0);
        values[i]!.set(w, aggregate(w.fn, w.arg ? seen.map((k) => this.expr(w.arg!, frames[k]!)) : seen.map(() => 1), false));
      });
    }
    return frames.map((f, i) => ({ ...f, windows: values[i]! }));
  }

  /** docs/design/aggregates-over-several-paths.md#levels, word by word. */
  private call(a: Agg, frame: Frame): Scalar {
    const { rows } = frame.group!;
    const at = (row: Joined): Frame => ({ block: frame.block, row, parent: frame.parent, ctes: frame.ctes });
    const kept = rows.filter((r) => !a.filter || this.expr(a.filter, at(r)) === true);
    if (a.roots) return new Set(kept.map((r) => r.root)).size;
    const ends = frame.block.endsOf(a);
    if (!a.roots && ends.length > 1) requireOne(ends, rows);
    if (!frame.block.hasColumns(a)) return aggregate(a.fn, a.arg ? kept.map((r) => this.expr(a.arg!, at(r))) : kept.map(() => 1), a.distinct);
    const instances = new Map<string, Joined>();
    for (const r of kept) {
      const way = [r.root, ...ends.map((end) => wayTo(end, r))].join('/');
      if (!instances.has(way)) instances.set(way, r);
    }
    let taken = [...instances.values()].map((r) => ({ value: this.expr(a.arg!, at(r)), by: (a.order ?? []).map((o) => this.expr(o.e, at(r))) }));
    if (a.fn === 'string_agg' || a.fn === 'array_agg')
      taken = taken.sort((x, y) => {
        for (const [i, o] of (a.order ?? []).entries()) {
          const d = compareNulls(x.by[i]!, y.by[i]!, { desc: o.desc, nulls: null });
          if (d) return d;
        }
        return compareNulls(x.value, y.value, { desc: false, nulls: null });
      });
    return aggregate(
      a.fn,
      taken.map((t) => t.value),
      a.distinct,
    );
  }

  /** docs/design/aggregates-over-several-paths.md#measures: the definition over the distinct things of the measure's concept in the group. */
  private measure(m: Mea, frame: Frame): Scalar {
    const { block } = frame;
    let rows = frame.group!.rows;
    const way = block.wayOf(m);
    for (const n of way) {
      if (!n.measure) continue;
      rows = rows.flatMap((r) => {
        const found = this.matches(block, n, r);
        return (found.length ? found : [NO_MATCH]).map((x) => ({ ...r, matches: set(r.matches, n.index, x) }));
      });
      if (rows.length > MOST_ROWS) throw new TooLarge();
    }
    const things = new Map<number, Thing>();
    for (const row of rows) {
      if (m.filter && this.expr(m.filter, { block, row, parent: frame.parent, ctes: frame.ctes }) !== true) continue;
      const end = way.at(-1);
      const thing = end ? (row.matches[end.index]?.thing ?? null) : this.thingOf(block, m.rel, row);
      if (thing) things.set(thing.id, thing);
    }
    return this.definition(m.name, [...things.values()], block.conceptOf(m));
  }

  private definition(name: string, all: readonly Thing[], through: string): Scalar {
    const def = this.onto.world.measures!.find((x) => x.name === name)!;
    const of = (e: Expr, thing: Thing): Scalar => {
      if (e.k === 'col') return this.onto.value(thing, through, (e.leaf as { name: string }).name);
      if (e.k === 'lit') return e.v;
      if (e.k !== 'op') throw new Error(`${e.k} in a measure`);
      return apply(
        e.op,
        e.args.map((a) => () => of(a, thing)),
      );
    };
    const things = def.filter ? all.filter((t) => of(def.filter!, t) === true) : all;
    const value = (e: Expr): Scalar => {
      switch (e.k) {
        case 'lit':
          return e.v;
        case 'mref':
          return this.definition(e.name, things, through);
        case 'agg': {
          const { arg, filter } = e;
          const met = filter ? things.filter((t) => of(filter, t) === true) : things;
          // An aggregate around another measure only marks it.
          if (arg?.k === 'mref') return this.definition(arg.name, met, through);
          return aggregate(
            e.fn,
            met.map((t) => (arg ? of(arg, t) : 1)),
            e.distinct,
          );
        }
        case 'op':
          return apply(
            e.op,
            e.args.map((a) => () => value(a)),
          );
        default:
          throw new Error(`${e.k} in a measure`);
      }
    };
    return value(def.expr);
  }

  private column(c: Col, frame: Frame): Scalar {
    let f: Frame | null = frame;
    while (f && !f.block.rels.has(c.rel)) f = f.parent;
    if (!f) throw new Error(`no relation ${c.rel}`);
    const source = f.block.sel.from[f.block.rels.get(c.rel)!]!.src;
    const own = f.row.rels[f.block.rels.get(c.rel)!] ?? null;
    if (c.leaf.k === 'out') return own && 'out' in own ? (own.out.get(c.leaf.name) ?? null) : null;
    const node = f.block.nodeOf(c);
    const match = node ? (f.row.matches[node.index] ?? NO_MATCH) : null;
    if (c.leaf.k === 'multi') return match!.value;
    if (c.leaf.k === 'link') return match!.link?.get(c.leaf.name) ?? null;
    if (c.leaf.k === 'level') return match!.level;
    const thing = match ? match.thing : own && 'thing' in own ? own.thing : null;
    if (!thing) return null;
    const through = c.path.length ? c.path.at(-1)!.bracket : source.k === 'concept' ? source.concept : '';
    if (c.leaf.k === 'entity') return this.onto.entity(thing, c.leaf.name);
    if (c.leaf.k === 'typeof') return this.onto.rows(c.leaf.concept).some((t) => t.id === thing.id);
    return this.onto.value(thing, through, c.leaf.name);
  }

  private expr(e: Expr, frame: Frame): Scalar {
    switch (e.k) {
      case 'lit':
        return e.v;
      case 'col':
        return this.column(e, frame);
      case 'alias':
        return this.expr(frame.block.itemOf(e.name), frame);
      case 'grp':
        return frame.group!.keys[e.i] as Scalar;
      case 'grouping':
        return e.of.reduce((bits, i) => bits * 2 + (frame.group!.set.includes(i) ? 0 : 1), 0);
      case 'agg':
        return this.call(e, frame);
      case 'mea':
        return this.measure(e, frame);
      case 'cm':
      case 'mref':
        throw new Error(`${e.k} cannot occur on its own`);
      case 'win':
        return frame.windows!.get(e) as Scalar;
      case 'op':
        return apply(
          e.op,
          e.args.map((a) => () => this.expr(a, frame)),
        );
      case 'exists':
        return this.query(e.q, frame, frame.ctes).rows.length > 0 !== e.not;
      case 'scalar': {
        const { rows } = this.query(e.q, frame, frame.ctes);
        if (rows.length > 1) throw new Error('scalar sub-query of several rows');
        return rows[0]?.[0] ?? null;
      }
      case 'insub': {
        const v = this.expr(e.e, frame);
        const found = apply('in', [() => v, ...this.query(e.q, frame, frame.ctes).rows.map((r) => () => r[0] as Scalar)]);
        return e.not && found !== null ? !found : found;
      }
    }
  }
}

const EMPTY: Select = {
  k: 'select',
  from: [],
  items: [],
  distinct: false,
  where: null,
  group: null,
  sets: null,
  having: null,
  order: [],
  limit: null,
  offset: null,
  qualify: false,
};

/** The rows on the way to a node. */
function wayTo(end: Node, row: Joined): string {
  const way: string[] = [];
  for (let n: Node | null = end; n; n = n.parent) way.push((row.matches[n.index] ?? NO_MATCH).id);
  return way.join('/');
}

/** Throws if no end of several paths has one instance of all of them for each of its own. */
function requireOne(ends: readonly Node[], rows: readonly Joined[]): void {
  const isOne = (end: Node): boolean => {
    const others = new Map<string, string>();
    return rows.every((r) => {
      const own = `${r.root}/${wayTo(end, r)}`;
      const all = ends.map((e) => wayTo(e, r)).join('/');
      if (!others.has(own)) others.set(own, all);
      return others.get(own) === all;
    });
  };
  if (!ends.some(isOne)) throw new Refused(new Set(['fanout']));
}

function set<T>(list: readonly T[], i: number, v: T): T[] {
  const out = [...list];
  out[i] = v;
  return out;
}

function merge<T>(a: readonly (T | undefined)[], b: readonly (T | undefined)[]): (T | undefined)[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => a[i] ?? b[i]);
}
