/** FROM of random queries: relations with the paths that their query may walk, and the joins between them. */
import type { Col, Expr, FromItem, Hop, Kind, Mea, Query, Scalar, Schema } from './expr.ts';
import { col, lit, op } from './expr.ts';
import type { Onto } from './onto.ts';
import type { Rng } from './rng.ts';
import type { World } from './world.ts';

/** A relation in scope: its columns by their place (its own row, or a path). */
export interface Rel {
  readonly alias: string;
  readonly places: readonly (readonly Col[])[];
  readonly paths: readonly (readonly Hop[])[];
  readonly concept: string | null;
  /** The measures that may be asked of it: its own and those along its paths. */
  readonly measures: readonly Mea[];
  readonly schema: Schema | null;
}

export type Scope = readonly Rel[];

/** The first part of the query generator; gen-expr.ts and gen-query.ts go on. */
export abstract class FromGen {
  protected readonly r: Rng;
  protected readonly world: World;
  protected readonly onto: Onto;
  protected names = 0;
  protected depth = 0;
  /** One way of writing each hop in a query: two texts for one relationship would be two joins, which no decision settles. */
  protected readonly spelling = new Map<string, { tilde: boolean; star: 'default' | 'number' }>();
  /** The values in the data, by property or link column. */
  protected readonly values = new Map<string, Scalar[]>();
  protected ctes: { name: string; q: Query; kinds: readonly (readonly [string, Kind])[] }[] = [];

  constructor(r: Rng, world: World, onto: Onto) {
    this.r = r;
    this.world = world;
    this.onto = onto;
    for (const m of world.mappings) {
      const t = world.tables.find((x) => x.name === m.table)!;
      for (const c of m.columns) {
        const at = t.columns.findIndex((x) => x.name === c.column);
        this.values.set(c.as, [...(this.values.get(c.as) ?? []), ...t.rows.map((row) => row[at] as Scalar).filter((v) => v !== null)]);
      }
    }
  }

  protected name(prefix: string): string {
    return `${prefix}${this.names++}`;
  }

  protected abstract col(scope: Scope, kind: Kind | null): Col | null;
  protected abstract atom(scope: Scope): Expr;
  /** A derived table or common table expression: columns under plain names. */
  protected abstract derived(outer?: Scope): { q: Query; kinds: readonly (readonly [string, Kind])[] };

  protected scope(top: boolean): { from: FromItem[]; rels: Rel[] } {
    const { r } = this;
    const from: FromItem[] = [];
    const rels: Rel[] = [];
    const count = r.pick(top ? [1, 1, 1, 1, 2, 2, 3] : [1, 1, 1, 2]);
    for (let i = 0; i < count; i++) {
      if (i > 0 && this.depth < 2 && r.chance(6)) {
        const alias = this.name('t');
        const d = this.derived(rels.map((x) => ({ ...x, places: r.chance(25) ? x.places : x.places.slice(0, 1) })));
        const left = r.chance(50);
        from.push({ alias, join: left ? 'left' : 'cross', on: left ? lit(true, 'bool') : null, src: { k: 'sub', q: d.q }, lateral: true });
        rels.push(this.outRel(alias, d.kinds));
        continue;
      }
      const { rel, src } = this.relation(count);
      const join =
        i === 0 ? 'first' : r.pick([i === count - 1 ? 'comma' : 'cross', 'cross', 'inner', 'inner', 'inner', 'left', 'left', 'right', 'full'] as const);
      let on: Expr | null = null;
      if (join === 'inner' || join === 'left' || join === 'right' || join === 'full') on = this.joinOn(rel, rels, join === 'full');
      // PostgreSQL makes full joins of equalities only.
      from.push({ alias: rel.alias, join: on === null && join !== 'first' ? (join === 'comma' ? 'comma' : 'cross') : join, on, src, lateral: false });
      rels.push(rel);
    }
    return { from, rels };
  }

