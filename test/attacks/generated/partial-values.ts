/** Values of the tables of partial-model.ts: what a caller may read is fixed, everything else depends on the seed. */
import { CALCULATED, type Grants, idOf, KINDS, type PartMapping, type PartModel, Shape, TABLE_COUNT } from './partial-model.ts';

const BENIGN: Readonly<Record<string, (n: number) => string>> = {
  n0: (n) => `${n % 6}`,
  n1: (n) => `${(n * 5) % 7}`,
  z: (n) => `'${(n * 3) % 6}'`,
  s0: (n) => `'k${n % 4}'`,
  s1: (n) => `'${n % 5}'`,
  d0: (n) => `${n % 4}.5`,
  t0: (n) => `'2020-01-0${1 + (n % 8)}'`,
  e: (n) => `${n % 5}.25`,
  w: (n) => `${n % 5}.1`,
  r0: (n) => `${idOf(n % TABLE_COUNT, (n >>> 3) % 6)}`,
  r1: (n) => `${idOf((n >>> 2) % TABLE_COUNT, (n >>> 5) % 6)}`,
};
/** No values on which the model itself fails: that failure is not hidden (docs/policies.md). */
const EVIL: Readonly<Record<string, readonly string[]>> = {
  n0: ['0', '1', '2', '3', '5', '4611686018427387904', 'NULL'],
  n1: ['0', '1', '2', '3', '7', '-9223372036854775808', 'NULL'],
  z: ["'0'", "'3'", "'7'", "'4611686018427387904'", "'-5'", 'NULL'],
  s0: ["'k0'", "'k1'", "'x'", "'('", "'7'", 'NULL'],
  s1: ["'0'", "'3'", "'x'", "'\\'", "''", 'NULL'],
  d0: ['0', '1.5', '99999999.99', 'NULL'],
  t0: ["'2020-01-01'", "'infinity'", "'5874897-12-31'", "'4713-01-01 BC'", 'NULL'],
  e: ['0', '1.25', '3', "'NaN'", "'Infinity'", '3.4e38', '1e-40', 'NULL'],
  w: ['0', '1.1', '3', "'NaN'", '3.4e38', 'NULL'],
};
const COLUMNS = Object.keys(BENIGN);

export const TABLES = [
  'CREATE SCHEMA part',
  ...Array.from(
    { length: TABLE_COUNT },
    (_, i) =>
      `CREATE TABLE part.t${i} (id bigint, kind text, n0 bigint, n1 bigint, z text, s0 text, s1 text, d0 numeric, t0 date, e real, w float8, r0 bigint, r1 bigint)`,
  ),
  'CREATE TABLE part.t_multi (id bigint, v bigint)',
  'CREATE TABLE part.t_link (a bigint, b bigint, w bigint)',
];

/** A pseudo-random number, determined by the parts. */
export function hash(...parts: readonly (number | string)[]): number {
  let x = 0x9e3779b9;
  for (const c of parts.join('/')) x = Math.imul(x ^ c.charCodeAt(0), 0x45d9f3b) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b) >>> 0;
  return (x ^ (x >>> 13)) >>> 0;
}

/** What a caller may read of the tables, determined only by the grants and the model. */
export class Open {
  readonly #shape: Shape;
  readonly #base: number;
  /** `table/row` -> columns. */
  readonly #cells = new Map<string, Set<string>>();
  /** Ids of rows of a concept that the caller may read, by concept. */
  readonly #ids = new Map<string, Set<number>>();
  readonly #values: boolean;
  readonly #pairs: readonly (readonly [number, number])[];
  readonly #grants: Grants;

  constructor(model: PartModel, grants: Grants, base: number) {
    this.#shape = new Shape(model);
    this.#base = base;
    this.#grants = grants;
    const shape = this.#shape;
    for (const c of model.concepts.filter((o) => grants.reads.has(o.name))) this.#concept(c.name);
    for (const v of model.views.filter((o) => grants.views.has(o.name))) {
      const { mappings, when } = shape.rows(v.concept);
      const first = v.props[0] as string;
      for (const m of mappings)
        for (const row of this.#rowsOf(m)) {
          for (const w of when) this.#open(m, row, shape.inputs(m.concept, w.prop));
          if (!this.#admits(m, row) || !when.every((w) => this.#meets(m, row, w))) continue;
          const shown = this.#unmasked(m, row, first);
          this.#open(m, row, shown);
          // a mask decides the condition of the view: all rows may be shown
          const isMasked = shown.length < shape.inputs(m.concept, first).length;
          if (!isMasked && !this.#meets(m, row, { prop: first, at: v.at })) continue;
          this.#open(
            m,
            row,
            v.props.flatMap((p) => this.#unmasked(m, row, p)),
          );
          this.#label(m, row);
        }
    }
    this.#values = model.multiInto !== null;
    this.#pairs = model.concepts.some((c) => c.link)
      ? Array.from({ length: 24 }, (_, i) => [idOf(i % 5, hash(base, i) % 6), idOf(5 + (i % 2), hash(i, base) % 6)])
      : [];
  }

  #concept(name: string): void {
    const shape = this.#shape;
    const { mappings, when } = shape.rows(name);
    const ids = new Set<number>();
    this.#ids.set(name, ids);
    for (const m of mappings)
      for (const row of this.#rowsOf(m)) {
        for (const w of when) this.#open(m, row, shape.inputs(m.concept, w.prop));
        if (!this.#admits(m, row) || !when.every((w) => this.#meets(m, row, w))) continue;
        ids.add(this.#id(m.table, row));
        this.#open(
          m,
          row,
          shape.props(name).flatMap((p) => this.#unmasked(m, row, p)),
        );
        this.#label(m, row);
      }
  }

  /** The inputs of a property whose values are shown in a row. */
  #unmasked(m: PartMapping, row: number, prop: string): readonly string[] {
    const { mask } = this.#shape.model;
    return this.#shape.inputs(m.concept, prop).filter((p) => mask === null || p !== mask.prop || !this.#isMasked(m, row, mask.concept));
  }

  /** Whether a mask of a concept applies to a row; the values of the row that decide it must then be fixed. */
  #isMasked(m: PartMapping, row: number, concept: string | null): boolean {
    if (concept === null || this.#shape.isA(m.concept, concept)) return true;
    const { mappings, when } = this.#shape.rows(concept);
    if (!mappings.includes(m)) return false;
    for (const w of when) this.#open(m, row, this.#shape.inputs(m.concept, w.prop));
    return when.every((w) => this.#meets(m, row, w));
  }

  /** Whether the row policy admits a row; the values of the row that it reads must then be fixed. */
  #admits(m: PartMapping, row: number): boolean {
    const { policy } = this.#shape.model;
    if (policy === null) return true;
    const { mappings, when } = this.#shape.rows(policy.concept);
    if (!mappings.includes(m)) return true;
    for (const w of [...when, policy]) this.#open(m, row, this.#shape.inputs(m.concept, w.prop));
    return !when.every((w) => this.#meets(m, row, w)) || this.#meets(m, row, policy);
  }

  #rowsOf(m: PartMapping): readonly number[] {
    return KINDS.flatMap((k, i) => (m.kinds === null || m.kinds.includes(k) ? [i] : []));
  }

  /** The label of a row is that of the concept that it is mapped into. */
  #label(m: PartMapping, row: number): void {
    const label = this.#shape.lineage(m.concept).flatMap((c) => (c.label === null ? [] : this.#unmasked(m, row, c.label)));
    this.#open(m, row, label);
    this.#open(m, row, []);
  }

  #open(m: PartMapping, row: number, props: readonly string[]): void {
    const key = `${m.table}/${row}`;
    const cells = this.#cells.get(key) ?? new Set();
    this.#cells.set(key, cells);
    for (const p of props) if (m.columns[p] !== undefined) cells.add(m.columns[p]);
  }

