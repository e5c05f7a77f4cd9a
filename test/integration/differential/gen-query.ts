/** Random queries over a world: each is valid SQL, with an answer that does not depend on the order of rows. */

import { isMeasure } from './cube.ts';
import { Evaluator } from './evaluate.ts';
import type { Agg, Col, CubeMeasure, Expr, FromItem, Item, Kind, Mea, Order, Query, Select, Win, Wrapper } from './expr.ts';
import { agg, lit, op } from './expr.ts';
import { genValue } from './gen-base.ts';
import { BLANK, ExprGen } from './gen-expr.ts';
import type { Rel, Scope } from './gen-from.ts';
import type { Rng } from './rng.ts';
import type { World } from './world.ts';

const NUMBERS: readonly Kind[] = ['int', 'num'];

/** Several queries over one world. */
export function genQueries(r: Rng, world: World, n: number): Query[] {
  const evaluator = new Evaluator(world);
  const empty = (q: Query): boolean => {
    try {
      const { rows } = evaluator.run(q);
      return rows.every((row) => row.every((v) => v === null || v === 0));
    } catch {
      return false;
    }
  };
  return Array.from({ length: n }, () => {
    let q = new QueryGen(r, world, evaluator.onto).make();
    // Queries without an answer say little: most are made anew.
    for (let tries = 0; tries < 4 && empty(q) && r.chance(75); tries++) q = new QueryGen(r, world, evaluator.onto).make();
    return q;
  });
}

export class QueryGen extends ExprGen {
  make(): Query {
    const { r } = this;
    if (r.chance(10)) this.ctes.push({ name: 'w', ...this.derived() });
    const ctes = this.ctes.map(({ name, q }) => ({ name, q }));
    if (r.chance(5)) return { ctes, body: this.setOp() };
    if (this.cubes.length && r.chance(12)) return { ctes, body: this.onCube(true) };
    return { ctes, body: r.chance(50) ? this.grouped(this.scope(true), true) : this.plain(this.scope(true), true) };
  }

  /** A derived table or common table expression: columns under plain names. */
  protected override derived(outer: Scope = []): { q: Query; kinds: readonly (readonly [string, Kind])[] } {
    this.depth++;
    const scope = this.scope(false);
    if (this.cubes.length && !outer.length && this.r.chance(10)) {
      this.depth--;
      const body = this.onCube(false);
      return { q: { ctes: [], body }, kinds: kindsOf(body) };
    }
    let body = this.r.chance(50) ? this.grouped(scope, false) : this.plain(scope, false);
    const far = outer.length ? this.col(outer, null) : null;
    const near = far && this.col(scope.rels, far.kind);
    if (far && near) {
      const tie = op('=', 'bool', near, far);
      body = { ...body, where: body.where ? op('and', 'bool', tie, body.where) : tie };
    }
    this.depth--;
    return { q: { ctes: [], body }, kinds: kindsOf(body) };
  }

  private get cubes() {
    return (this.world.views ?? []).filter((v) => v.cube);
  }

