/** Aggregates, measures, groups and orders of random queries. */
import type { Agg, Col, Expr, FromItem, Item, Kind, Mea, Order, Select, Win, Wrapper } from './expr.ts';
import { agg, lit, op } from './expr.ts';
import { genValue } from './gen-base.ts';
import { BLANK, ExprGen } from './gen-expr.ts';
import type { Rel, Scope } from './gen-from.ts';

const NUMBERS: readonly Kind[] = ['int', 'num'];

export abstract class GroupGen extends ExprGen {
  /** An aggregate call, or a measure. */
  protected call(rels: Scope): Agg | Mea {
    const { r } = this;
    const measures = rels.flatMap((x) => x.measures);
    if (!measures.length || !r.chance(35)) return this.aggregate(rels);
    const far = measures.filter((m) => m.path.length);
    const m = r.pick(far.length && r.chance(50) ? far : measures);
    const fns: readonly Wrapper[] = ['sum', 'sum', 'count', 'avg', 'min', 'max'];
    return { ...m, fn: r.pick(fns), filter: r.chance(22) ? this.cond(rels, 1) : null, shout: r.chance(4) };
  }

  protected where(rels: Scope): Expr | null {
    return this.r.chance(55) ? this.cond(rels, this.r.pick([0, 0, 1, 1, 2, 3])) : null;
  }

  /** By all output columns in the end, so that equal keys mean equal rows. */
  protected order(items: readonly Item[], extra: (() => Expr) | null): Order[] {
    const { r } = this;
    const how = () => ({ desc: r.chance(40), nulls: r.chance(30) ? r.pick(['first', 'last'] as const) : null });
    const out: Order[] = items.map((_, i) => ({ by: i + 1, ...how() }));
    if (r.chance(50)) out.reverse();
    const named = items.filter((i): i is Item & { k: 'expr' } => i.k === 'expr' && i.as !== null);
    if (extra && named.length && r.chance(30)) {
      const i = r.pick(named);
      const alias: Expr = { k: 'alias', name: i.as!, kind: i.e.kind };
      const inside = i.e.kind !== 'bool' && i.e.k !== 'win' && r.chance(40);
      out.unshift({ by: inside ? op('coalesce', i.e.kind, alias, lit(genValue(r, i.e.kind, 0), i.e.kind)) : alias, ...how() });
    }
    if (extra && r.chance(35)) {
      const e = extra();
      // A number would be an ordinal.
      if (e.k !== 'lit') out.unshift({ by: e, ...how() });
    }
    return out;
  }

  protected window(rels: Scope): Win {
    const { r } = this;
    const partition = [this.col(rels, null)].filter((c): c is Col => c !== null && r.chance(70));
    const fn = r.pick(['count', 'sum', 'min', 'max', 'rank', 'dense_rank'] as const);
    const number = this.col(rels, r.pick(NUMBERS));
    const order = [this.col(rels, null)].filter((c): c is Col => c !== null).map((e) => ({ e, desc: r.chance(40) }));
    if (fn === 'rank' || fn === 'dense_rank') return { k: 'win', fn, arg: null, partition, order, kind: 'int' };
    if (!number || (fn === 'count' && r.chance(50))) return { k: 'win', fn: 'count', arg: null, partition, order: r.chance(30) ? order : [], kind: 'int' };
    return { k: 'win', fn, arg: number, partition, order: r.chance(30) ? order : [], kind: fn === 'count' ? 'int' : number.kind };
  }

