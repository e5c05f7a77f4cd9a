/**
 * An independent evaluation of what a caller can find out: all possible answers about an ontology, computed from the rows of the tables
 * by the rules in the documentation. It shares no code with the planner.
 */
import { type Concept, type Expr, inverseOf, type Mapping, type Policy, type Prop, type Rel, type Spec, type Table } from './spec.ts';

/** A row of a mapping. */
interface Thing {
  readonly mapping: Mapping;
  readonly values: ReadonlyMap<string, number>;
}

/** The origin of the rows of a concept: mappings, and the conditions of logic concepts that the rows meet. */
interface Source {
  readonly mappings: readonly Mapping[];
  readonly when: readonly { readonly source: string; readonly cond: Expr }[];
}

export interface Viewer {
  readonly name: string;
  /** The concepts that it may query; null: all. */
  readonly reads: ReadonlySet<string> | null;
  /** Whether it gets answers about logic concepts whose condition reads masked values. */
  readonly isAnswered?: true;
}

type Value = number | boolean | null;

/** An ontology over tables, for one caller; `policies` empty: without policies. */
export class Sight {
  readonly #spec: Spec;
  readonly #policies: readonly Policy[];
  readonly #viewer: Viewer;
  readonly #concepts: ReadonlyMap<string, Concept>;
  readonly #props: ReadonlyMap<string, Prop>;
  readonly #things = new Map<string, readonly Thing[]>();
  readonly #visible = new Map<Thing, boolean>();
  readonly #ancestors = new Map<string, ReadonlySet<string>>();
  readonly #known = new Map<string, unknown>();

