/** Random small worlds: inheritance, keys, mappings, relationships of all kinds, and rows with the awkward cases in them. */
import type { Expr, Kind, Scalar } from './expr.ts';
import { agg, col, lit, op } from './expr.ts';
import type { Rng } from './rng.ts';
import type { ConceptSpec, MappingSpec, MeasureSpec, PropSpec, RelSpec, TableSpec, World } from './world.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };
type Concept = Mutable<ConceptSpec>;

/** What may stand in a world; a switch for each thing that a planner may not have yet. */
export interface WorldFeatures {
  readonly logic: boolean;
  readonly transitive: boolean;
  readonly mtm: boolean;
  readonly multi: boolean;
  readonly calculated: boolean;
  readonly measures: boolean;
  readonly views: boolean;
  readonly cubes: boolean;
}

export const ALL_FEATURES: WorldFeatures = {
  logic: true,
  transitive: true,
  mtm: true,
  multi: true,
  calculated: true,
  measures: true,
  views: true,
  cubes: true,
};

const FAMILIES = ['person', 'city', 'order', 'Item', 'part'] as const;
const TEXTS = ['a', 'b', 'ab', 'B', 'x|y', '50%', 'é', "o'x", ''] as const;
const NUMS = [0, 0.25, 0.5, 1, 2.5, 10, -1.75] as const;
const DATES = ['2020-01-01', '2020-02-29', '2024-12-31'] as const;
const SHARED: readonly PropSpec[] = [
  { name: 'name', type: 'string', kind: 'text', multi: false, expr: null },
  { name: 'size', type: 'integer', kind: 'int', multi: false, expr: null },
  { name: 'Score', type: 'decimal(10,2)', kind: 'num', multi: false, expr: null },
];
const TYPES: Readonly<Record<Kind, readonly string[]>> = {
  int: ['integer', 'bigint', 'smallint'],
  num: ['decimal(10,2)', 'double', 'decimal'],
  text: ['string'],
  bool: ['boolean'],
  date: ['date'],
};
const PHYSICAL: Readonly<Record<Kind, readonly string[]>> = {
  int: ['int2', 'int4', 'int8'],
  num: ['numeric', 'numeric(8,2)', 'float8'],
  text: ['text', 'varchar(20)', 'char(8)'],
  bool: ['bool'],
  date: ['date'],
};

export const genWorld = (r: Rng, features: WorldFeatures = ALL_FEATURES): World => new WorldGen(r, features).make();

/** A value of a kind, NULL now and then. */
export function genValue(r: Rng, kind: Kind, nulls = 15): Scalar {
  if (r.chance(nulls)) return null;
  switch (kind) {
    case 'int':
      return r.int(0, 5);
    case 'num':
      return r.pick(NUMS);
    case 'text':
      return r.pick(TEXTS);
    case 'bool':
      return r.chance(50);
    case 'date':
      return r.pick(DATES);
  }
}

class WorldGen {
  private readonly r: Rng;
  private readonly features: WorldFeatures;
  private readonly concepts: Concept[] = [];
  private readonly props = new Map<string, PropSpec>();
  private readonly tables: { name: string; columns: { name: string; type: string }[]; rows: Scalar[][] }[] = [];
  private readonly mappings: MappingSpec[] = [];
  private readonly measures: MeasureSpec[] = [];
  private readonly mapped = new Set<string>();
  /** Properties that hold foreign keys, with what they refer to. */
  private readonly foreign: { concept: string; source: readonly string[]; target: string; references: readonly string[] }[] = [];
  private readonly families = new Map<string, string>();
  private readonly keys = new Map<string, number>();
  private names = 0;

  constructor(r: Rng, features: WorldFeatures) {
    this.r = r;
    this.features = features;
  }