  protected aggregate(rels: Scope): Agg {
    const { r } = this;
    const filter = r.chance(18) ? this.cond(rels, 1) : null;
    if (r.chance(14)) return agg('count', r.chance(80) ? null : lit(1, 'int'), 'int', filter);
    // Mostly columns of one place, so that most calls lie on one path.
    const rel = r.pick(rels);
    const far = rel.places.slice(1);
    const place: Scope = r.chance(94) ? [{ ...rel, places: [r.pick(far.length && r.chance(60) ? far : rel.places)] }] : rels;
    const kind = r.pick(['int', 'int', 'num', 'num', 'text', 'text', 'date', 'bool'] as const);
    const fns: Record<Kind, readonly Agg['fn'][]> = {
      int: ['sum', 'sum', 'sum', 'count', 'min', 'max', 'avg', 'array_agg', 'percentile_disc'],
      num: ['sum', 'sum', 'sum', 'count', 'avg', 'max', 'percentile_cont', 'mode'],
      text: ['count', 'count', 'min', 'string_agg', 'string_agg', 'array_agg', 'mode'],
      date: ['min', 'max', 'count', 'percentile_disc'],
      bool: ['bool_or', 'bool_and', 'count'],
    };
    const c = this.col(place, kind) ?? this.col(place, null);
    if (!c) return agg('count', null, 'int', filter);
    const some = r.chance(80) ? c : this.scalar(place, c.kind, 1);
    if (some.k === 'lit' && some.v === null) return agg('count', null, 'int', filter);
    const fn = r.pick(fns[c.kind]);
    // A text constant has no type that these accept.
    const arg = some.k === 'lit' && ['array_agg', 'mode', 'percentile_disc'].includes(fn) ? c : some;
    const sorted = fn === 'string_agg' || fn === 'array_agg';
    const by = sorted && r.chance(50) ? this.col(place, null) : null;
    const plain = ['sum', 'count', 'avg', 'min', 'max'].includes(fn);
    return {
      ...agg(
        fn,
        arg,
        fn === 'count' ? 'int' : fn === 'avg' || fn === 'percentile_cont' ? 'num' : fn === 'array_agg' ? 'text' : c.kind,
        filter,
        plain && r.chance(14),
      ),
      ...(by ? { order: [{ e: by, desc: r.chance(40) }] } : {}),
    };
  }

  /** A call over two paths that part, and a condition that equates the key of one path's end with columns of the other. */
  private tied(rels: Scope): { readonly call: Agg; readonly where: Expr } | null {
    const { r } = this;
    const found = rels.flatMap((rel) => {
      const ends = rel.places.slice(1).filter((p) => p[0] !== undefined && p[0].path.length > 0);
      return ends.flatMap((one) => (this.isKeyedEnd(one) ? ends.filter((p) => parts(one, p)).map((other) => ({ rel, one, other })) : []));
    });
    if (found.length === 0) return null;
    const { rel, one, other } = r.pick(found);
    const equations = this.keyColumns(one).flatMap((key) => {
      const near = r.chance(85) ? this.col([{ ...rel, places: [other] }], key.kind) : null;
      if (!near && r.chance(50)) return [];
      const sides: [Expr, Expr] = [key, near ?? this.literalFor(key)];
      return [op('=', 'bool', ...(r.chance(50) ? sides : [sides[1], sides[0]]))];
    });
    const [first, ...more] = equations;
    if (!first) return null;
    const kind = r.pick(['int', 'num', 'text'] as const);
    const [a, b] = [this.col([{ ...rel, places: [one] }], kind), this.col([{ ...rel, places: [other] }], kind)];
    const both = a && b ? op(kind === 'text' ? '||' : '+', kind, a, b) : null;
    const call =
      both && r.chance(75) ? agg(r.pick(kind === 'text' ? (['count', 'max'] as const) : (['sum', 'sum', 'count', 'max'] as const)), both, kind) : null;
    return {
      call: call?.fn === 'count' ? { ...call, kind: 'int' } : (call ?? agg('count', null, 'int')),
      where: more.reduce((l, e) => op('and', 'bool', l, e), first),
    };
  }

  /** Whether a path ends in several rows of a foreign key that have a key. */
  private isKeyedEnd(place: readonly Col[]): boolean {
    const end = place[0]!.path.at(-1)!;
    return !this.onto.isToOne(end) && end.star === null && this.onto.relDir(end.rel, end.inv).def.kind === 'fk' && this.keyColumns(place).length > 0;
  }

  /** The columns of the key of a path's end. */
  private keyColumns(place: readonly Col[]): readonly Col[] {
    const end = place[0]?.path.at(-1);
    const key = end ? this.onto.key(end.bracket) : [];
    const found = key.map((name) => place.find((c) => c.leaf.k === 'prop' && c.leaf.name === name));
    return found.every((c): c is Col => c !== undefined) ? found : [];
  }