  /** A query on a cube: grouped by what it selects, or with aggregates and GROUP BY of its own. */
  onCube(top: boolean): Select {
    const { r } = this;
    const cube = r.pick(this.cubes);
    const alias = this.name('t');
    const items = (cube.q.body as Select).items.filter((i): i is Item & { k: 'expr' } => i.k === 'expr');
    const dims = items.filter((i) => !isMeasure(i.e)).map((i): Col => ({ k: 'col', rel: alias, path: [], leaf: { k: 'out', name: i.as! }, kind: i.e.kind }));
    const measures = items
      .filter((i) => isMeasure(i.e))
      .map((i): CubeMeasure => ({ k: 'cm', fn: null, rel: alias, name: i.as!, filter: null, kind: i.e.kind }));
    const scope: Scope = dims.length ? [{ alias, places: [dims], paths: [], measures: [], concept: null, schema: null }] : [];
    this.depth += 2;
    const where = scope.length && r.chance(45) ? this.cond(scope, r.int(0, 2)) : null;
    const from: FromItem[] = [{ alias, join: 'first', on: null, src: { k: 'cube', name: cube.name }, lateral: false }];
    const out: Item[] = [];
    const as = () => (top && r.chance(40) ? null : this.name('k'));
    const marked = (): CubeMeasure => ({
      ...r.pick(measures),
      fn: r.pick(['sum', 'count', 'avg', 'min', 'max'] as const),
      filter: scope.length && r.chance(15) ? this.cond(scope, 1) : null,
    });
    const base = { ...BLANK, from, where, qualify: !top || r.chance(50) };
    let body: Select;
    if (r.chance(50)) {
      const star = top && r.chance(15);
      if (star) out.push({ k: 'star', rel: alias });
      else {
        for (const e of r.some([...dims, ...measures], r.int(1, 3))) out.push({ k: 'expr', e, as: as() });
      }
      body = { ...base, items: out, qualify: star ? false : base.qualify };
      if (!star && r.chance(30)) body = { ...body, order: this.order(out, null), ...(r.chance(50) ? { limit: r.int(1, 4) } : {}) };
    } else {
      const group = r.some(dims, r.pick([0, 1, 1, 2]));
      group.forEach((g, i) => {
        if (r.chance(85)) out.push({ k: 'expr', e: { k: 'grp', i, kind: g.kind }, as: this.name('k') });
      });
      for (let n = r.int(1, 3); n > 0; n--) {
        const d = dims.length ? r.pick(dims) : null;
        const e: Expr = measures.length && r.chance(70) ? marked() : d && r.chance(50) ? agg('count', d, 'int', null, r.chance(60)) : agg('count', null, 'int');
        out.push({ k: 'expr', e, as: this.name('k') });
      }
      let having: Expr | null = null;
      if (measures.length && r.chance(20)) {
        const m = marked();
        having =
          m.kind === 'int' || m.kind === 'num'
            ? op(r.pick(['>', '<=', '<>'] as const), 'bool', m, lit(genValue(r, m.kind, 0), m.kind))
            : op('notnull', 'bool', m);
      }
      body = { ...base, items: out, group: group.length ? group : null, having };
      if (r.chance(25)) body = { ...body, order: this.order(out, measures.length ? marked : null) };
      if (group.length && r.chance(10)) {
        const all = group.map((_, i) => i);
        body = { ...body, sets: { rollup: true, sets: [...all.map((_, i) => all.slice(0, all.length - i)), []] } };
      }
    }
    this.depth -= 2;
    return body;
  }

  /** A cube over one concept: dimensions are columns, over paths too; measures are measures or aggregates. */
  cube(): { q: Query; kinds: readonly (readonly [string, Kind])[] } | null {
    const { r } = this;
    const filled = this.world.concepts.filter((c) => this.onto.rows(c.name).length);
    if (!filled.length) return null;
    const alias = this.name('c');
    const { name: concept } = r.pick(filled);
    const rel = this.conceptRel(alias, 'dsvc', concept, 1);
    const items: Item[] = [];
    const texts = new Set<string>();
    for (let n = r.int(0, 3); n > 0; n--) {
      const c = this.col([rel], null);
      if (!c || texts.has(JSON.stringify({ ...c, shout: false }))) continue;
      texts.add(JSON.stringify({ ...c, shout: false }));
      items.push({ k: 'expr', e: c, as: this.name('d') });
    }
    for (let n = r.int(1, 3); n > 0; n--) {
      const call = this.call([rel]);
      // COUNT(*) beside paths that other columns of the cube walk: no decision settles what it counts.
      if (call.k === 'agg' && !(call.arg && JSON.stringify(call.arg).includes('"col"'))) continue;
      items.push({ k: 'expr', e: { ...call, filter: null }, as: this.name('d') });
    }
    if (!items.length) return null;
    this.depth += 2;
    const where = r.chance(15) ? this.cond([rel], 1) : null;
    this.depth -= 2;
    const from: FromItem[] = [{ alias, join: 'first', on: null, src: { k: 'concept', schema: 'dsvc', concept }, lateral: false }];
    const body: Select = { ...BLANK, from, items, where, qualify: r.chance(50) };
    return { q: { ctes: [], body }, kinds: kindsOf(body) };
  }

  view(): { q: Query; kinds: readonly (readonly [string, Kind])[] } {
    // Other names than those of the queries on it: a column of the name would win over a select alias.
    this.names = 1000 * ((this.world.views ?? []).length + 1);
    return this.derived();
  }

  /** An aggregate call, or a measure. */
  private call(rels: Scope): Agg | Mea {
    const { r } = this;
    const measures = rels.flatMap((x) => x.measures);
    if (!measures.length || !r.chance(35)) return this.aggregate(rels);
    const far = measures.filter((m) => m.path.length);
    const m = r.pick(far.length && r.chance(50) ? far : measures);
    const fns: readonly Wrapper[] = ['sum', 'sum', 'count', 'avg', 'min', 'max'];
    return { ...m, fn: r.pick(fns), filter: r.chance(15) ? this.cond(rels, 1) : null, shout: r.chance(4) };
  }

