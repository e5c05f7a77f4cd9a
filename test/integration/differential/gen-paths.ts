/** Calculated properties that follow paths: to-one paths, and aggregates over to-many paths, with properties of the row and of other concepts that are calculated too. */
import type { Expr, Hop } from './expr.ts';
import { agg, col, lit, op } from './expr.ts';
import type { Concept } from './gen-base.ts';
import { DefinitionGen } from './gen-definitions.ts';
import type { PropSpec, RelSpec } from './world.ts';

interface Way {
  readonly path: readonly Hop[];
  readonly to: string;
  readonly isMany: boolean;
}

export abstract class PathDefinitionGen extends DefinitionGen {
  protected calculatedPath(): void {
    const { r } = this;
    const c = r.pick(this.concepts);
    if (!this.concepts.some((e) => this.isA(e.name, c.name) && this.mapped.has(e.name))) return;
    const ways = [0, 1, 2].flatMap(() => this.way(c) ?? []);
    if (ways.length === 0) return;
    const expr = this.computed(c, ways);
    if (!expr) return;
    const type = expr.kind === 'text' ? 'string' : expr.kind === 'int' ? 'bigint' : expr.kind === 'num' ? 'double' : expr.kind === 'bool' ? 'boolean' : 'date';
    this.add(c, { name: `path${this.names++}`, type, kind: expr.kind, multi: false, expr });
  }

  /** A path of one or two hops. */
  private way(c: Concept): Way | undefined {
    const { r } = this;
    const path: Hop[] = [];
    let to = c.name;
    let isMany = false;
    for (let n = r.chance(30) ? 2 : 1; n > 0; n--) {
      const steps = this.stepsFrom(to);
      if (steps.length === 0) break;
      const step = r.pick(steps);
      path.push({ rel: step.def.name, inv: step.inv, tilde: false, bracket: step.to, star: null });
      isMany ||= step.isMany;
      to = step.to;
    }
    return path.length > 0 && !this.concept(to).logic ? { path, to, isMany } : undefined;
  }

  private stepsFrom(name: string): { readonly def: RelSpec; readonly inv: boolean; readonly to: string; readonly isMany: boolean }[] {
    const same = (a: readonly string[], b: readonly string[]): boolean => b.length > 0 && a.length === b.length && b.every((x) => a.includes(x));
    const isKeyed = (def: RelSpec, columns: readonly string[], end: string): boolean =>
      def.kind === 'fk' && !def.symmetric && !def.includes && same(columns, this.key(end));
    return this.concepts.flatMap((c) =>
      c.rels.flatMap((def) => [
        ...(this.isA(name, c.name) ? [{ def, inv: false, to: def.target, isMany: !isKeyed(def, def.references, def.target) }] : []),
        ...(this.isA(name, def.target) ? [{ def, inv: true, to: c.name, isMany: !isKeyed(def, def.source, c.name) }] : []),
      ]),
    );
  }

  private computed(c: Concept, ways: readonly Way[]): Expr | undefined {
    const { r } = this;
    const own = (kind: string): Expr[] => this.all(c).flatMap((p) => (!p.multi && p.kind === kind ? [col('', [], { k: 'prop', name: p.name }, p.kind)] : []));
    const parts = ways.flatMap((w) => this.part(w, own) ?? []);
    const numbers = parts.filter((p) => p.kind === 'int' || p.kind === 'num');
    const [a, b] = r.chance(50) ? numbers : [];
    if (a && b) return op(r.pick(['+', '-'] as const), 'num', op('coalesce', a.kind, a, lit(0, a.kind)), b);
    const one = parts[0];
    if (!one || (one.kind !== 'int' && one.kind !== 'num') || r.chance(50)) return one;
    const mine = own(one.kind);
    return r.chance(50) && mine.length > 0 ? op('+', one.kind, one, r.pick(mine)) : op('coalesce', one.kind, one, lit(0, one.kind));
  }

  private part({ path, to, isMany }: Way, own: (kind: string) => Expr[]): Expr | undefined {
    const { r } = this;
    const there = this.all(this.concept(to)).filter((p) => !p.multi);
    if (there.length === 0) return undefined;
    const column = (p: PropSpec): Expr => col('', path, { k: 'prop', name: p.name }, p.kind);
    const p = r.pick(there);
    const value = column(p);
    if (!isMany) return value;
    const filter = r.chance(25) ? op('notnull', 'bool', column(r.pick(there))) : null;
    if (r.chance(20) || p.kind === 'bool') return agg('count', value, 'int', filter, r.chance(30));
    if (p.kind !== 'int' && p.kind !== 'num') return agg(r.pick(['min', 'max'] as const), value, p.kind, filter);
    const mine = own(p.kind);
    const arg = r.chance(20) ? op('coalesce', p.kind, value, lit(1, p.kind)) : r.chance(20) && mine.length > 0 ? op('+', p.kind, value, r.pick(mine)) : value;
    return agg(r.pick(['sum', 'sum', 'min', 'max'] as const), arg, p.kind, filter);
  }
}
