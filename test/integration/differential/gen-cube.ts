/** Cubes, and queries on them. */
import { isMeasure } from './cube.ts';
import type { Col, CubeMeasure, Expr, FromItem, Item, Kind, Query, Select } from './expr.ts';
import { agg, lit, op } from './expr.ts';
import { genValue } from './gen-base.ts';
import { BLANK } from './gen-expr.ts';
import type { Rel, Scope } from './gen-from.ts';
import { GroupGen, kindsOf } from './gen-groups.ts';

export abstract class CubeGen extends GroupGen {
  protected get cubes() {
    return (this.world.views ?? []).filter((v) => v.cube);
  }

  /** A query on a cube, on its own or joined with another relation: grouped by what it selects, or with its own aggregates and GROUP BY. */
  onCube(top: boolean): Select {
    const { r } = this;
    const cube = r.pick(this.cubes);
    const alias = this.name('t');
    const items = (cube.q.body as Select).items.filter((i): i is Item & { k: 'expr' } => i.k === 'expr');
    const dims = items.filter((i) => !isMeasure(i.e)).map((i): Col => ({ k: 'col', rel: alias, path: [], leaf: { k: 'out', name: i.as! }, kind: i.e.kind }));
    const measures = items
      .filter((i) => isMeasure(i.e))
      .map((i): CubeMeasure => ({ k: 'cm', fn: null, rel: alias, name: i.as!, filter: null, kind: i.e.kind }));
    const own: Scope = dims.length ? [{ alias, places: [dims], paths: [], measures: [], concept: null, schema: null }] : [];
    this.depth += 2;
    const { from, other } = this.joined({ alias, join: 'first', on: null, src: { k: 'cube', name: cube.name }, lateral: false }, own);
    const scope: Scope = other ? [...own, other] : own;
    const where = scope.length && r.chance(45) ? this.cond(scope, r.int(0, 2)) : null;
    const out: Item[] = [];
    const as = () => (top && r.chance(40) ? null : this.name('k'));
    const marked = (): CubeMeasure => ({
      ...r.pick(measures),
      fn: r.pick(['sum', 'count', 'avg', 'min', 'max'] as const),
      filter: scope.length && r.chance(15) ? this.cond(scope, 1) : null,
    });
    const base = { ...BLANK, from, where, qualify: !top || other !== null || r.chance(50) };
    let body: Select;
    if (!other && r.chance(50)) {
      const star = top && r.chance(15);
      if (star) out.push({ k: 'star', rel: alias });
      else {
        for (const e of r.some([...dims, ...measures], r.int(1, 3))) out.push({ k: 'expr', e, as: as() });
      }
      body = { ...base, items: out, qualify: star ? false : base.qualify };
      if (!star && r.chance(30)) body = { ...body, order: this.order(out, null), ...(r.chance(50) ? { limit: r.int(1, 4) } : {}) };
    } else {
      const group = r.some<Col>([...dims, ...(other ? r.some(other.places[0]!, 2) : [])], r.pick([0, 1, 1, 2]));
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
        if (r.chance(50)) body = { ...body, order: [], limit: null, items: [...out, { k: 'expr', e: this.grouping(group), as: this.name('k') }] };
      }
    }
    this.depth -= 2;
    return body;
  }

  /** A cube in FROM on its own, or with a concept, a view or a derived table. It is not on the optional side of a join, where its WHERE would filter the result of the join. */
  protected joined(cube: FromItem, dims: Scope): { from: FromItem[]; other: Rel | null } {
    const { r } = this;
    if (!r.chance(35)) return { from: [cube], other: null };
    const { rel, src } = this.relation(2);
    const other: FromItem = { alias: rel.alias, join: 'first', on: null, src, lateral: false };
    const on = dims.length && r.chance(85) ? this.joinOn(rel, dims, false) : null;
    const first = r.chance(60);
    const join = on === null ? 'cross' : first ? r.pick(['inner', 'inner', 'left'] as const) : 'inner';
    return { from: first ? [cube, { ...other, join, on }] : [other, { ...cube, join, on }], other: rel };
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
      // COUNT(*) together with paths of other columns of the cube is undefined.
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
}