  protected joinOn(rel: Rel, before: Scope, equality: boolean): Expr | null {
    const { r } = this;
    const own = (x: Rel): Scope => [{ ...x, places: r.chance(15) && !equality ? x.places : x.places.slice(0, 1) }];
    for (let tries = 0; tries < 6; tries++) {
      const other = r.pick(before);
      let a = this.col(own(other), null);
      let b = a && this.col(own(rel), a.kind);
      // Mostly columns whose values meet: a foreign key and what it refers to, or the same property of both.
      const pair = r.chance(75) ? this.pair(other, rel) : null;
      if (pair) [a, b] = pair;
      if (!a || !b) continue;
      const eq = op(equality || r.chance(85) ? '=' : r.pick(['<', '>=', '<>'] as const), 'bool', a, b);
      if (!equality && r.chance(20)) return op('and', 'bool', eq, this.atom([...own(other), ...own(rel)]));
      return eq;
    }
    return null;
  }

  protected pair(one: Rel, two: Rel): [Col, Col] | null {
    const [left, right] = [one.places[0]!, two.places[0]!];
    const name = (c: Col) => (c.leaf.k === 'prop' || c.leaf.k === 'entity' ? c.leaf.name : '');
    const links = this.world.concepts.flatMap((c) => c.rels.flatMap((d) => d.source.map((s, i) => [s, d.references[i]!] as const)));
    const met = left.flatMap((a) =>
      right
        .filter((b) => name(a) !== '' && (name(a) === name(b) || links.some(([s, t]) => (name(a) === s && name(b) === t) || (name(a) === t && name(b) === s))))
        .map((b): [Col, Col] => [a, b]),
    );
    const better = met.filter(([a]) => a.leaf.k === 'prop');
    return met.length ? this.r.pick(better.length && this.r.chance(70) ? better : met) : null;
  }

  protected relation(count: number): { rel: Rel; src: FromItem['src'] } {
    const { r } = this;
    const alias = this.name('t');
    if (this.ctes.length && r.chance(40)) {
      const cte = r.pick(this.ctes);
      return { rel: this.outRel(alias, cte.kinds), src: { k: 'cte', name: cte.name } };
    }
    const views = (this.world.views ?? []).filter((v) => !v.cube);
    if (views.length && r.chance(7)) {
      const v = r.pick(views);
      return { rel: { ...this.outRel(alias, v.kinds), concept: `view ${v.name}` }, src: { k: 'view', name: v.name } };
    }
    if (this.depth < 2 && r.chance(count > 1 ? 12 : 7)) {
      const d = this.derived();
      return { rel: this.outRel(alias, d.kinds), src: { k: 'sub', q: d.q } };
    }
    const schema = r.pick(['dsvc', 'dsvc', 'dsvc', 'dsvc', 'dsvc', 'dsvc', 'dsvc', 'svc', 'svc', 'esvc'] as const);
    const filled = this.world.concepts.filter((c) => this.onto.rows(c.name).length);
    const concept = r.chance(3) ? 'thing' : r.pick(filled.length && r.chance(88) ? filled : this.world.concepts).name;
    return {
      rel: this.conceptRel(alias, concept === 'thing' ? 'svc' : schema, concept, count),
      src: { k: 'concept', schema: concept === 'thing' ? 'svc' : schema, concept },
    };
  }

  protected outRel(alias: string, kinds: readonly (readonly [string, Kind])[]): Rel {
    return { alias, places: [kinds.map(([name, kind]) => col(alias, [], { k: 'out', name }, kind))], paths: [], measures: [], concept: null, schema: null };
  }

  protected conceptRel(alias: string, schema: Schema, concept: string, count: number): Rel {
    const { r } = this;
    const paths: Hop[][] = [];
    if (schema === 'dsvc')
      for (let n = r.pick(count > 1 ? [0, 1, 1, 2] : [0, 1, 1, 2, 2, 3, 3]); n > 0; n--) {
        // Some paths go on where another one ends.
        const start = paths.length && r.chance(40) ? r.pick(paths) : [];
        const path = this.path(concept, start, r.pick([1, 1, 2, 3]));
        for (let i = start.length + 1; i <= path.length; i++) paths.push(path.slice(0, i));
      }
    const known = new Set<string>();
    const distinct = paths.filter((p) => !known.has(JSON.stringify(p)) && known.add(JSON.stringify(p)));
    const measuresAt = (path: readonly Hop[]): Mea[] =>
      this.onto.measures(path.at(-1)?.bracket ?? concept).map((name) => {
        const { kind } = this.world.measures!.find((m) => m.name === name)!;
        return { k: 'mea', fn: 'sum', rel: alias, path, name, filter: null, kind };
      });
    const measures = schema === 'dsvc' ? [[], ...distinct].flatMap(measuresAt) : [];
    return {
      alias,
      schema,
      concept,
      measures,
      paths: distinct,
      places: [this.rootColumns(alias, schema, concept), ...distinct.map((p) => this.farColumns(alias, p))],
    };
  }