  make(): World {
    const { r } = this;
    for (const base of r.some(FAMILIES, r.int(1, 3))) this.family(base);
    for (let n = r.int(2, 6); n > 0; n--) this.foreignKey();
    if (this.features.mtm) for (let n = r.int(0, 3); n > 0; n--) this.multiReference();
    if (this.features.multi) for (let n = r.int(0, 2); n > 0; n--) this.multiValue();
    if (this.features.calculated) for (let n = r.int(0, 2); n > 0; n--) this.calculated();
    if (this.features.measures) for (let n = r.int(0, 4); n > 0; n--) this.measure();
    if (this.features.logic) for (const c of [...this.concepts]) if (r.chance(30)) this.logic(c);
    for (const c of this.concepts) if (this.mapped.has(c.name)) for (let n = r.chance(20) ? 2 : 1; n > 0; n--) this.mapConcept(c);
    this.fillForeign();
    this.fillLinks();
    return {
      props: [...this.props.values()],
      concepts: this.concepts,
      tables: this.tables as TableSpec[],
      mappings: this.mappings,
      measures: this.measures,
      views: [],
      defaultTransitivity: r.chance(20) ? r.int(1, 4) : null,
    };
  }

  private concept(name: string): Concept {
    return this.concepts.find((c) => c.name === name)!;
  }

  private ancestors(name: string): string[] {
    return [...new Set(this.concept(name).parents.flatMap((p) => [...this.ancestors(p), p]))];
  }

  private isA(name: string, other: string): boolean {
    return name === other || this.ancestors(name).includes(other);
  }

  private all(c: Concept): PropSpec[] {
    return [...new Set([...this.ancestors(c.name), c.name].flatMap((a) => this.concept(a).props))].map((p) => this.props.get(p)!);
  }

  private key(name: string): string[] {
    for (const c of [name, ...this.ancestors(name).reverse()]) if (this.concept(c).key.length) return this.concept(c).key;
    return [];
  }

  private add(c: Concept, p: PropSpec): void {
    this.props.set(p.name, p);
    if (!c.props.includes(p.name)) c.props.push(p.name);
  }

  private plain(name: string, kind: Kind, multi = false): PropSpec {
    return { name, type: this.r.pick(TYPES[kind]), kind, multi, expr: null };
  }

  private family(base: string): void {
    const { r } = this;
    const own: Concept[] = [];
    const count = r.pick([1, 2, 3, 3, 4, 5]);
    for (let i = 0; i < count; i++) {
      const name = i === 0 ? base : `${base}_${i}`;
      let parents: string[] = i === 0 ? [] : [r.pick(own).name];
      if (i > 2 && r.chance(35)) {
        const two = r.some(own, 2).map((c) => c.name);
        if (two.length === 2 && !this.isA(two[0]!, two[1]!) && !this.isA(two[1]!, two[0]!)) parents = two;
      }
      const c: Concept = { name, parents, props: [], multi: [], key: [], label: [], rels: [], measures: [], logic: null };
      this.concepts.push(c);
      this.families.set(name, base);
      own.push(c);
      if (r.chance(i === 0 ? 60 : 75)) this.mapped.add(name);
      for (let n = r.int(i ? 0 : 1, 2); n > 0; n--) {
        const kind = r.pick(['int', 'int', 'text', 'num', 'num', 'bool', 'date'] as const);
        this.add(c, this.plain(`${base.toLowerCase()}_${kind}${this.names++}`, kind));
      }
      if (r.chance(40)) {
        const p = r.pick(SHARED);
        if (!this.all(c).some((q) => q.name === p.name)) this.add(c, p);
      }
    }
    if (!own.some((c) => this.mapped.has(c.name)) && r.chance(95)) this.mapped.add(r.pick(own).name);
    const how = r.pick(['int', 'int', 'int', 'text', 'composite', 'none'] as const);
    const holder = r.chance(80) ? own[0]! : r.pick(own);
    const b = base.toLowerCase();
    if (how === 'int') holder.key = [`${b}_id`];
    if (how === 'text') holder.key = [`${b}_code`];
    if (how === 'composite') holder.key = [`${b}_code`, `${b}_no`];
    for (const k of holder.key) {
      const kind = k.endsWith('_code') ? 'text' : 'int';
      this.props.set(k, this.plain(k, kind));
      holder.props.unshift(k);
    }
    // A concept may repeat the key that it inherits.
    for (const c of own) if (c !== holder && holder.key.length && this.isA(c.name, holder.name) && r.chance(10)) c.key = [...holder.key];
    const label = this.all(own[0]!).filter((p) => p.kind === 'text' || p.kind === 'int');
    if (label.length && r.chance(50)) own[0]!.label = r.some(label, r.int(1, 2)).map((p) => p.name);
  }