  private where(rels: Scope): Expr | null {
    return this.r.chance(55) ? this.cond(rels, this.r.pick([0, 0, 1, 1, 2, 3])) : null;
  }

  private items(rels: Scope, n: number, top: boolean): Item[] {
    const { r } = this;
    const items: Item[] = [];
    const bare = new Set<string>();
    for (let i = 0; i < n; i++) {
      const c = this.col(rels, null);
      const kind = r.pick(['int', 'text', 'num', 'bool', 'date'] as const);
      if (c && r.chance(80)) {
        const text = JSON.stringify([c.path, c.leaf]);
        const alone = top && r.chance(35) && !bare.has(text) && !c.shout && c.leaf.k !== 'out' && !(c.leaf.k === 'prop' && bare.has(c.leaf.name.toLowerCase()));
        if (alone) {
          bare.add(text);
          if (c.path.length === 0 && c.leaf.k === 'prop') bare.add(c.leaf.name.toLowerCase());
        }
        items.push({ k: 'expr', e: c, as: alone ? null : this.name('k') });
      } else items.push({ k: 'expr', e: this.scalar(rels, kind), as: this.name('k') });
    }
    return items;
  }

  private plain({ from, rels }: { from: FromItem[]; rels: Rel[] }, top: boolean): Select {
    const { r } = this;
    let items = this.items(rels, r.int(1, 4), top);
    let star = false;
    if (top && rels.length === 1 && rels[0]!.concept && r.chance(rels[0]!.schema ? 8 : 25)) {
      items = [{ k: 'star', rel: rels[0]!.alias }];
      star = true;
    } else if (top && r.chance(10)) {
      const wild = rels.flatMap((x) =>
        x.paths
          .filter((p) => this.onto.isA(p.at(-1)!.bracket, this.onto.relDir(p.at(-1)!.rel, p.at(-1)!.inv).target))
          .map((path) => ({ k: 'wild' as const, rel: x.alias, path })),
      );
      if (wild.length) {
        items = [...items.filter((i) => i.k === 'expr' && i.as !== null), r.pick(wild)];
        star = true;
      }
    }
    const windows = !star && r.chance(8);
    if (windows) items.push({ k: 'expr', e: this.window(rels), as: this.name('k') });
    let where = this.where(rels);
    if (r.chance(8)) {
      const named = items.filter((i): i is Item & { k: 'expr' } => i.k === 'expr' && i.as !== null && i.e.k !== 'win' && i.e.k !== 'lit');
      if (named.length) {
        const i = r.pick(named);
        const alias: Expr = { k: 'alias', name: i.as!, kind: i.e.kind };
        const test =
          i.e.kind === 'bool'
            ? alias
            : r.chance(30)
              ? op('notnull', 'bool', alias)
              : op(r.pick(['=', '<>', '>'] as const), 'bool', alias, lit(genValue(r, i.e.kind, 0), i.e.kind));
        where = where ? op('and', 'bool', where, test) : test;
      }
    }
    const aliased = where !== null && JSON.stringify(where).includes('"alias"');
    const hidden = top && rels.length === 1 && rels[0]!.schema !== null && !star && !aliased && r.chance(7) ? this.hide(rels[0]!, items) : null;
    if (hidden) {
      items = [...hidden.items];
      where = where ? op('and', 'bool', where, hidden.where) : hidden.where;
    }
    const distinct = !star && !windows && r.chance(12);
    const ordered = !star && r.chance(25);
    const on = ordered && !distinct && !windows && r.chance(20);
    return {
      ...BLANK,
      from,
      items,
      distinct,
      where,
      ...(on ? { on: { n: r.int(1, Math.min(2, items.length)), by: r.pick(['number', 'expr'] as const) } } : {}),
      order: ordered ? this.order(items, distinct || on ? null : () => this.scalar(rels, r.pick(['int', 'text'] as const), 1)) : [],
      ...(ordered && r.chance(50) ? { limit: r.int(0, 6), offset: r.chance(40) ? r.int(0, 3) : null } : {}),
      qualify: hidden !== null || rels.length > 1 || this.depth > 0 || r.chance(60),
    };
  }