  protected grouped({ from, rels }: { from: FromItem[]; rels: Rel[] }, top: boolean): Select {
    const { r } = this;
    const group: Expr[] = [];
    const texts = new Set<string>();
    for (let n = r.pick([0, 0, 1, 1, 1, 2]); n > 0; n--) {
      const c = this.col(rels, null);
      if (!c) continue;
      const e = r.chance(85) ? c : this.scalar(rels, c.kind, 1);
      const text = JSON.stringify({ ...e, shout: false });
      if (e.k === 'lit' || texts.has(text)) continue;
      texts.add(text);
      group.push(e);
    }
    const items: Item[] = [];
    group.forEach((g, i) => {
      if (r.chance(85)) items.push({ k: 'expr', e: { k: 'grp', i, kind: g.kind }, as: this.name('k') });
    });
    for (let n = r.int(items.length ? 0 : 1, 3); n > 0; n--) items.push({ k: 'expr', e: this.overAggregates(rels, group), as: this.name('k') });
    if (!group.length && !items.some((i) => i.k === 'expr' && i.e.k !== 'grp')) items.push({ k: 'expr', e: this.call(rels), as: this.name('k') });
    const tied = r.chance(30) ? this.tied(rels) : null;
    if (tied) items.push({ k: 'expr', e: tied.call, as: this.name('k') });
    let having: Expr | null = null;
    if (r.chance(25)) {
      const test = (a: Agg | Mea): Expr =>
        a.kind === 'bool'
          ? a
          : r.chance(20)
            ? op('notnull', 'bool', a)
            : op(r.pick(['=', '>', '<=', '<>'] as const), 'bool', a, lit(genValue(r, a.kind, 0), a.kind));
      having = test(this.call(rels));
      // Of several levels, mostly.
      if (r.chance(30)) having = op(r.pick(['and', 'or', 'or'] as const), 'bool', having, test(this.call(rels)));
      const named = items.filter((i): i is Item & { k: 'expr' } => i.k === 'expr' && i.as !== null && i.e.kind === 'int');
      if (named.length && r.chance(30)) having = op('>', 'bool', { k: 'alias', name: r.pick(named).as!, kind: 'int' }, lit(r.int(0, 3), 'int'));
    }
    const ordered = r.chance(30);
    let sets: Select['sets'] = null;
    if (group.length && r.chance(14)) {
      const all = group.map((_, i) => i);
      sets = r.chance(50)
        ? { rollup: true, sets: [...all.map((_, i) => all.slice(0, all.length - i)), []] }
        : {
            rollup: false,
            sets:
              group.length === 2
                ? r.pick([
                    [[0, 1], []],
                    [[0], [1]],
                    [[0], [1], []],
                  ])
                : [[0], []],
          };
    }
    if (group.length && r.chance(sets ? 45 : 3)) {
      items.push({ k: 'expr', e: this.grouping(group), as: this.name('k') });
      if (sets && r.chance(20)) {
        const total = op(r.pick(['=', '<>', '>'] as const), 'bool', this.grouping(group), lit(r.int(0, 1), 'int'));
        having = having ? op('or', 'bool', having, total) : total;
      }
    }
    const extra = (): Expr => (sets && r.chance(30) ? this.grouping(group) : this.call(rels));
    const where = tied && r.chance(70) ? null : this.where(rels);
    return {
      ...BLANK,
      from,
      items,
      where: tied && where ? op('and', 'bool', tied.where, where) : (tied?.where ?? where),
      group: group.length ? group : null,
      sets,
      having,
      order: ordered ? this.order(items, extra) : [],
      ...(ordered && r.chance(40) ? { limit: r.int(0, 4) } : {}),
      qualify: rels.length > 1 || this.depth > 0 || !top || r.chance(60),
    };
  }

  protected grouping(group: readonly Expr[]): Expr {
    const all = group.map((_, i) => i);
    return { k: 'grouping', of: this.r.some(all, this.r.int(1, all.length)), kind: 'int' };
  }

  protected overAggregates(rels: Scope, group: readonly Expr[]): Expr {
    const { r } = this;
    const a = this.call(rels);
    if (r.chance(80)) return a;
    if (a.kind !== 'int' && a.kind !== 'num') return a;
    const g = group.findIndex((x) => x.kind === a.kind);
    return r.pick([
      () => op('coalesce', a.kind, a, lit(0, 'int')),
      () => op('+', a.kind, a, g >= 0 ? { k: 'grp', i: g, kind: a.kind } : lit(1, 'int')),
      () => op('-', 'num', a, agg('count', this.col(rels, null), 'int')),
      () => op('case', 'int', op('>', 'bool', a, lit(1, 'int')), lit(1, 'int'), lit(0, 'int')),
    ])();
  }
}

/** The columns of a select of expressions under aliases. */
export function kindsOf(body: Select): (readonly [string, Kind])[] {
  return body.items.map((i) => {
    if (i.k !== 'expr') throw new Error('derived tables select expressions');
    return [i.as!, i.e.k === 'grp' ? body.group![i.e.i]!.kind : i.e.kind] as const;
  });
}

/** Whether neither of two paths is on the way to the other. */
function parts(one: readonly Col[], other: readonly Col[]): boolean {
  const [a, b] = [one[0]!.path, other[0]!.path].map((path) => path.map((hop) => JSON.stringify(hop)));
  return a!.some((hop, i) => i < b!.length && hop !== b![i]);
}
