/** Random ontologies with policies, and random scripts of editors on them. */
import type { Rng } from '../../integration/differential/rng.ts';
import {
  type Concept,
  conceptText,
  type Expr,
  type Mapping,
  mappingText,
  type Policy,
  type Prop,
  propText,
  type Rel,
  type Script,
  type Spec,
  type Table,
} from './spec.ts';

export interface World {
  readonly spec: Spec;
  readonly tables: readonly Table[];
}

const PLAIN = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

/** Look-ups in a spec under construction. */
class Draft {
  readonly r: Rng;
  readonly spec: Spec;

  constructor(r: Rng, spec: Spec) {
    this.r = r;
    this.spec = spec;
  }

  concept(name: string): Concept {
    return this.spec.concepts.find((c) => c.name === name) as Concept;
  }
  lineage(name: string): readonly Concept[] {
    const c = this.spec.concepts.find((o) => o.name === name);
    return c === undefined ? [] : [c, ...c.parents.flatMap((p) => this.lineage(p))];
  }
  isA(name: string, other: string): boolean {
    return this.lineage(name).some((c) => c.name === other);
  }
  props(name: string): readonly Prop[] {
    const names = new Set(this.lineage(name).flatMap((c) => c.props));
    return this.spec.props.filter((p) => names.has(p.name));
  }
  numbers(name: string): readonly string[] {
    return this.props(name).flatMap((p) => (p.type === 'bigint' ? [p.name] : []));
  }
  key(name: string): string | null {
    return this.lineage(name).find((c) => c.key !== null)?.key ?? null;
  }

  condition(concept: string, policy: boolean): Expr {
    const { r } = this;
    const numbers = this.numbers(concept);
    const flags = this.props(concept).filter((p) => p.type === 'boolean');
    const rels = this.spec.concepts.flatMap((c) =>
      c.rels.flatMap((rel) => [
        ...(this.isA(concept, c.name) ? [{ rel: rel.name, back: false, target: rel.target }] : []),
        ...(this.isA(concept, rel.target) && !this.isA(concept, c.name) ? [{ rel: rel.name, back: true, target: c.name }] : []),
      ]),
    );
    if (rels.length > 0 && r.chance(30)) {
      const way = r.pick(rels);
      const far = this.numbers(way.target);
      if (far.length > 0) return { k: 'far', ...way, prop: r.pick(far), op: r.pick(['<', '=']), n: r.int(1, 3) };
    }
    if (flags.length > 0 && r.chance(40)) return { k: 'flag', prop: r.pick(flags).name };
    const other = r.pick(this.spec.concepts).name;
    if (policy && numbers.length > 0 && this.numbers(other).length > 0 && r.chance(15))
      return { k: 'in', prop: r.pick(numbers), concept: other, of: r.pick(this.numbers(other)), n: r.int(1, 4) };
    return numbers.length > 0 ? { k: 'is', prop: r.pick(numbers), op: r.pick(['<', '<', '=']), n: r.int(1, 3) } : { k: 'true' };
  }

  rel(name: string, from: string): Rel | undefined {
    const { r } = this;
    const target = r.pick(this.spec.concepts.filter((c) => this.numbers(c.name).length > 0));
    if (target === undefined || this.numbers(from).length === 0) return undefined;
    return { name, kind: 'fk', target: target.name, source: r.pick(this.numbers(from)), references: r.pick(this.numbers(target.name)) };
  }

  /** A separate table and a mapping of it into a concept; `extra`: columns that are not properties of it. */
  mapping(concept: string, name: string, table: string): { readonly mapping: Mapping; readonly table: Table } {
    const { r } = this;
    const plain = this.props(concept).filter((p) => p.expr === null);
    const others = PLAIN.filter((p) => !plain.some((q) => q.name === p));
    const ids = r.some([1, 2, 3, 4], r.int(2, 4));
    const columns = ['id', 'x0', 'x1', 'x2'];
    const rows = ids.map((id) => [id, r.int(0, 3), r.int(0, 3), r.int(0, 3)]);
    const as = plain.map((p, i) => ({ column: p.name === this.key(concept) ? 'id' : `x${i % 3}`, as: p.name }));
    const alias = others.length > 0 && r.chance(40) ? [{ column: r.pick(columns), as: r.pick(others) }] : [];
    const where = r.chance(15) ? { column: 'id', n: 4 } : null;
    const mapping: Mapping = { name, kind: 'concept', table, concept, property: null, rel: null, near: null, far: null, columns: [...as, ...alias], where };
    return { mapping, table: { name: table, columns, rows } };
  }
}

