/** Expressions of random queries: values, conditions, entity_id comparisons, sub-queries. */
import type { Col, Expr, Item, Kind, Query, Select } from './expr.ts';
import { agg, lit, op } from './expr.ts';
import { genValue } from './gen-base.ts';
import { FromGen, type Scope } from './gen-from.ts';

export abstract class ExprGen extends FromGen {
  /** A column of a kind (null: any), first by its place so that long rows do not drown paths. */
  protected override col(scope: Scope, kind: Kind | null): Col | null {
    const { r } = this;
    const places = scope.flatMap((x) => x.places).map((cols) => cols.filter((c) => kind === null || c.kind === kind));
    const full = places.filter((p) => p.length);
    if (!full.length) return null;
    const far = full.filter((p) => p[0]!.path.length);
    const c = r.pick(r.pick(far.length && r.chance(35) ? far : full));
    return r.chance(3) && c.leaf.k !== 'out' && c.rel !== '' ? { ...c, shout: true } : c;
  }

  protected scalar(scope: Scope, kind: Kind, depth = 2): Expr {
    const { r } = this;
    const c = this.col(scope, kind);
    if (!c || r.chance(4)) return lit(genValue(r, kind, 10), kind);
    if (depth === 0 || r.chance(65)) return c;
    const sub = (k: Kind = kind) => this.scalar(scope, k, depth - 1);
    const l = lit(genValue(r, kind, 0), kind);
    const any: (() => Expr)[] = [
      () => op('coalesce', kind, sub(), l),
      () => op('case', kind, this.cond(scope, depth - 1), sub(), ...(r.chance(60) ? [l] : [])),
      () => op('nullif', kind, c, l),
    ];
    if (kind === 'int' || kind === 'num')
      any.push(
        () => op(r.pick(['+', '-'] as const), kind, c, r.chance(50) ? l : (this.col(scope, kind) ?? l)),
        () => op('*', kind, c, l),
      );
    if (kind === 'int') any.push(() => op('length', 'int', sub('text')));
    if (kind === 'text')
      any.push(
        () => op('upper', 'text', c),
        () => op('||', 'text', c, r.chance(50) ? l : c),
      );
    if (kind === 'bool') any.push(() => this.cond(scope, depth - 1));
    return r.pick(any)();
  }

  protected cond(scope: Scope, depth: number, outer: Scope = []): Expr {
    const { r } = this;
    if (depth > 0 && r.chance(45)) {
      const o = r.pick(['and', 'or', 'not'] as const);
      return o === 'not'
        ? op('not', 'bool', this.cond(scope, depth - 1, outer))
        : op(o, 'bool', this.cond(scope, depth - 1, outer), this.cond(scope, depth - 1, outer));
    }
    if (depth > 0 && this.depth < 2 && r.chance(9)) return this.subquery([...scope, ...outer]);
    return this.atom(scope);
  }

  protected override atom(scope: Scope): Expr {
    const { r } = this;
    const c = this.col(scope, null);
    if (!c) return lit(true, 'bool');
    if (r.chance(14)) return op(r.pick(['isnull', 'notnull'] as const), 'bool', c);
    if (c.leaf.k === 'entity' && c.leaf.name === 'entity_id' && r.chance(85)) return this.entityId(scope, c);
    if (c.kind === 'bool') return r.pick([c, op('istrue', 'bool', c), op('=', 'bool', c, lit(r.chance(50), 'bool')), op('not', 'bool', c)]);
    const l = () => this.literalFor(c);
    const other = this.col(scope, c.kind);
    const comparison = r.pick(['=', '=', '=', '<>', '<', '<=', '>', '>='] as const);
    const all: (() => Expr)[] = [
      () => op(comparison, 'bool', c, l()),
      () => op(comparison, 'bool', c, l()),
      () => op(comparison, 'bool', l(), c),
      () => op(comparison, 'bool', c, other ?? l()),
      () => op(comparison, 'bool', this.scalar(scope, c.kind, 1), l()),
      () => op(r.pick(['distinct', 'not distinct'] as const), 'bool', c, r.chance(50) ? l() : (other ?? l())),
      () => op(r.pick(['in', 'not in', 'any'] as const), 'bool', c, l(), l(), ...(r.chance(30) ? [l()] : [])),
      () => op('between', 'bool', c, l(), l()),
    ];
    if (c.kind === 'text') all.push(() => op(r.pick(['like', 'not like'] as const), 'bool', c, lit(r.pick(['a%', '%b', '_', '%', 'k_', '%o%']), 'text')));
    return r.pick(all)();
  }