  protected path(concept: string, start: readonly Hop[], length: number): Hop[] {
    const { r } = this;
    const out = [...start];
    let at = start.at(-1)?.bracket ?? concept;
    while (out.length < start.length + length) {
      const last = out.at(-1);
      if (last && !this.onto.isA(last.bracket, this.onto.relDir(last.rel, last.inv).target)) break;
      const rels = this.onto.relationships(at);
      if (!rels.length) break;
      // Mostly ways that lead somewhere.
      const leading = rels.filter((d) =>
        this.onto.rows(at).some((t) => this.onto.related(t, { rel: d.def.name, inv: d.inv, tilde: false, bracket: d.target, star: null }).length),
      );
      const { def, inv, target } = r.pick(leading.length && r.chance(85) ? leading : rels);
      const spelling = this.spelling.get(def.name) ?? { tilde: r.chance(30), star: r.pick(['default', 'number'] as const) };
      this.spelling.set(def.name, spelling);
      let star: Hop['star'] = null;
      if (def.transitive !== null && r.chance(60)) star = spelling.star === 'default' ? 'default' : r.pick([1, 2, 2, 3, 3, 5, 32]);
      let bracket = target;
      if (star === null && r.chance(25)) {
        const below = this.onto.descendants(target);
        const filled = below.filter((b) => this.onto.rows(b).length);
        if (below.length) bracket = r.pick(filled.length && r.chance(80) ? filled : below);
      } else if (star === null && r.chance(8)) {
        const above = this.onto.topDown(target);
        if (above.length) bracket = r.pick(above);
      }
      out.push({ rel: def.name, inv, tilde: inv && spelling.tilde, bracket, star });
      at = bracket;
    }
    return out;
  }

  protected rootColumns(alias: string, schema: Schema, concept: string): Col[] {
    const out = [
      ...this.entityColumns(alias, []),
      ...this.onto.props(concept).map((p) => col(alias, [], { k: 'prop', name: p }, this.onto.prop(p).kind)),
      ...(schema === 'svc' ? [] : this.onto.derivedProps(concept)).map((p) => col(alias, [], { k: 'prop', name: p }, this.onto.prop(p).kind)),
    ];
    if (schema === 'dsvc') {
      out.push(...this.onto.multi(concept).map((p) => col(alias, [], { k: 'multi', name: p }, this.onto.prop(p).kind)));
      if (this.r.chance(30)) for (const d of this.r.some(this.onto.descendants(concept), 1)) out.push(col(alias, [], { k: 'typeof', concept: d }, 'bool'));
    }
    return out;
  }

  protected entityColumns(alias: string, path: readonly Hop[]): Col[] {
    return (['entity_id', 'entity_type', 'entity_label'] as const).map((name) => col(alias, path, { k: 'entity', name }, 'text'));
  }

  protected farColumns(alias: string, path: readonly Hop[]): Col[] {
    const last = path.at(-1)!;
    const { def, target } = this.onto.relDir(last.rel, last.inv);
    const below = this.onto.isA(last.bracket, target);
    const names = [...this.onto.props(last.bracket), ...(below ? this.onto.derivedProps(last.bracket) : [])];
    const out = [...this.entityColumns(alias, path), ...names.map((p) => col(alias, path, { k: 'prop', name: p }, this.onto.prop(p).kind))];
    if (below) out.push(...this.onto.multi(last.bracket).map((p) => col(alias, path, { k: 'multi', name: p }, this.onto.prop(p).kind)));
    if (last.star !== null) for (let i = 0; i < 3; i++) out.push(col(alias, path, { k: 'level' }, 'int'));
    else if (def.kind === 'mtm' && !def.symmetric && !def.includes) {
      const links = this.world.mappings.filter((m) => m.rel === def.name);
      for (const m of links.slice(0, 1))
        for (const c of m.columns.slice(m.near!.columns.length + m.far!.columns.length)) {
          const kind: Kind = c.as === 'qty' ? 'int' : c.as === 'note' ? 'text' : 'num';
          for (let i = 0; i < 3; i++) out.push(col(alias, path, { k: 'link', name: c.as }, kind));
        }
    }
    return out;
  }
}
