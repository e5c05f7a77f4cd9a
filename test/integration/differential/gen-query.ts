/** Random queries over a world: each is valid SQL, with an answer that does not depend on the order of rows. */

import { Evaluator } from './evaluate.ts';
import type { Expr, FromItem, Item, Kind, Query, Select } from './expr.ts';
import { lit, op } from './expr.ts';
import { genValue } from './gen-base.ts';
import { CubeGen } from './gen-cube.ts';
import { BLANK } from './gen-expr.ts';
import type { Rel, Scope } from './gen-from.ts';
import { kindsOf } from './gen-groups.ts';
import type { Rng } from './rng.ts';
import type { World } from './world.ts';

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

export class QueryGen extends CubeGen {
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

  view(): { q: Query; kinds: readonly (readonly [string, Kind])[] } {
    // Other names than those of the queries on it: a column of the name would win over a select alias.
    this.names = 1000 * ((this.world.views ?? []).length + 1);
    return this.derived();
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