  /** An alias that is also a column: in WHERE the column is meant, in ORDER BY the alias. */
  private hide(rel: Rel, items: readonly Item[]): { items: readonly Item[]; where: Expr } | null {
    const { r } = this;
    const taken = new Set(items.map((i) => (i.k === 'expr' && i.as === null && i.e.k === 'col' && i.e.leaf.k === 'prop' ? i.e.leaf.name.toLowerCase() : '')));
    const columns = rel.places[0]!.filter((c) => c.leaf.k === 'prop' && !taken.has(c.leaf.name.toLowerCase()));
    const at = items.findIndex((i) => i.k === 'expr' && i.as !== null);
    if (at < 0 || !columns.length) return null;
    const c = r.pick(columns);
    const item = items[at]!;
    if (item.k !== 'expr' || c.leaf.k !== 'prop') return null;
    const as = c.leaf.name;
    const bare: Expr = { ...c, shout: false, bare: true };
    return {
      items: items.map((i, k) => (k === at ? { ...item, as } : i)),
      where: r.chance(40) ? op('notnull', 'bool', bare) : op(r.pick(['=', '<>'] as const), 'bool', bare, this.literalFor(c)),
    };
  }

  /** By all output columns in the end, so that equal keys mean equal rows. */
  private order(items: readonly Item[], extra: (() => Expr) | null): Order[] {
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

  private window(rels: Scope): Win {
    const { r } = this;
    const partition = [this.col(rels, null)].filter((c): c is Col => c !== null && r.chance(70));
    const fn = r.pick(['count', 'sum', 'min', 'max', 'rank', 'dense_rank'] as const);
    const number = this.col(rels, r.pick(NUMBERS));
    const order = [this.col(rels, null)].filter((c): c is Col => c !== null).map((e) => ({ e, desc: r.chance(40) }));
    if (fn === 'rank' || fn === 'dense_rank') return { k: 'win', fn, arg: null, partition, order, kind: 'int' };
    if (!number || (fn === 'count' && r.chance(50))) return { k: 'win', fn: 'count', arg: null, partition, order: r.chance(30) ? order : [], kind: 'int' };
    return { k: 'win', fn, arg: number, partition, order: r.chance(30) ? order : [], kind: fn === 'count' ? 'int' : number.kind };
  }

  private aggregate(rels: Scope): Agg {
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
    // A text alone has no type that these could take.
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

  private grouped({ from, rels }: { from: FromItem[]; rels: Rel[] }, top: boolean): Select {
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
    let having: Expr | null = null;
    if (r.chance(20)) {
      const a = this.call(rels);
      having =
        a.kind === 'bool'
          ? a
          : r.chance(20)
            ? op('notnull', 'bool', a)
            : op(r.pick(['=', '>', '<=', '<>'] as const), 'bool', a, lit(genValue(r, a.kind, 0), a.kind));
      const named = items.filter((i): i is Item & { k: 'expr' } => i.k === 'expr' && i.as !== null && i.e.kind === 'int');
      if (named.length && r.chance(30)) having = op('>', 'bool', { k: 'alias', name: r.pick(named).as!, kind: 'int' }, lit(r.int(0, 3), 'int'));
    }
    const ordered = r.chance(25);
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
    return {
      ...BLANK,
      from,
      items,
      where: this.where(rels),
      group: group.length ? group : null,
      sets,
      having,
      order: ordered ? this.order(items, () => this.call(rels)) : [],
      ...(ordered && r.chance(40) ? { limit: r.int(0, 4) } : {}),
      qualify: rels.length > 1 || this.depth > 0 || !top || r.chance(60),
    };
  }

  private overAggregates(rels: Scope, group: readonly Expr[]): Expr {
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

  private setOp(): Query['body'] {
    const { r } = this;
    const one = this.scope(false);
    const two = this.scope(false);
    const left = r.chance(50) ? this.grouped(one, false) : this.plain(one, false);
    const kinds = kindsOf(left);
    const items = kinds.map(([, kind]): Item => ({ k: 'expr', e: this.scalar(two.rels, kind, 1), as: this.name('k') }));
    // Averages are not exact: they are not compared.
    const op = JSON.stringify(left.items).includes('"avg"') ? 'UNION ALL' : r.pick(['UNION', 'UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'] as const);
    const right: Select = { ...BLANK, from: two.from, items, where: this.where(two.rels), qualify: true };
    return { k: 'setop', op, left: { ...left, order: [], on: null, limit: null, offset: null }, right };
  }
}

/** The columns of a select of expressions under aliases. */
function kindsOf(body: Select): (readonly [string, Kind])[] {
  return body.items.map((i) => {
    if (i.k !== 'expr') throw new Error('derived tables select expressions');
    return [i.as!, i.e.k === 'grp' ? body.group![i.e.i]!.kind : i.e.kind] as const;
  });
}