  constructor(spec: Spec, tables: readonly Table[], policies: readonly Policy[], viewer: Viewer) {
    this.#spec = spec;
    this.#policies = policies;
    this.#viewer = viewer;
    this.#concepts = new Map(spec.concepts.map((c) => [c.name, c]));
    this.#props = new Map(spec.props.map((p) => [p.name, p]));
    for (const mapping of spec.mappings) {
      const table = tables.find((t) => t.name === mapping.table);
      const at = (column: string): number => table?.columns.indexOf(column) ?? -1;
      const { where } = mapping;
      const rows = (table?.rows ?? []).filter((r) => where === null || (r[at(where.column)] as number) < where.n);
      this.#things.set(
        mapping.name,
        rows.map((r) => ({ mapping, values: new Map(mapping.columns.map((c) => [c.as, r[at(c.column)] as number])) })),
      );
    }
  }

  /** All answers as one text: if two sets of tables have equal texts, the caller cannot distinguish them. */
  all(): string {
    return JSON.stringify(this.#spec.concepts.filter((c) => this.#reads(c.name)).map((c) => [c.name, this.answers(c.name)]));
  }

  /** The rows of a concept with their values and the targets of its relationships; null: refused. */
  answers(concept: string): readonly string[] | null {
    if (this.#isRefused(concept)) return null;
    const props = this.#propsOf(concept);
    const multi = this.#multiOf(concept);
    const below = this.#spec.concepts.filter((c) => c.logic !== null && c.name !== concept && this.#isA(c.name, concept) && this.#reads(c.name));
    const rels = this.#relsOf(concept);
    return this.rows(concept)
      .map((t) =>
        JSON.stringify([
          t.mapping.concept,
          props.map((p) => this.#value(t, concept, p)),
          below.map((c) => (this.#isRefused(c.name) ? null : this.rows(c.name).includes(t))),
          multi.map((p) => this.#values(t, concept, p)),
          rels.flatMap(({ rel, back, from, to }) =>
            [to, ...this.#below(to)]
              .filter((d) => this.#reads(d) && !this.#isRefused(d))
              .map((d) => [back ? inverseOf(rel.name) : rel.name, d, this.#matches(t, concept, rel, back, from, d).sort()]),
          ),
        ]),
      )
      .sort();
  }

  /** The rows of a concept that the caller sees. */
  rows(concept: string): readonly Thing[] {
    const { mappings, when } = this.#source(concept);
    const all = mappings.flatMap((m) => this.#things.get(m.name) ?? []);
    return all.filter((t) => this.#sees(t) && when.every((w) => this.#satisfies(w.cond, t, w.source, false)));
  }

  /** A value that is computed once for these words. */
  #once<T>(make: () => T, ...words: readonly string[]): T {
    const key = words.join(' ');
    if (!this.#known.has(key)) this.#known.set(key, make());
    return this.#known.get(key) as T;
  }

  /** Whether some policy applies to rows of a table, or to values of them. */
  isCovered(table: string): boolean {
    const ends = this.#spec.mappings.filter((m) => m.table === table).flatMap((m) => (m.kind === 'concept' ? [m] : this.#joinedWith(m)));
    return this.#policies.some((p) =>
      ends.some((m) => (p.concept === null ? m.columns.some((c) => p.kind === 'mask' && c.as === p.prop) : this.#covers(p.concept, m))),
    );
  }

  /** A joined mapping, and the mappings of the rows that it joins. */
  #joinedWith(m: Mapping): readonly Mapping[] {
    return [m, ...[m.concept, ...(m.far === null ? [] : [m.far.concept])].flatMap((c) => this.#source(c).mappings)];
  }

  #reads(concept: string): boolean {
    return this.#viewer.reads === null || this.#viewer.reads.has(concept);
  }

  #ancestorsOf(name: string): ReadonlySet<string> {
    let found = this.#ancestors.get(name);
    if (found === undefined) {
      const parents = this.#concepts.get(name)?.parents ?? [];
      found = new Set(parents.flatMap((p) => [p, ...this.#ancestorsOf(p)]));
      this.#ancestors.set(name, found);
    }
    return found;
  }

  #isA(name: string, other: string): boolean {
    return name === other || this.#ancestorsOf(name).has(other);
  }

  #below(name: string): readonly string[] {
    return this.#once(() => this.#spec.concepts.filter((c) => c.name !== name && this.#isA(c.name, name)).map((c) => c.name), 'below', name);
  }

  #lineage(name: string): readonly Concept[] {
    return this.#once(() => [name, ...this.#ancestorsOf(name)].flatMap((n) => this.#concepts.get(n) ?? []), 'lineage', name);
  }

  #propsOf(name: string): readonly string[] {
    return this.#once(() => [...new Set(this.#lineage(name).flatMap((c) => c.props))].sort(), 'props', name);
  }

  #multiOf(name: string): readonly string[] {
    return [...new Set(this.#lineage(name).flatMap((c) => c.multi))].sort();
  }

  #mappingsInto(names: readonly string[]): readonly Mapping[] {
    return this.#spec.mappings.filter((m) => m.kind === 'concept' && names.includes(m.concept));
  }

  #source(name: string): Source {
    return this.#once(() => this.#findSource(name), 'source', name);
  }

  #findSource(name: string): Source {
    const concept = this.#concepts.get(name);
    if (concept?.logic) {
      const { mappings, when } = this.#source(concept.logic.source);
      return { mappings, when: [concept.logic, ...when] };
    }
    const own = this.#mappingsInto([name, ...this.#below(name)]);
    if (own.length > 0) return { mappings: own, when: [] };
    // the nearest mapped ancestors
    const found: Mapping[] = [];
    const logic: string[] = [];
    const queue = new Set(concept?.parents ?? []);
    for (const up of queue) {
      const mapped = this.#mappingsInto([up]);
      if (this.#concepts.get(up)?.logic) logic.push(up);
      else if (mapped.length > 0) found.push(...mapped);
      else for (const p of this.#concepts.get(up)?.parents ?? []) queue.add(p);
    }
    if (found.length === 0 && logic[0] !== undefined) return this.#source(logic[0]);
    return { mappings: found, when: [] };
  }

  #has(concept: string, prop: string): boolean {
    return this.#propsOf(concept).includes(prop);
  }

  /** A value of a row that is read through a concept, as the caller gets it; `truth`: the true value. */
  #value(t: Thing, through: string, name: string, truth = false): Value {
    const def = this.#props.get(name);
    const mapped = t.mapping.concept;
    if (def === undefined || !(this.#has(mapped, name) || (def.expr !== null && this.#has(through, name)))) return null;
    if (!truth && this.#masksOn(t.mapping, name).some((m) => this.#concerns(m, t))) return null;
    if (def.expr === null) return t.values.get(name) ?? null;
    return this.#computed(def.expr, t, through, truth);
  }

  #computed(e: Expr, t: Thing, through: string, truth: boolean): Value {
    if (e.k === 'true') return true;
    const value = 'prop' in e ? this.#value(t, through, e.prop, truth) : null;
    if (value === null) return null;
    if (e.k === 'flag') return value;
    if (e.k === 'sum') return Number(value) + e.n;
    return e.k === 'is' ? (e.op === '<' ? Number(value) < e.n : value === e.n) : null;
  }

  /** Masks that apply to the caller, on a property in the rows of a mapping. */
  #masksOn(mapping: Mapping, prop: string): readonly Extract<Policy, { kind: 'mask' }>[] {
    return this.#once(
      () =>
        this.#policies.flatMap((p) => {
          if (p.kind !== 'mask' || p.prop !== prop || p.except.includes(this.#viewer.name)) return [];
          return p.concept === null || this.#covers(p.concept, mapping) ? [p] : [];
        }),
      'masks',
      mapping.name,
      prop,
    );
  }

  #covers(concept: string, mapping: Mapping): boolean {
    return this.#once(() => this.#findCovers(concept, mapping), 'covers', concept, mapping.name);
  }

  #findCovers(concept: string, mapping: Mapping): boolean {
    return this.#mappingsInto([concept, ...this.#below(concept)]).includes(mapping) || this.#source(concept).mappings.includes(mapping);
  }

  /** Whether a mask applies to a row; if a condition reads more than the row, it applies to every row. */
  #concerns(mask: Extract<Policy, { kind: 'mask' }>, t: Thing): boolean {
    if (mask.concept === null || this.#mappingsInto([mask.concept, ...this.#below(mask.concept)]).includes(t.mapping)) return true;
    const { when } = this.#source(mask.concept);
    if (when.some((w) => w.cond.k === 'far' || w.cond.k === 'in')) return true;
    return when.every((w) => this.#computed(w.cond, t, t.mapping.concept, true) === true);
  }

  /** Whether a property is masked for the caller in some row of a concept, or calculated from one that is. */
  #isMaskedIn(concept: string, prop: string): boolean {
    if (this.#source(concept).mappings.some((m) => this.#masksOn(m, prop).length > 0)) return true;
    if (this.#policies.some((p) => p.kind === 'mask' && p.prop === prop && p.concept === null && !p.except.includes(this.#viewer.name))) return true;
    const expr = this.#props.get(prop)?.expr;
    return expr != null && 'prop' in expr && this.#isMaskedIn(concept, expr.prop);
  }

  /** Whether values that are masked for the caller select the rows of a concept. */
  #isRefused(concept: string): boolean {
    return this.#once(() => this.#findRefused(concept), 'refused', concept);
  }

  #findRefused(concept: string): boolean {
    if (this.#viewer.isAnswered) return false;
    return this.#source(concept).when.some(({ source, cond }) => {
      if (cond.k === 'far') return this.#isMaskedIn(cond.target, cond.prop);
      return 'prop' in cond && this.#isMaskedIn(source, cond.prop);
    });
  }

  /** Whether the row policies admit a row for the caller. */
  #sees(t: Thing): boolean {
    let seen = this.#visible.get(t);
    if (seen === undefined) {
      const rules = Map.groupBy(
        this.#policies.filter((p) => p.kind === 'row'),
        (p) => p.concept,
      );
      seen = [...rules].every(
        ([concept, all]) =>
          !this.#isOne(t, concept) || all.some((p) => (p.to === 'public' || p.to.includes(this.#viewer.name)) && this.#satisfies(p.cond, t, concept, true)),
      );
      this.#visible.set(t, seen);
    }
    return seen;
  }

  /** Whether a row is an instance of a concept. */
  #isOne(t: Thing, concept: string): boolean {
    if (this.#mappingsInto([concept, ...this.#below(concept)]).includes(t.mapping)) return true;
    const { mappings, when } = this.#source(concept);
    return mappings.includes(t.mapping) && when.every((w) => this.#satisfies(w.cond, t, w.source, true));
  }

  /** Whether a row, read as a concept, meets a condition; `truth`: over all rows. */
  #satisfies(e: Expr, t: Thing, concept: string, truth: boolean): boolean {
    const through = t.mapping.concept;
    if (e.k === 'in') {
      const value = this.#value(t, through, e.prop, true);
      const { mappings, when } = this.#source(e.concept);
      const others = mappings.flatMap((m) => this.#things.get(m.name) ?? []).filter((x) => when.every((w) => this.#satisfies(w.cond, x, w.source, true)));
      return value !== null && Number(value) < e.n && others.some((x) => this.#value(x, e.concept, e.of, true) === value);
    }
    if (e.k !== 'far') return this.#computed(e, t, through, true) === true;
    const found = this.#relsOf(concept).find((r) => r.rel.name === e.rel && r.back === e.back);
    if (found === undefined) return false;
    return this.#reached(t, through, found.rel, e.back, found.from, e.target, truth).some(({ thing }) => {
      const value = this.#value(thing, e.target, e.prop, true);
      return value !== null && (e.op === '<' ? Number(value) < e.n : value === e.n);
    });
  }

  /** The relationships that a concept has, in both directions. */
  #relsOf(name: string): readonly { readonly rel: Rel; readonly back: boolean; readonly from: string; readonly to: string }[] {
    return this.#once(
      () =>
        this.#spec.concepts.flatMap((c) =>
          c.rels.flatMap((rel) => [
            ...(this.#isA(name, c.name) ? [{ rel, back: false, from: c.name, to: rel.target }] : []),
            ...(this.#isA(name, rel.target) ? [{ rel, back: true, from: rel.target, to: c.name }] : []),
          ]),
        ),
      'rels',
      name,
    );
  }

  /** The rows that a relationship leads to from a row, joined by true values. */
  #reached(
    t: Thing,
    through: string,
    rel: Rel,
    back: boolean,
    _from: string,
    target: string,
    truth: boolean,
  ): readonly { readonly thing: Thing; readonly link: string }[] {
    const { mappings, when } = this.#source(target);
    const all = mappings.flatMap((m) => this.#things.get(m.name) ?? []);
    const ends = truth
      ? all.filter((x) => when.every((w) => this.#satisfies(w.cond, x, w.source, true)))
      : all.filter((x) => this.#sees(x) && when.every((w) => this.#satisfies(w.cond, x, w.source, false)));
    if (rel.kind === 'fk') {
      const [here, there] = back ? [rel.references, rel.source] : [rel.source, rel.references];
      const value = this.#value(t, through, here, true);
      return value === null ? [] : ends.filter((x) => this.#value(x, target, there, true) === value).map((thing) => ({ thing, link: '' }));
    }
    return this.#spec.mappings.flatMap((m) => {
      if (m.kind !== 'link' || m.rel !== rel.name || m.near === null || m.far === null) return [];
      const [here, mine, there, other] = back ? [m.far.references, 'b', m.near, 'a'] : [m.near, 'a', m.far.references, 'b'];
      const value = this.#value(t, through, here, true);
      const links = (this.#things.get(m.name) ?? []).filter((l) => value !== null && l.values.get(mine) === value);
      const ofLink = (l: Thing): string =>
        JSON.stringify(
          [...l.values]
            .filter(([name]) => name !== 'a' && name !== 'b')
            .map(([name, v]) => (this.#isMaskedJoined([_from, back ? this.#ownerOf(rel) : rel.target], name) ? null : v)),
        );
      return links.flatMap((l) => ends.filter((x) => this.#value(x, target, there, true) === l.values.get(other)).map((thing) => ({ thing, link: ofLink(l) })));
    });
  }

  #ownerOf(rel: Rel): string {
    return this.#spec.concepts.find((c) => c.rels.includes(rel))?.name ?? '';
  }

  /** Whether a value that is joined to rows of these concepts with the name of a property is masked. */
  #isMaskedJoined(concepts: readonly string[], name: string): boolean {
    if (!this.#props.has(name)) return false;
    const isFor = (p: Policy): p is Extract<Policy, { kind: 'mask' }> => p.kind === 'mask' && p.prop === name && !p.except.includes(this.#viewer.name);
    return this.#policies.some(
      (p) => isFor(p) && (p.concept === null || concepts.some((c) => this.#source(c).mappings.some((m) => this.#covers(p.concept as string, m)))),
    );
  }

  #matches(t: Thing, through: string, rel: Rel, back: boolean, from: string, target: string): string[] {
    const props = this.#propsOf(target);
    return this.#reached(t, through, rel, back, from, target, false).map(({ thing, link }) =>
      JSON.stringify([thing.mapping.concept, props.map((p) => this.#value(thing, target, p)), link]),
    );
  }

  /** The key of a concept, with the topmost concept that has it. */
  #keyOf(name: string): { readonly prop: string; readonly holder: string } | null {
    const keyed = this.#lineage(name).filter((c) => c.key !== null);
    const [own] = keyed;
    if (own?.key == null) return null;
    const holder = keyed.find((c) => ![...this.#ancestorsOf(c.name)].some((a) => this.#concepts.get(a)?.key === own.key));
    return { prop: own.key, holder: holder?.name ?? own.name };
  }

  /** The values of a multi-valued property: one key means one row, whichever concept's mapping has its values. */
  #values(t: Thing, through: string, prop: string): readonly Value[] {
    const key = this.#keyOf(through);
    const value = key === null ? null : this.#value(t, through, key.prop, true);
    if (key === null || value === null) return [];
    const isMasked = this.#isMaskedJoined([through], prop);
    return this.#spec.mappings
      .filter((m) => m.kind === 'multi' && m.property === prop && this.#keyOf(m.concept)?.holder === key.holder)
      .flatMap((m) => this.#things.get(m.name) ?? [])
      .filter((r) => r.values.get(key.prop) === value)
      .map((r) => (isMasked ? null : (r.values.get(prop) ?? null)))
      .sort();
  }
}