const calculated = (r: Rng, name: string, inputs: readonly string[]): Prop => {
  const prop = r.pick(inputs);
  if (name.startsWith('f'))
    return { name, type: 'boolean', multi: false, expr: r.chance(10) ? { k: 'true' } : { k: 'is', prop, op: r.pick(['<', '=']), n: r.int(1, 3) } };
  return { name, type: 'bigint', multi: false, expr: { k: 'sum', prop, n: r.int(0, 2) } };
};

export function genWorld(r: Rng): World {
  const props: Prop[] = [...['id', 'kid', ...PLAIN].map((name) => ({ name, type: 'bigint' as const, multi: false, expr: null }))];
  props.push(calculated(r, 'f0', ['p0', 'p1']), calculated(r, 's0', ['p0', 'p1']), { name: 'v0', type: 'bigint', multi: true, expr: null });
  const concept = (name: string, parents: readonly string[], own: readonly string[], key: string | null = null): Concept => ({
    name,
    parents,
    props: own,
    multi: [],
    key,
    rels: [],
    logic: null,
  });
  let concepts: Concept[] = [
    concept('c0', [], ['id', 'p0', 'p1', ...(r.chance(70) ? ['f0'] : []), ...(r.chance(40) ? ['s0'] : [])], 'id'),
    concept('c1', ['c0'], r.some(['p2', 'p3'], r.int(0, 2))),
    concept('c2', [r.pick(['c0', 'c1'])], r.some(['p3', 'p4'], r.int(0, 2))),
    concept('k0', [], ['kid', ...r.some(['p4', 'p5'], r.int(1, 2))], 'kid'),
    concept('x0', [], r.some(['p2', 'p5'], r.int(1, 2))),
  ];
  const draft = (): Draft => new Draft(r, { props, concepts, mappings: [] });
  const change = (name: string, by: Partial<Concept>): void => {
    concepts = concepts.map((c) => (c.name === name ? { ...c, ...by } : c));
  };
  if (r.chance(60)) {
    const source = r.pick(['c0', 'c1', 'c2']);
    concepts.push({ ...concept('l0', [source], []), logic: { source, cond: draft().condition(source, false) } });
  }
  if (r.chance(40)) concepts.push(concept('u0', [r.pick(concepts.filter((c) => c.name !== 'x0').map((c) => c.name))], []));
  for (let i = r.int(0, 2); i > 0; i--) {
    const from = r.pick(['c0', 'c1', 'k0']);
    const rel = draft().rel(`r${i}`, from);
    if (rel !== undefined) change(from, { rels: [...(concepts.find((c) => c.name === from)?.rels ?? []), rel] });
  }
  const tables: Table[] = [];
  const mappings: Mapping[] = [];
  for (const name of ['c0', 'c1', 'c2', 'k0', 'x0']) {
    if (name !== 'k0' && !r.chance(name === 'c0' ? 40 : 75)) continue;
    const made = draft().mapping(name, `m_${name}`, `t_${name}`);
    mappings.push(made.mapping);
    tables.push(made.table);
  }
  if (r.chance(40)) {
    const into = r.pick(['c0', 'c1']);
    change(into, { multi: ['v0'] });
    tables.push({ name: 't_v0', columns: ['id', 'v'], rows: [1, 2, 3, 4].map((id) => [id, r.int(0, 3)]) });
    mappings.push({
      name: 'm_v0',
      kind: 'multi',
      table: 't_v0',
      concept: into,
      property: 'v0',
      rel: null,
      near: null,
      far: null,
      columns: [
        { column: 'id', as: 'id' },
        { column: 'v', as: 'v0' },
      ],
      where: null,
    });
  }
  if (r.chance(40)) {
    const from = r.pick(['c0', 'c1']);
    const near = r.pick(draft().numbers(from));
    change(from, { rels: [...(concepts.find((c) => c.name === from)?.rels ?? []), { name: 'y0', kind: 'link', target: 'k0', source: '', references: '' }] });
    tables.push({ name: 't_y0', columns: ['a', 'b', 'w'], rows: [1, 2, 3].map((a) => [a, r.int(1, 4), r.int(0, 3)]) });
    const columns = [
      { column: 'a', as: 'a' },
      { column: 'b', as: 'b' },
      { column: 'w', as: r.pick(['w', 'p0', 'p4']) },
    ];
    mappings.push({
      name: 'm_y0',
      kind: 'link',
      table: 't_y0',
      concept: from,
      property: null,
      rel: 'y0',
      near,
      far: { concept: 'k0', references: 'kid' },
      columns,
      where: null,
    });
  }
  return { spec: { props, concepts, mappings }, tables };
}