  private relName(): string {
    return `${this.r.pick(['has', 'likes', 'Owns', 'in'])}${this.names++}`;
  }

  private inverse(name: string): string | null {
    return this.r.chance(60) ? `${name.toLowerCase()}_by` : null;
  }

  private transitive(self: boolean): RelSpec['transitive'] {
    if (!self || !this.features.transitive || this.r.chance(20)) return null;
    return this.r.chance(50) ? 'default' : this.r.int(1, 5);
  }

  private kinds(props: readonly string[]): string {
    return props.map((p) => this.props.get(p)!.kind).join();
  }

  private foreignKey(): void {
    const { r } = this;
    const from = r.pick(this.concepts);
    const self = r.chance(35);
    const target = self ? this.concept(r.pick([from.name, ...this.ancestors(from.name)])) : r.pick(this.concepts);
    const key = this.key(target.name);
    const name = this.relName();
    const own = this.key(from.name);
    const transitive = key.length ? this.transitive(self) : null;
    if (!self && key.length && own.length && this.kinds(own) === this.kinds(key) && r.chance(20)) {
      from.rels.push({ name, kind: 'fk', target: target.name, source: own, references: key, inverse: this.inverse(name), transitive: null });
      return;
    }
    let references = key;
    if (!key.length || (!transitive && r.chance(10))) {
      const other = this.all(target).filter(
        (p) => !p.expr && (p.kind === 'int' || p.kind === 'text') && !key.includes(p.name) && !this.foreign.some((f) => f.source.includes(p.name)),
      );
      if (!other.length) return;
      references = [r.pick(other).name];
    }
    const source = references.map((k, i) => {
      const p = this.plain(`${name.toLowerCase()}_ref${i || ''}`, this.props.get(k)!.kind);
      this.add(from, p);
      return p.name;
    });
    from.rels.push({ name, kind: 'fk', target: target.name, source, references, inverse: this.inverse(name), transitive });
    this.foreign.push({ concept: from.name, source, target: target.name, references });
  }

  private multiReference(): void {
    const { r } = this;
    const keyed = this.concepts.filter((c) => this.key(c.name).length);
    if (!keyed.length) return;
    const from = r.pick(keyed);
    const self = r.chance(40);
    const target = self ? this.concept(r.pick([from.name, ...this.ancestors(from.name).filter((a) => this.key(a).length)])) : r.pick(keyed);
    const name = this.relName();
    const inverse = this.inverse(name);
    from.rels.push({ name, kind: 'mtm', target: target.name, source: [], references: [], inverse, transitive: this.transitive(self) });
    const extra = r.some([['qty', 'int4'] as const, ['note', 'text'] as const, ['rate', 'numeric(8,2)'] as const], r.int(0, 2));
    for (let n = r.chance(25) ? 2 : 1; n > 0; n--) {
      const table = `l${this.names++}`;
      const [near, far] = [this.key(from.name), this.key(target.name)];
      const ends = (prefix: string, refs: readonly string[]) => refs.map((p, i) => ({ name: `${prefix}${i || ''}`, type: this.physical(this.props.get(p)!) }));
      const columns = [...ends('a', near), ...ends('z', far), ...extra.map(([c, type]) => ({ name: c, type }))];
      this.tables.push({ name: table, columns, rows: [] });
      this.mappings.push({
        name: `map_${table}`,
        kind: 'link',
        concept: null,
        property: null,
        rel: name,
        near: { columns: ends('a', near).map((c) => c.name), concept: from.name, references: near },
        far: { columns: ends('z', far).map((c) => c.name), concept: target.name, references: far },
        table,
        columns: columns.map((c) => ({ column: c.name, as: c.name })),
        where: null,
        typed: r.chance(50),
      });
    }
  }

