/** Random small worlds: inheritance, keys, mappings, relationships of all kinds. */
import { ALL_FEATURES, type Concept, type WorldFeatures } from './gen-base.ts';
import { DataGen } from './gen-data.ts';
import type { Rng } from './rng.ts';
import type { PropSpec, RelSpec, TableSpec, World } from './world.ts';

const FAMILIES = ['person', 'city', 'order', 'Item', 'part'] as const;
const SHARED: readonly PropSpec[] = [
  { name: 'name', type: 'string', kind: 'text', multi: false, expr: null },
  { name: 'size', type: 'integer', kind: 'int', multi: false, expr: null },
  { name: 'Score', type: 'decimal(10,2)', kind: 'num', multi: false, expr: null },
];
export const genWorld = (r: Rng, features: WorldFeatures = ALL_FEATURES): World => new WorldGen(r, features).make();

class WorldGen extends DataGen {
  make(): World {
    const { r } = this;
    for (const base of r.some(FAMILIES, r.int(1, 3))) this.family(base);
    for (let n = r.int(2, 6); n > 0; n--) this.foreignKey();
    if (this.features.mtm) for (let n = r.int(0, 3); n > 0; n--) this.multiReference();
    if (this.features.composed && r.chance(60)) this.including();
    if (this.features.multi) for (let n = r.int(0, 2); n > 0; n--) this.multiValue();
    if (this.features.calculated) for (let n = r.int(0, 2); n > 0; n--) this.calculated();
    if (this.features.calculatedPaths) for (let n = r.int(0, 3); n > 0; n--) this.calculatedPath();
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
    const symmetric = this.symmetric(from, target);
    from.rels.push({ name, kind: 'fk', target: target.name, source, references, inverse: symmetric ? null : this.inverse(name), transitive, ...symmetric });
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
    const symmetric = this.symmetric(from, target);
    const inverse = symmetric ? null : this.inverse(name);
    from.rels.push({ name, kind: 'mtm', target: target.name, source: [], references: [], inverse, transitive: this.transitive(self), ...symmetric });
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

  private symmetric(from: Concept, target: Concept): { symmetric: true } | undefined {
    return this.features.composed && from === target && this.key(from.name).length && this.r.chance(25) ? { symmetric: true } : undefined;
  }

  /** A relationship with the pairs of one or more others: of the same concept, of an ancestor or of concepts below. */
  private including(): void {
    const { r } = this;
    const directions = this.concepts.flatMap((c) =>
      c.rels.flatMap((d) => [
        { name: d.name, from: c.name, to: d.target },
        { name: d.inverse ?? `~${d.name}`, from: d.target, to: c.name },
      ]),
    );
    if (!directions.length) return;
    const base = r.pick(directions);
    const keyed = (names: readonly string[]) => names.filter((n) => this.key(n).length);
    const kin = keyed(this.concepts.map((c) => c.name).filter((n) => this.isA(n, base.from) || this.isA(base.from, n)));
    const ends = keyed([base.to, ...this.ancestors(base.to)]);
    if (!kin.length || !ends.length) return;
    const [from, target] = [this.concept(r.pick(kin)), r.pick(ends)];
    const others = directions.filter((d) => d !== base && (this.isA(d.from, from.name) || this.isA(from.name, d.from)) && this.isA(d.to, target));
    const includes = [base, ...r.some(others, r.int(0, 2))].map((d) => d.name);
    const name = this.relName();
    const symmetric = this.symmetric(from, this.concept(target));
    const transitive = this.transitive(this.isA(from.name, target));
    from.rels.push({
      name,
      kind: 'mtm',
      target,
      source: [],
      references: [],
      inverse: symmetric ? null : this.inverse(name),
      transitive,
      includes,
      ...symmetric,
    });
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
}