export function genPolicies(r: Rng, spec: Spec): Policy[] {
  const draft = new Draft(r, spec);
  const rows = Array.from({ length: r.pick([0, 1, 1, 2, 2]) }, (_, i): Policy => {
    const concept = r.pick(spec.concepts).name;
    return { kind: 'row', name: `row${i}`, concept, cond: draft.condition(concept, true), to: r.chance(60) ? 'public' : [r.pick(['u1', 'u2', 'ed'])] };
  });
  const masks = Array.from({ length: r.pick([0, 1, 1, 2]) }, (_, i): Policy => {
    const prop = r.pick(spec.props.filter((p) => spec.concepts.some((c) => [...c.props, ...c.multi].includes(p.name))));
    const owners = spec.concepts.filter((c) => [...draft.lineage(c.name)].some((a) => [...a.props, ...a.multi].includes(prop.name)));
    return {
      kind: 'mask',
      name: `mask${i}`,
      prop: prop.name,
      concept: r.chance(50) ? null : r.pick(owners).name,
      except: r.chance(25) ? [r.pick(['u1', 'u2', 'ed'])] : [],
    };
  });
  return [...rows, ...masks];
}

/** One change of a spec, as a statement and as the resulting spec; undefined: there is nothing to change in that way. */
type Step = (d: Draft, fresh: string, readsTables: boolean) => { readonly text: string; readonly after: Spec } | undefined;

const replaced = (spec: Spec, c: Concept): { readonly text: string; readonly after: Spec } => {
  const after = {
    ...spec,
    concepts: spec.concepts.some((o) => o.name === c.name) ? spec.concepts.map((o) => (o.name === c.name ? c : o)) : [...spec.concepts, c],
  };
  return { text: conceptText(after, c), after };
};