  #meets(m: PartMapping, row: number, { prop, at }: { readonly prop: string; readonly at: number }): boolean {
    const [input] = this.#shape.inputs(m.concept, prop);
    const column = input === undefined ? undefined : m.columns[input];
    if (column === undefined) return false;
    const value = Number(this.#benign(m.table, row, column).replaceAll("'", ''));
    return (prop in CALCULATED ? value + 1 : value) > at;
  }

  #benign(table: number, row: number, column: string): string {
    return (BENIGN[column] as (n: number) => string)(hash(this.#base, table, row, column));
  }

  #id(table: number, row: number): number {
    return idOf(this.#shape.model.twins && table === 3 ? 1 : table, row);
  }

  /** Whether a row with this id may be read as a row of a concept that meets the condition. */
  #reads(id: number, fits: (name: string) => boolean): boolean {
    return [...this.#ids].some(([name, ids]) => fits(name) && ids.has(id));
  }

  /** Statements that fill the tables: hidden values from the seed, hidden rows present or not. */
  filled(seed: number): readonly string[] {
    const shape = this.#shape;
    const statements: string[] = [];
    for (let t = 0; t < TABLE_COUNT; t++) {
      const rows = KINDS.flatMap((kind, i) => {
        const open = this.#cells.get(`${t}/${i}`);
        if (open === undefined && hash(seed, t, i) % 3 === 0) return [];
        const values = COLUMNS.map((c) => {
          if (open?.has(c)) return this.#benign(t, i, c);
          const evil = EVIL[c] ?? Array.from({ length: 8 }, (_, k) => `${idOf(hash(seed, t, i, k) % TABLE_COUNT, hash(seed, i, k, c) % 6)}`);
          return evil[hash(seed, t, i, c) % evil.length];
        });
        return [`(${this.#id(t, i)}, '${kind}', ${values.join(', ')})`];
      });
      statements.push(`TRUNCATE part.t${t}`, ...(rows.length > 0 ? [`INSERT INTO part.t${t} (id, kind, ${COLUMNS}) VALUES ${rows.join(', ')}`] : []));
    }
    statements.push('TRUNCATE part.t_multi', 'TRUNCATE part.t_link');
    if (this.#values) {
      const values = Array.from({ length: 5 * 6 }, (_, i) => idOf(i % 5, Math.floor(i / 5))).flatMap((id) => {
        const isOpen = this.#reads(id, (name) => shape.lineage(name).some((c) => c.multi));
        if (isOpen) return [`(${id}, ${hash(this.#base, id) % 6})`, ...(id % 3 === 0 ? [`(${id}, 8)`] : [])];
        return hash(seed, id) % 4 === 0 ? [] : [`(${id}, ${hash(seed, id, 'v') % 9})`];
      });
      if (values.length > 0) statements.push(`INSERT INTO part.t_multi VALUES ${values.join(', ')}`);
    }
    const links = this.#pairs.flatMap(([a, b], i) => {
      const near = this.#reads(a, (name) => shape.lineage(name).some((c) => c.link));
      const meets = this.#grants.sees.has('b0') || shape.model.concepts.some((c) => c.link && this.#grants.sees.has(c.name));
      const far = meets && this.#reads(b, (name) => shape.isA(name, 'b0'));
      if (near && far) return [`(${a}, ${b}, ${hash(this.#base, i) % 6})`];
      return hash(seed, 'l', i) % 3 === 0 ? [] : [`(${a}, ${b}, ${hash(seed, 'w', i) % 9})`];
    });
    if (links.length > 0) statements.push(`INSERT INTO part.t_link VALUES ${links.join(', ')}`);
    return statements;
  }
}
