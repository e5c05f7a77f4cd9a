/** The definitions of a random world: calculated properties, measures, logic concepts. */
import type { Expr } from './expr.ts';
import { agg, col, lit, op } from './expr.ts';
import { type Concept, genValue, TYPES, WorldBase } from './gen-base.ts';
import type { PropSpec } from './world.ts';

export abstract class DefinitionGen extends WorldBase {
  protected calculated(): void {
    const { r } = this;
    // Where no row's own mapping has the property, nothing says what it is: only on concepts with mapped rows of their own.
    const c = r.pick(this.concepts.filter((d) => this.concepts.some((e) => this.isA(e.name, d.name) && this.mapped.has(e.name))).concat(this.concepts[0]!));
    if (!this.concepts.some((e) => this.isA(e.name, c.name) && this.mapped.has(e.name))) return;
    const from = this.all(c).filter((p) => !p.multi && (p.kind === 'int' || p.kind === 'text' || p.kind === 'num'));
    if (!from.length) return;
    const p = r.pick(from);
    const self = col('', [], { k: 'prop', name: p.name }, p.kind);
    const q = r.pick(from.filter((x) => x.kind === p.kind));
    const other = col('', [], { k: 'prop', name: q.name }, q.kind);
    const one = lit(p.kind === 'text' ? 'n/a' : 1, p.kind);
    const expr: Expr =
      p.kind === 'text'
        ? r.pick([op('upper', 'text', self), op('||', 'text', self, other), op('coalesce', 'text', self, one)])
        : r.pick([
            op('+', p.kind, self, one),
            op('+', p.kind, self, other),
            op('*', p.kind, self, lit(2, 'int')),
            op('coalesce', p.kind, self, one),
            op('case', p.kind, op('isnull', 'bool', self), one, other),
          ]);
    const name = `calc${this.names++}`;
    this.add(c, { name, type: p.kind === 'text' ? 'string' : p.kind === 'int' ? 'bigint' : 'decimal', kind: p.kind, multi: false, expr });
  }

  /** A measure of a concept: over own properties, with a condition now and then, over other measures of the concept. */
  protected measure(): void {
    const { r } = this;
    const keyed = this.concepts.filter((c) => this.key(c.name).length);
    const c = r.pick(keyed.length && r.chance(85) ? keyed : this.concepts);
    const from = this.all(c).filter((p) => !p.multi);
    if (!from.length) return;
    const column = (p: PropSpec) => col('', [], { k: 'prop', name: p.name }, p.kind);
    const numbers = from.filter((p) => p.kind === 'int' || p.kind === 'num');
    const call = (): Expr => {
      const p = r.pick(numbers.length && r.chance(75) ? numbers : from);
      const e = column(p);
      const number = p.kind === 'int' || p.kind === 'num';
      if (r.chance(12)) return agg('count', null, 'int');
      if (r.chance(15)) return agg('count', e, 'int', null, r.chance(20));
      if (p.kind === 'bool') return agg('count', e, 'int');
      if (!number) return agg(r.pick(['min', 'max'] as const), e, p.kind);
      const fn = r.pick(['sum', 'sum', 'sum', 'avg', 'min', 'max'] as const);
      const arg = r.chance(20)
        ? op('coalesce', p.kind, e, lit(1, p.kind))
        : r.chance(15)
          ? op('+', p.kind, e, column(r.pick(numbers.filter((q) => q.kind === p.kind))))
          : e;
      return agg(fn, arg, fn === 'avg' ? 'num' : p.kind, null, fn === 'sum' && r.chance(8));
    };
    const test = (): Expr => {
      const p = r.pick(from);
      if (p.kind === 'bool') return column(p);
      if (r.chance(20)) return op('notnull', 'bool', column(p));
      return op(r.pick(['=', '<>', '>', '<='] as const), 'bool', column(p), lit(genValue(r, p.kind, 0), p.kind));
    };
    const narrowed = (e: Expr): Expr => (e.k === 'agg' && r.chance(15) ? { ...e, filter: test() } : e);
    let expr = narrowed(call());
    const mine = [c.name, ...this.ancestors(c.name)].flatMap((a) => this.concept(a).measures ?? []).map((n) => this.measures.find((m) => m.name === n)!);
    const others = mine.filter((m) => m.kind === 'int' || m.kind === 'num');
    const other = (): Expr => {
      const m = r.pick(others);
      const name: Expr = { k: 'mref', name: m.name, kind: m.kind };
      return r.chance(35) ? agg(r.pick(['sum', 'max', 'avg'] as const), name, m.kind, r.chance(40) ? test() : null) : name;
    };
    if (others.length && r.chance(60)) {
      const [a, b] = [other(), r.chance(50) ? other() : narrowed(call())];
      const zero = lit(0, 'int');
      if (b.kind !== 'int' && b.kind !== 'num') expr = a;
      else if (r.chance(25)) expr = op('case', 'num', op(r.pick(['>', '<>'] as const), 'bool', a, zero), b, zero);
      else expr = op(r.pick(['+', '-', '*'] as const), 'num', a, op('coalesce', b.kind, b, zero));
    }
    const filter = r.chance(35) ? test() : null;
    const name = `${r.pick(['m', 'total', 'Mean'])}${this.names++}`;
    const type = expr.kind === 'int' ? 'bigint' : expr.kind === 'num' ? 'double' : r.pick(TYPES[expr.kind]);
    this.measures.push({ name, type, kind: expr.kind, expr, filter });
    c.measures = [...(c.measures ?? []), name];
  }

