/** The tables of a random world: mappings of concepts, and rows with the awkward cases in them. */
import type { Kind, Scalar } from './expr.ts';
import { type Concept, genValue } from './gen-base.ts';
import { PathDefinitionGen } from './gen-paths.ts';
import { Rng } from './rng.ts';
import type { MappingSpec, PropSpec } from './world.ts';

/** The kind of a row: some kinds belong to no mapping, and some rows have NULL. */
const kindOf = (percent: number): Scalar => (percent <= 45 ? 'a' : percent <= 75 ? 'b' : percent <= 90 ? 'ab' : null);

export abstract class DataGen extends PathDefinitionGen {
  protected mapConcept(c: Concept): void {
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
      if (columns.length > given.length) row.push(kindOf(r.int(1, 100)));
      rows.push(row);
    }
    const table = `p${this.names++}`;
    this.tables.push({ name: table, columns, rows });
    const mapping: MappingSpec = {
      name: `map_${table}`,
      kind: 'concept',
      concept: c.name,
      property: null,
      rel: null,
      near: null,
      far: null,
      table,
      columns: given.map((p, i) => ({ column: `c${i}`, as: p.name })),
      where: discriminated ? { column: 'kind', operator: '=', value: 'a' } : null,
      typed: r.chance(50),
    };
    const own = Rng.of(table + JSON.stringify(rows));
    if (!discriminated) this.mappings.push(mapping);
    else this.mappings.push(...this.sharing(own, this.showsKind(own, c, mapping)));
  }

  /** A mapping that gives the kind of its rows as a property, if it has a text property to spare. */
  private showsKind(r: Rng, c: Concept, mapping: MappingSpec): MappingSpec {
    const isGiven = (p: PropSpec): boolean => mapping.columns.some((x) => x.as === p.name) || this.foreign.some((f) => f.source.includes(p.name));
    const spare = this.all(c).find((p) => p.kind === 'text' && !p.expr && !isGiven(p));
    return spare && r.chance(70) ? { ...mapping, columns: [...mapping.columns, { column: 'kind', as: spare.name }] } : mapping;
  }

  /** A mapping over the rows of one kind, with mappings over the table's other rows. */
  private sharing(r: Rng, mapping: MappingSpec): MappingSpec[] {
    const into = (concept: string, suffix: string, operator: '=' | '<>', value: Scalar): MappingSpec => {
      // not always the same columns, so that some pairs of mappings can be read in one SELECT and others cannot
      const spare = r.chance(20) ? mapping.columns.find((c) => !this.key(concept).includes(c.as)) : undefined;
      const columns = mapping.columns.length > 1 ? mapping.columns.filter((c) => c !== spare) : mapping.columns;
      return { ...mapping, name: `${mapping.name}_${suffix}`, concept, columns, where: { column: 'kind', operator, value } };
    };
    const others = this.concepts.filter((d) => this.isA(d.name, mapping.concept!) && !d.logic).map((d) => d.name);
    const another = (): string => r.pick([mapping.concept!, ...others]);
    return r.pick([
      () => [mapping],
      () => [mapping, into(another(), 'b', '=', 'b')],
      () => [into(another(), 'ab', '=', 'ab'), mapping, into(another(), 'b', '=', 'b')],
      () => [mapping, into(another(), 'not_a', '<>', 'a')],
      () => [mapping, into(another(), 'none', '=', null), into(another(), 'b', '=', 'b')],
    ] as const)();
  }

  /** One mapping for each table of a concept: the one that other mappings share the table with. */
  private ofTables(): MappingSpec[] {
    return this.mappings.filter((m) => m.kind === 'concept' && this.isOfTable(m));
  }

  private isOfTable({ name, table }: MappingSpec): boolean {
    return name === `map_${table}`;
  }

  /** The values of some properties in all rows of all mappings into a concept, its descendants and its ancestors. */
  protected tuples(target: string, props: readonly string[], above = true): Scalar[][] {
    const out: Scalar[][] = [];
    for (const m of this.ofTables()) {
      if (!(this.isA(m.concept!, target) || (above && this.isA(target, m.concept!)))) continue;
      const t = this.tables.find((x) => x.name === m.table)!;
      const at = props.map((p) => t.columns.findIndex((c) => c.name === m.columns.find((x) => x.as === p)?.column));
      if (at.includes(-1)) continue;
      for (const row of t.rows) out.push(at.map((i) => row[i] as Scalar));
    }
    return out;
  }

  /** A tuple that refers to one of `pool`, or to nothing, or is NULL in part. */
  protected reference(pool: readonly Scalar[][], kinds: readonly Kind[]): Scalar[] {
    const { r } = this;
    if (!pool.length || r.chance(8)) return kinds.map((k) => (k === 'int' ? 999 : 'none'));
    const tuple = [...r.pick(pool)];
    if (r.chance(12)) tuple[r.int(0, tuple.length - 1)] = null;
    else if (tuple.length > 1 && r.chance(15)) tuple[0] = r.pick(pool)[0] as Scalar;
    return tuple;
  }

  protected fillForeign(): void {
    for (const f of this.foreign) {
      const pool = this.tuples(f.target, f.references);
      const kinds = f.references.map((p) => this.props.get(p)!.kind);
      for (const m of this.ofTables()) {
        if (!this.isA(m.concept!, f.concept)) continue;
        const t = this.tables.find((x) => x.name === m.table)!;
        const at = f.source.map((p) => t.columns.findIndex((c) => c.name === m.columns.find((x) => x.as === p)?.column));
        for (const row of t.rows)
          this.reference(pool, kinds).forEach((v, i) => {
            if (at[i] !== -1) row[at[i]!] = v;
          });
      }
    }
  }

  protected fillLinks(): void {
    const { r } = this;
    for (const m of this.mappings.filter((x) => x.kind !== 'concept' || this.isOfTable(x))) {
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