const STEPS: readonly Step[] = [
  // other parents, with the inherited properties as its own
  (d) => {
    const c = d.r.pick(d.spec.concepts);
    const others = d.spec.concepts.filter((o) => !d.isA(o.name, c.name)).map((o) => o.name);
    const parents = d.r.chance(50) ? [] : d.r.some(others, d.r.int(1, 2));
    const lost = d.props(c.name).map((p) => p.name);
    const kept = new Set(parents.flatMap((p) => d.props(p).map((q) => q.name)));
    const key = parents.some((p) => d.key(p) !== null) ? null : d.key(c.name);
    return replaced(d.spec, { ...c, parents, key, props: lost.filter((p) => !kept.has(p)), logic: parents.length > 0 ? c.logic : null });
  },
  // more or fewer properties
  (d) => {
    const c = d.r.pick(d.spec.concepts);
    const more = d.spec.props.filter((p) => !p.multi && !d.props(c.name).includes(p) && p.name !== 'id' && p.name !== 'kid').map((p) => p.name);
    const props = d.r.chance(70) && more.length > 0 ? [...c.props, d.r.pick(more)] : c.props.filter((p) => p === c.key || d.r.chance(60));
    return replaced(d.spec, { ...c, props });
  },
  // another condition, or none
  (d) => {
    const logic = d.spec.concepts.filter((c) => c.logic !== null);
    if (logic.length === 0) return undefined;
    const c = d.r.pick(logic);
    const source = c.logic?.source ?? '';
    return replaced(d.spec, { ...c, logic: d.r.chance(20) ? null : { source, cond: d.condition(source, false) } });
  },
  // one more relationship, another one, or one fewer
  (d, fresh) => {
    const c = d.r.pick(d.spec.concepts);
    const rel = d.rel(fresh, c.name);
    if (rel === undefined) return undefined;
    const at = c.rels.findIndex((o) => o.kind === 'fk');
    if (at >= 0 && d.r.chance(40)) return replaced(d.spec, { ...c, rels: c.rels.map((o, i) => (i === at ? { ...rel, name: o.name } : o)) });
    return replaced(d.spec, { ...c, rels: [...c.rels, rel] });
  },
  // multi-valued properties and links of others
  (d) => {
    const c = d.r.pick(d.spec.concepts);
    const holder = d.spec.concepts.find((o) => o.rels.some((x) => x.kind === 'link'));
    const link = holder?.rels.find((x) => x.kind === 'link');
    if (holder !== undefined && link !== undefined && d.r.chance(40) && holder !== c && d.isA(holder.name, c.name)) {
      const first = replaced(d.spec, { ...c, rels: [...c.rels, link] });
      const second = replaced(first.after, { ...holder, rels: holder.rels.filter((x) => x !== link) });
      return { text: `${first.text};\n${second.text}`, after: second.after };
    }
    return replaced(d.spec, { ...c, multi: c.multi.length > 0 ? [] : ['v0'] });
  },
  // a new concept
  (d, fresh) => {
    const parent = d.r.pick(d.spec.concepts).name;
    const base: Concept = { name: `n${fresh}`, parents: [parent], props: [], multi: [], key: null, rels: [], logic: null };
    const rel = d.r.chance(50) ? d.rel(fresh, parent) : undefined;
    const logic = d.r.chance(50) ? { source: parent, cond: d.condition(parent, false) } : null;
    return replaced(d.spec, { ...base, rels: rel === undefined ? [] : [rel], logic });
  },
  // a property that is calculated differently, or no longer plain
  (d) => {
    const old = d.r.pick(d.r.chance(75) ? d.spec.props.filter((p) => p.expr !== null) : d.spec.props.filter((p) => !p.multi && p.name.startsWith('p')));
    const p = { ...calculated(d.r, old.type === 'boolean' ? 'f' : 's', ['p0', 'p1', 'id']), name: old.name };
    return { text: propText(p), after: { ...d.spec, props: d.spec.props.map((o) => (o === old ? p : o)) } };
  },
  // one mapping fewer
  (d) => {
    if (d.spec.mappings.length === 0) return undefined;
    const m = d.r.pick(d.spec.mappings);
    return { text: `DROP MAPPING ${m.name}`, after: { ...d.spec, mappings: d.spec.mappings.filter((o) => o !== m) } };
  },
  // a mapping with other columns, other rows, or another concept
  (d, _, readsTables) => {
    const own = d.spec.mappings.filter((m) => m.kind === 'concept');
    if (!readsTables || own.length === 0) return undefined;
    const m = d.r.pick(own);
    const by = d.r.pick<Partial<Mapping>>([
      { where: null },
      { where: { column: 'x0', n: 2 } },
      { columns: m.columns.map((c) => ({ ...c, column: c.column === 'x0' ? 'x1' : c.column })) },
      { concept: d.r.pick(d.spec.concepts).name },
    ]);
    const made = { ...m, ...by };
    return { text: mappingText(made), after: { ...d.spec, mappings: d.spec.mappings.map((o) => (o === m ? made : o)) } };
  },
  // a new mapping of an unmapped table
  (d, fresh, readsTables) => {
    if (!readsTables) return undefined;
    const { mapping } = d.mapping(d.r.pick(d.spec.concepts).name, `m_${fresh}`, `t_new${fresh[1]}`);
    return { text: mappingText({ ...mapping, where: null }), after: { ...d.spec, mappings: [...d.spec.mappings, { ...mapping, where: null }] } };
  },
  // one concept fewer
  (d) => {
    const c = d.r.pick(d.spec.concepts);
    return { text: `DROP CONCEPT ${c.name}`, after: { ...d.spec, concepts: d.spec.concepts.filter((o) => o !== c) } };
  },
];

/** The tables for new mappings, one for each script. */
export const NEW_TABLES: readonly Table[] = [1, 2, 3].map((i) => ({
  name: `t_new${i}`,
  columns: ['id', 'x0', 'x1', 'x2'],
  rows: [1, 2, 3, 4].map((id) => [id, 0, id % 4, i]),
}));

/** A script of up to three changes; `fresh`: `f` and its number. */
export function genScript(r: Rng, spec: Spec, fresh: string, readsTables: boolean): Script {
  const texts: string[] = [];
  let after = spec;
  for (let i = r.pick([1, 1, 1, 2, 3]); i > 0; i--) {
    const step = r.pick(STEPS)(new Draft(r, after), `${fresh}${i}`, readsTables);
    if (step === undefined) continue;
    texts.push(step.text);
    after = step.after;
  }
  return { text: texts.join(';\n'), after };
}