  /** Values of the data match rows, others do not. */
  protected literalFor(c: Col): Expr {
    const { r } = this;
    if (c.leaf.k === 'entity' && c.leaf.name === 'entity_type') return lit(r.pick(this.world.concepts).name, 'text');
    if (c.leaf.k === 'level') return lit(r.int(1, 3), 'int');
    const there = c.leaf.k === 'prop' || c.leaf.k === 'multi' || c.leaf.k === 'link' ? this.values.get(c.leaf.name) : undefined;
    if (there?.length && r.chance(75)) return lit(r.pick(there), c.kind);
    return lit(genValue(r, c.kind, 0), c.kind);
  }

  protected entityId(scope: Scope, c: Col): Expr {
    const { r } = this;
    const ids = this.world.concepts.flatMap((k) => this.onto.rows(k.name).map((t) => this.onto.entity(t, 'entity_id')));
    const real = ids.filter((i): i is string => typeof i === 'string');
    const one = (): Expr => {
      let id = real.length && r.chance(85) ? r.pick(real) : `${r.pick(this.world.concepts).name}:${r.int(0, 9)}`;
      // Texts that a key could be read from, though it is not the key's text.
      if (r.chance(12))
        id = r.pick([
          id.replace(/:(\d)/, ':0$1'),
          `${id} `,
          id.replace('|', '||'),
          id.replace('%7C', '|'),
          id.toUpperCase(),
          id.replace(/^.*:/, ''),
          `${id}x`,
          `${id.split(':')[0]}:`,
          'x',
          '',
        ]);
      return lit(id, 'text');
    };
    const other = this.col(
      scope.map((x) => ({ ...x, places: x.places.map((p) => p.filter((y) => y.leaf.k === 'entity' && y.leaf.name === 'entity_id')) })),
      'text',
    );
    return r.pick([
      () => op('=', 'bool', c, one()),
      () => op('=', 'bool', c, one()),
      () => op('=', 'bool', one(), c),
      () => op('in', 'bool', c, one(), one(), one()),
      () => op('not in', 'bool', c, one(), one()),
      () => op('any', 'bool', c, one(), one()),
      () => op('<>', 'bool', c, one()),
      () => op('=', 'bool', c, other ?? one()),
      () => op('like', 'bool', c, lit(`${r.pick(this.world.concepts).name}%`, 'text')),
    ])();
  }

  protected subquery(outer: Scope): Expr {
    const { r } = this;
    this.depth++;
    try {
      const { from, rels } = this.scope(false);
      const conds: Expr[] = [];
      const correlated = r.chance(70);
      if (correlated) {
        const o = this.col(outer, null);
        const i = o && this.col(rels, o.kind);
        if (o && i) conds.push(op(r.chance(80) ? '=' : r.pick(['<', '<>'] as const), 'bool', i, o));
      }
      if (r.chance(60)) conds.push(this.cond(rels, 1, correlated ? outer : []));
      const where = conds.length === 0 ? null : conds.length === 1 ? conds[0]! : op('and', 'bool', ...conds);
      const sel = (items: Item[]): Query => ({ ctes: [], body: { ...BLANK, from, where, items, qualify: true } });
      const how = r.pick(['exists', 'exists', 'in', 'scalar'] as const);
      if (how === 'exists') return { k: 'exists', not: r.chance(35), q: sel([{ k: 'expr', e: lit(1, 'int'), as: null }]), kind: 'bool' };
      const kind = r.pick(['int', 'int', 'text', 'num'] as const);
      const [a, b] = [this.col(outer, kind), this.col(rels, kind)];
      if (!a || !b) return { k: 'exists', not: false, q: sel([{ k: 'expr', e: lit(1, 'int'), as: null }]), kind: 'bool' };
      if (how === 'in') return { k: 'insub', not: r.chance(30), e: a, q: sel([{ k: 'expr', e: b, as: null }]), kind: 'bool' };
      const call =
        kind === 'text' || r.chance(40) ? agg(r.pick(['min', 'max'] as const), b, kind) : r.chance(50) ? agg('sum', b, kind) : agg('count', b, 'int');
      return op(r.pick(['=', '<', '>=', '<>'] as const), 'bool', kind === 'text' || call.fn !== 'count' ? a : (this.col(outer, 'int') ?? a), {
        k: 'scalar',
        q: sel([{ k: 'expr', e: call, as: null }]),
        kind: call.kind,
      });
    } finally {
      this.depth--;
    }
  }
}

/** A select with nothing in it. */
export const BLANK: Select = {
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
  qualify: true,
};