  private multiValue(): void {
    const { r } = this;
    const keyed = this.concepts.filter((c) => this.key(c.name).length);
    if (!keyed.length) return;
    const c = r.pick(keyed);
    const kind = r.pick(['text', 'int'] as const);
    const p = this.plain(`tag${this.names++}`, kind, true);
    this.props.set(p.name, p);
    c.multi.push(p.name);
    for (let n = r.chance(25) ? 2 : 1; n > 0; n--) {
      const into = r.pick([c, c, ...this.concepts.filter((d) => this.isA(d.name, c.name) && this.mapped.has(d.name))]);
      const key = this.key(into.name);
      const table = `m${this.names++}`;
      const columns = [...key.map((k, i) => ({ name: `k${i}`, type: this.physical(this.props.get(k)!) })), { name: 'v', type: this.physical(p) }];
      this.tables.push({ name: table, columns, rows: [] });
      this.mappings.push({
        name: `map_${table}`,
        kind: 'multi',
        concept: into.name,
        property: p.name,
        rel: null,
        near: null,
        far: null,
        table,
        columns: [...key.map((k, i) => ({ column: `k${i}`, as: k })), { column: 'v', as: p.name }],
        where: null,
        typed: r.chance(50),
      });
    }
  }

  private calculated(): void {
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
  private measure(): void {
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
    let expr = call();
    const mine = [c.name, ...this.ancestors(c.name)].flatMap((a) => this.concept(a).measures ?? []).map((n) => this.measures.find((m) => m.name === n)!);
    const others = mine.filter((m) => m.kind === 'int' || m.kind === 'num');
    const other = (): Expr => {
      const m = r.pick(others);
      return { k: 'mref', name: m.name, kind: m.kind };
    };
    if (others.length && r.chance(45)) {
      const [a, b] = [other(), r.chance(50) ? other() : call()];
      expr = b.kind === 'int' || b.kind === 'num' ? op(r.pick(['+', '-', '*'] as const), 'num', a, op('coalesce', b.kind, b, lit(0, 'int'))) : a;
    }
    let filter: Expr | null = null;
    if (r.chance(35)) {
      const p = r.pick(from);
      filter =
        p.kind === 'bool'
          ? column(p)
          : r.chance(20)
            ? op('notnull', 'bool', column(p))
            : op(r.pick(['=', '<>', '>', '<='] as const), 'bool', column(p), lit(genValue(r, p.kind, 0), p.kind));
    }
    const name = `${r.pick(['m', 'total', 'Mean'])}${this.names++}`;
    const type = expr.kind === 'int' ? 'bigint' : expr.kind === 'num' ? 'double' : r.pick(TYPES[expr.kind]);
    this.measures.push({ name, type, kind: expr.kind, expr, filter });
    c.measures = [...(c.measures ?? []), name];
  }

  private logic(parent: Concept): void {
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

  private physical(p: PropSpec): string {
    return this.r.pick(PHYSICAL[p.kind]);
  }

  private mapConcept(c: Concept): void {
    const { r } = this;
    const key = this.key(c.name);
    const label = [c.name, ...this.ancestors(c.name).reverse()].map((a) => this.concept(a).label).find((l) => l.length) ?? [];
    const refs = new Set(this.foreign.flatMap((f) => f.source));
    const given = this.all(c).filter((p) => !p.expr && (key.includes(p.name) || p.name === label[0] || r.chance(refs.has(p.name) ? 95 : 85)));
    if (!given.length)
      given.push(
        ...this.all(c)
          .filter((p) => !p.expr)
          .slice(0, 1),
      );
    const discriminated = r.chance(15);
    const columns = given.map((p, i) => ({ name: `c${i}`, type: this.physical(p) }));
    if (discriminated) columns.push({ name: 'kind', type: 'text' });
    const rows: Scalar[][] = [];
    for (let n = r.pick([0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 8]); n > 0; n--) {
      const family = this.families.get(c.name)!;
      const at = (this.keys.get(family) ?? 0) + 1;
      this.keys.set(family, at);
      const row = given.map((p): Scalar => {
        if (key.includes(p.name))
          return p.kind === 'int' ? at : key.length > 1 ? r.pick(['a', 'a|', 'b%', 'b']) : at % 3 ? `k${at}` : at % 2 ? `k|${at}` : `k%${at}`;
        return genValue(r, p.kind, p.name === label[0] ? 0 : 15);
      });
      if (columns.length > given.length) row.push(r.chance(70) ? 'x' : 'y');
      rows.push(row);
    }
    const table = `p${this.names++}`;
    this.tables.push({ name: table, columns, rows });
    this.mappings.push({
      name: `map_${table}`,
      kind: 'concept',
      concept: c.name,
      property: null,
      rel: null,
      near: null,
      far: null,
      table,
      columns: given.map((p, i) => ({ column: `c${i}`, as: p.name })),
      where: discriminated ? { column: 'kind', value: 'x' } : null,
      typed: r.chance(50),
    });
  }

  /** The values of some properties in all rows of all mappings into a concept, its descendants and its ancestors. */
  private tuples(target: string, props: readonly string[], above = true): Scalar[][] {
    const out: Scalar[][] = [];
    for (const m of this.mappings) {
      if (m.kind !== 'concept' || !(this.isA(m.concept!, target) || (above && this.isA(target, m.concept!)))) continue;
      const t = this.tables.find((x) => x.name === m.table)!;
      const at = props.map((p) => t.columns.findIndex((c) => c.name === m.columns.find((x) => x.as === p)?.column));
      if (at.includes(-1)) continue;
      for (const row of t.rows) out.push(at.map((i) => row[i] as Scalar));
    }
    return out;
  }

  /** A tuple that refers to one of `pool`, or to nothing, or is NULL in part. */
  private reference(pool: readonly Scalar[][], kinds: readonly Kind[]): Scalar[] {
    const { r } = this;
    if (!pool.length || r.chance(8)) return kinds.map((k) => (k === 'int' ? 999 : 'none'));
    const tuple = [...r.pick(pool)];
    if (r.chance(12)) tuple[r.int(0, tuple.length - 1)] = null;
    else if (tuple.length > 1 && r.chance(15)) tuple[0] = r.pick(pool)[0] as Scalar;
    return tuple;
  }

  private fillForeign(): void {
    for (const f of this.foreign) {
      const pool = this.tuples(f.target, f.references);
      const kinds = f.references.map((p) => this.props.get(p)!.kind);
      for (const m of this.mappings) {
        if (m.kind !== 'concept' || !this.isA(m.concept!, f.concept)) continue;
        const t = this.tables.find((x) => x.name === m.table)!;
        const at = f.source.map((p) => t.columns.findIndex((c) => c.name === m.columns.find((x) => x.as === p)?.column));
        for (const row of t.rows)
          this.reference(pool, kinds).forEach((v, i) => {
            if (at[i] !== -1) row[at[i]!] = v;
          });
      }
    }
  }

  private fillLinks(): void {
    const { r } = this;
    for (const m of this.mappings) {
      const t = this.tables.find((x) => x.name === m.table)!;
      const kinds = (refs: readonly string[]) => refs.map((p) => this.props.get(p)!.kind);
      for (let n = r.pick([0, 2, 3, 4, 6, 8]); n > 0 && m.kind !== 'concept'; n--) {
        if (t.rows.length && r.chance(15)) {
          t.rows.push([...r.pick(t.rows)]);
          continue;
        }
        if (m.kind === 'multi') {
          const key = this.key(m.concept!);
          t.rows.push([...this.reference(this.tuples(m.concept!, key, false), kinds(key)), genValue(r, this.props.get(m.property!)!.kind, 0)]);
        } else {
          const extra = t.columns.slice(m.near!.columns.length + m.far!.columns.length);
          const end = (e: NonNullable<MappingSpec['near']>) => this.reference(this.tuples(e.concept, e.references), kinds(e.references));
          t.rows.push([...end(m.near!), ...end(m.far!), ...extra.map((c) => genValue(r, c.type === 'int4' ? 'int' : c.type === 'text' ? 'text' : 'num'))]);
        }
      }
    }
  }
}