  protected logic(parent: Concept): void {
    const { r } = this;
    const name = `${this.families.get(parent.name)}_l${this.names++}`;
    const up = [parent.name, ...this.ancestors(parent.name)];
    const below = this.concepts.filter((d) => d.name !== parent.name && this.isA(d.name, parent.name)).map((d) => d.name);
    const source = this.concept(r.pick([parent.name, parent.name, ...up, ...below]));
    const schema = r.pick(['svc', 'dsvc'] as const);
    const conds: Expr[] = [];
    const test = (c: Expr): Expr => {
      if (r.chance(15)) return op(r.pick(['isnull', 'notnull'] as const), 'bool', c);
      if (c.kind === 'bool') return c;
      const v = lit(genValue(r, c.kind, 0), c.kind);
      return op(r.pick(c.kind === 'text' ? (['=', '<>', '>'] as const) : (['=', '>', '<=', '<>'] as const)), 'bool', c, v);
    };
    for (const p of r.some(this.all(source), 1)) conds.push(test(col('', [], { k: 'prop', name: p.name }, p.kind)));
    if (schema === 'dsvc' && r.chance(60)) {
      const rels = this.concepts.flatMap((c) =>
        c.rels.flatMap((def) => [
          ...(this.isA(source.name, c.name) ? [{ def, inv: false, to: def.target }] : []),
          ...(this.isA(source.name, def.target) ? [{ def, inv: true, to: c.name }] : []),
        ]),
      );
      const usable = rels.filter((x) => !this.concept(x.to).logic && this.all(this.concept(x.to)).length);
      if (usable.length) {
        const x = r.pick(usable);
        const p = r.pick(this.all(this.concept(x.to)));
        conds.push(test(col('', [{ rel: x.def.name, inv: x.inv, tilde: false, bracket: x.to, star: null }], { k: 'prop', name: p.name }, p.kind)));
      }
    }
    if (!conds.length) return;
    const cond = conds.length === 1 ? conds[0]! : op(r.pick(['and', 'or'] as const), 'bool', ...conds);
    this.concepts.push({
      name,
      parents: [parent.name],
      props: [],
      multi: [],
      key: [],
      label: [],
      rels: [],
      measures: [],
      logic: { schema, concept: source.name, cond },
    });
    this.families.set(name, this.families.get(parent.name)!);
    // Logic on logic.
    if (r.chance(20)) this.logic(this.concept(name));
  }
}
