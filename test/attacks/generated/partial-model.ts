/** Random ontologies with inheritance, and random grants on parts of them. */
import type { Rng } from '../../integration/differential/rng.ts';
import { costly } from './costly.ts';

export interface PartConcept {
  readonly name: string;
  readonly parents: readonly string[];
  readonly props: readonly string[];
  readonly measures: readonly string[];
  readonly multi: boolean;
  readonly label: string | null;
  /** FOREIGN KEY (source) REFERENCES target (its key). */
  readonly rel: { readonly name: string; readonly source: string; readonly target: string } | null;
  readonly link: boolean;
  readonly logic: { readonly source: string; readonly prop: string; readonly at: number } | null;
}
/** Rows of a table whose `kind` is among these, with a column for each plain property. */
export interface PartMapping {
  readonly name: string;
  readonly concept: string;
  readonly table: number;
  readonly kinds: readonly string[] | null;
  readonly columns: Readonly<Record<string, string>>;
}
export interface PartView {
  readonly name: string;
  readonly concept: string;
  readonly props: readonly string[];
  readonly at: number;
  readonly cube: boolean;
}
export interface PartModel {
  readonly concepts: readonly PartConcept[];
  readonly mappings: readonly PartMapping[];
  readonly views: readonly PartView[];
  /** The concept into which the multi-valued property is mapped, if there is one. */
  readonly multiInto: string | null;
  /** A row policy for everyone: those rows of the concept above a number. */
  readonly policy: { readonly concept: string; readonly prop: string; readonly at: number } | null;
  /** A mask of a property for everyone, in all rows or in those of one concept. */
  readonly mask: { readonly prop: string; readonly concept: string | null; readonly kind: string } | null;
  /** Calculated properties over paths: the name and the expression. */
  readonly paths: readonly (readonly [string, string])[];
  /** Whether two of the tables have the same keys. */
  readonly twins: boolean;
}
export interface Grants {
  readonly reads: ReadonlySet<string>;
  readonly sees: ReadonlySet<string>;
  readonly views: ReadonlySet<string>;
}

/** Plain properties: their type, and the columns of a table that may contain them. */
export const PROPS: Readonly<Record<string, { readonly type: string; readonly columns: readonly string[] }>> = {
  n0: { type: 'bigint', columns: ['n0', 'n0', 'z'] },
  n1: { type: 'bigint', columns: ['n1', 'n1', 'n0'] },
  s0: { type: 'string', columns: ['s0', 's0', 's1'] },
  s1: { type: 'string', columns: ['s1'] },
  d0: { type: 'decimal(10,2)', columns: ['d0'] },
  t0: { type: 'date', columns: ['t0'] },
  e0: { type: 'float', columns: ['e', 'e', 'e', 'w'] },
  r0: { type: 'bigint', columns: ['r0'] },
  r1: { type: 'bigint', columns: ['r1'] },
};
/** Calculated ones: the properties that they read. */
export const CALCULATED: Readonly<Record<string, readonly string[]>> = { f0: ['n0'], g0: ['s0', 'n1'], h0: ['n0', 'n1'] };
export const MEASURES = { q0: 'n0', q1: 's0', q2: 'd0', q3: 'n1' } as const;
/** The rows of the table with an index: six rows. */
export const KINDS = ['x', 'x', 'y', 'y', 'w', 'w'] as const;
export const TABLE_COUNT = 7;
export const idOf = (table: number, row: number): number => table * 10 + row + 1;

export class Shape {
  readonly model: PartModel;
  constructor(model: PartModel) {
    this.model = model;
  }
  concept(name: string): PartConcept {
    return this.model.concepts.find((c) => c.name === name) as PartConcept;
  }
  /** The concept and its ancestors. */
  lineage(name: string): readonly PartConcept[] {
    const c = this.concept(name);
    return [...new Set([c, ...c.parents.flatMap((p) => this.lineage(p))])];
  }
  isA(name: string, other: string): boolean {
    return this.lineage(name).some((c) => c.name === other);
  }
  props(name: string): readonly string[] {
    return [...new Set(this.lineage(name).flatMap((c) => c.props))];
  }
  /** The properties of an instance from which a value of the property is computed. */
  inputs(into: string, prop: string): readonly string[] {
    return (CALCULATED[prop] ?? [prop]).filter((p) => this.props(into).includes(p));
  }
  /** The mappings of the concept's rows, and the logic conditions that the rows must meet. */
  rows(name: string): { readonly mappings: readonly PartMapping[]; readonly when: readonly NonNullable<PartConcept['logic']>[] } {
    const { logic } = this.concept(name);
    if (logic !== null) {
      const source = this.rows(logic.source);
      return { mappings: source.mappings, when: [...source.when, logic] };
    }
    const own = this.model.mappings.filter((m) => this.isA(m.concept, name));
    if (own.length > 0) return { mappings: own, when: [] };
    const logics = new Set<string>();
    const nearest = (at: string): readonly PartMapping[] =>
      this.concept(at).parents.flatMap((p) => {
        if (this.concept(p).logic !== null) {
          logics.add(p);
          return [];
        }
        const found = this.model.mappings.filter((m) => m.concept === p);
        return found.length > 0 ? found : nearest(p);
      });
    const mapped = [...new Set(nearest(name))];
    if (mapped.length > 0) return { mappings: mapped, when: [] };
    // without a mapped ancestor: the rows of a logic concept above that are rows of its ancestors
    for (const above of logics) {
      const { mappings, when } = this.rows(above);
      const part = mappings.filter((m) => this.isA(name, m.concept));
      if (part.length > 0) return { mappings: part, when };
    }
    return { mappings: [], when: [] };
  }
}

export function genModel(r: Rng): PartModel {
  const plain = Object.keys(PROPS).filter((p) => !p.startsWith('r'));
  const own = (n: number): string[] => {
    const calculated = r.some(Object.keys(CALCULATED), r.chance(35) ? 1 : 0);
    const read = calculated.flatMap((p) => CALCULATED[p] ?? []);
    return [...new Set([...r.some(plain, n), ...r.some(['r0', 'r1'], r.int(0, 1)), ...read, ...calculated])];
  };
  const make = (name: string, parents: readonly string[], props: readonly string[], more: Partial<PartConcept> = {}): PartConcept => ({
    name,
    parents,
    props,
    measures: [],
    multi: false,
    label: null,
    rel: null,
    link: false,
    logic: null,
    ...more,
  });
  let concepts: PartConcept[] = [
    make('a0', [], ['id', ...own(r.int(0, 2))]),
    make('a1', ['a0'], own(r.int(0, 3))),
    make('a2', [r.pick(['a0', 'a1'])], own(r.int(0, 3))),
    make('a3', [r.pick(['a1', 'a2'])], own(r.int(0, 2))),
    make('a4', r.chance(25) ? ['a1', 'a3'] : [r.pick(['a0', 'a2', 'a3'])], own(r.int(0, 2))),
    make('b0', [], ['bid', ...own(r.int(1, 2))]),
    make('b1', ['b0'], own(r.int(0, 2))),
  ];
  let shape = new Shape({ concepts, mappings: [], views: [], multiInto: null, policy: null, mask: null, paths: [], twins: false });
  const change = (name: string, by: Partial<PartConcept>): void => {
    concepts = concepts.map((c) => (c.name === name ? { ...c, ...by } : c));
    shape = new Shape({ ...shape.model, concepts });
  };
  for (const c of concepts) {
    const source = ['r0', 'r1'].find((p) => c.props.includes(p));
    const taken = shape.lineage(c.name).some((a) => a.rel !== null);
    if (source !== undefined && !taken && r.chance(70))
      change(c.name, { rel: { name: `e_${c.name}`, source, target: (r.chance(50) ? r.pick(shape.lineage(c.name)) : r.pick(concepts)).name } });
  }
  const paths: [string, string][] = [];
  const related = concepts.filter((c) => c.rel !== null);
  if (related.length > 0 && r.chance(60)) {
    const { name, rel } = r.pick(related);
    const [target, path] = [rel?.target ?? '', rel?.name ?? ''];
    const numbers = (c: string): string[] => ['n0', 'n1', 'f0', 'r0'].filter((p) => shape.props(c).includes(p));
    if (numbers(target).length > 0) {
      paths.push(['k0', `"${path}[${target}].${r.pick(numbers(target))}"`]);
      change(name, { props: [...shape.concept(name).props, 'k0'] });
    }
    if (numbers(name).length > 0) {
      paths.push(['k1', `${r.pick(['SUM', 'MAX', 'COUNT'])}("${path}_back[${name}].${r.pick(numbers(name))}")`]);
      change(target, { props: [...shape.concept(target).props, 'k1'] });
    }
  }
  for (const q of r.some(Object.keys(MEASURES), r.int(0, 3))) {
    const of = MEASURES[q as keyof typeof MEASURES];
    const holders = concepts.filter((c) => concepts.some((d) => shape.isA(d.name, c.name) && d.props.includes(of)));
    if (holders.length > 0) change(r.pick(holders).name, { measures: [q] });
  }
  const multi = r.chance(70) ? r.pick(['a0', 'a1', 'a2']) : null;
  if (multi !== null) change(multi, { multi: true });
  if (r.chance(70)) change(r.pick(['a0', 'a1', 'a2']), { link: true });
  if (r.chance(50)) {
    const at = r.pick(['a0', 'a1', 'a2', 'a3']);
    const texts = ['s0', 's1'].filter((p) => shape.props(at).includes(p));
    if (texts.length > 0) change(at, { label: r.pick(texts) });
  }
  for (const name of ['l0', 'l1']) {
    const source = r.pick(['a0', 'a1', 'a2', 'a3', 'b0']);
    const numbers = ['n0', 'n1', 'f0'].filter((p) => shape.props(source).includes(p));
    if (numbers.length === 0) continue;
    const parent = r.pick(shape.lineage(source)).name;
    concepts.push(
      make(
        name,
        [parent],
        own(r.int(0, 1)).filter((p) => p !== 'r0' && p !== 'r1'),
        { logic: { source, prop: r.pick(numbers), at: r.int(1, 4) } },
      ),
    );
    shape = new Shape({ ...shape.model, concepts });
  }
  // unmapped concepts, and logic concepts on logic or unmapped ones
  const named = (...names: string[]): string[] => concepts.map((c) => c.name).filter((n) => names.includes(n));
  const plainOwn = (): string[] => own(1).filter((p) => !p.startsWith('r'));
  if (r.chance(60)) concepts.push(make('u0', [r.pick([...named('l0', 'l1', 'l0', 'l1'), 'a1', 'a2', 'a3', 'b0'])], plainOwn()));
  if (r.chance(30)) concepts.push(make('u1', [r.pick(['a3', ...named('u0', 'u0', 'l0', 'l1')])], plainOwn()));
  shape = new Shape({ ...shape.model, concepts });
  if (r.chance(50) && named('u0', 'l0', 'l1').length > 0) {
    const source = r.pick(named('u0', 'l0', 'l1'));
    const numbers = ['n0', 'n1', 'f0'].filter((p) => shape.props(source).includes(p));
    if (numbers.length > 0)
      concepts.push(make('l2', [r.pick(shape.lineage(source)).name], plainOwn(), { logic: { source, prop: r.pick(numbers), at: r.int(0, 2) } }));
  }
  shape = new Shape({ ...shape.model, concepts });
  const mappings: PartMapping[] = [];
  for (const c of concepts) {
    if (c.logic !== null || c.name.startsWith('u') || !r.chance(c.name === 'a0' ? 50 : 80)) continue;
    const shared = mappings.filter((m) => m.concept.startsWith(c.name.slice(0, 1)));
    const table = shared.length > 0 && r.chance(25) ? r.pick(shared).table : concepts.indexOf(c);
    const columns: Record<string, string> = { [c.name.startsWith('a') ? 'id' : 'bid']: 'id' };
    // some columns for properties that the concept does not have
    for (const [p, { columns: of }] of Object.entries(PROPS)) if (shape.props(c.name).includes(p) ? r.chance(90) : r.chance(30)) columns[p] = r.pick(of);
    mappings.push({ name: `m_${c.name}`, concept: c.name, table, kinds: r.chance(35) ? r.some(['x', 'y', 'w'], r.int(1, 2)) : null, columns });
  }
  const views: PartView[] = [];
  for (const [name, cube] of [
    ['w0', false],
    ['w1', false],
    ['k0', true],
  ] as const) {
    const concept = r.pick(concepts).name;
    const all = new Set(concepts.filter((c) => shape.isA(c.name, concept)).flatMap((c) => [...shape.props(c.name)]));
    const numbers = ['n0', 'n1'].filter((p) => all.has(p));
    const props = r.some(
      [...all].filter((p) => p in PROPS || p in CALCULATED),
      3,
    );
    if (numbers.length > 0) views.push({ name, concept, props: [...new Set([r.pick(numbers), ...props])], at: r.int(1, 4), cube });
  }
  const candidates = concepts.map((c) => c.name).filter((c) => shape.props(c).includes('n0'));
  const policy = r.chance(40) && candidates.length > 0 ? { concept: r.pick(candidates), prop: 'n0', at: r.int(0, 3) } : null;
  return { concepts, mappings, views, multiInto: multi, policy, mask: r.chance(40) ? genMask(r, concepts, shape) : null, paths, twins: r.chance(25) };
}

function genMask(r: Rng, concepts: readonly PartConcept[], shape: Shape): PartModel['mask'] {
  const masked = ['n1', 's1', 'd0', 't0', 'e0', 's0'].filter((p) => concepts.some((c) => c.props.includes(p)));
  if (masked.length === 0) return null;
  const prop = r.pick(masked);
  // FULL shows which texts are NULL
  const kind = r.pick(prop.startsWith('s') ? ['NULL', "WITH ('k1')"] : ['NULL', 'FULL', prop === 't0' ? "WITH ('2020-01-02'::date)" : 'WITH (3)']);
  const holders = concepts.filter((c) => shape.props(c.name).includes(prop)).map((c) => c.name);
  return { prop, concept: r.chance(50) ? r.pick(holders) : null, kind };
}

export function genGrants(r: Rng, model: PartModel): Grants {
  const reads = new Set(model.concepts.filter(() => r.chance(50)).map((c) => c.name));
  const sees = new Set(model.concepts.filter((c) => reads.has(c.name) || r.chance(12)).map((c) => c.name));
  return { reads, sees, views: new Set(model.views.filter(() => r.chance(50)).map((v) => v.name)) };
}

/** Its policies, for everyone except administrators. */
export const policiesOf = ({ policy, mask }: PartModel): readonly string[] => [
  ...(policy === null
    ? []
    : [`CREATE POLICY few ON CONCEPT ${policy.concept} TO PUBLIC USING ${costly(`${policy.prop} > ${policy.at}`, (n) => `${policy.prop} = ${-1000 - n}`)}`]),
  ...(mask === null ? [] : [`CREATE POLICY veil ON PROPERTY ${mask.prop}${mask.concept === null ? '' : ` OF CONCEPT ${mask.concept}`} MASK ${mask.kind}`]),
];

/** The statements that create it. */
export function modelText(model: PartModel): string {
  const shape = new Shape(model);
  const keyOf = (c: string): string => (shape.lineage(c).some((l) => l.name === 'a0') ? 'id' : 'bid');
  const typed = (p: string): string => `${p} ${PROPS[p]?.type ?? (p === 'g0' ? 'string' : /^[hk]/.test(p) ? 'decimal' : 'bigint')}`;
  const concept = (c: PartConcept): string => {
    const elements = [
      ...c.props.map(typed),
      ...(c.name === 'a0' ? ['PRIMARY KEY (id)'] : c.name === 'b0' ? ['PRIMARY KEY (bid)'] : []),
      ...(c.label === null ? [] : [`LABEL (${c.label})`]),
      ...c.measures.map((q) => `${q} MEASURE decimal`),
      ...(c.multi ? ['CONSTRAINT v0 MULTIVALUE bigint'] : []),
      ...(c.rel === null
        ? []
        : [
            `CONSTRAINT ${c.rel.name} FOREIGN KEY (${c.rel.source}) REFERENCES ${c.rel.target} (${keyOf(c.rel.target)}) INVERSEOF ${c.rel.name}_back${shape.isA(c.name, c.rel.target) ? ' TRANSITIVE(4)' : ''}`,
          ]),
      ...(c.link ? ['CONSTRAINT y0 MULTIREFERENCE b0 INVERSEOF y1'] : []),
    ];
    const parts = elements.length > 0 ? ` (${elements.join(', ')})` : '';
    const inherits = c.parents.length > 0 ? ` INHERITS (${c.parents.join(', ')})` : '';
    return `CREATE CONCEPT ${c.name}${parts}${inherits}${c.logic === null ? '' : ` FROM dsvc.${c.logic.source} WHERE ${c.logic.prop} > ${c.logic.at}`}`;
  };
  const link = model.concepts.find((c) => c.link);
  const where = (m: PartMapping): string => (m.kinds === null ? '' : ` WHERE kind IN (${m.kinds.map((k) => `'${k}'`).join(', ')})`);
  return [
    ...Object.keys(PROPS).map((p) => `CREATE PROPERTY ${typed(p)}`),
    'CREATE PROPERTY f0 bigint AS SELECT n0 + 1',
    "CREATE PROPERTY g0 string AS SELECT COALESCE(s0, '-') || COALESCE(CAST(n1 AS string), '')".replace('AS string', 'AS text'),
    'CREATE PROPERTY h0 decimal AS SELECT n1 / NULLIF(n0, 0)',
    ...model.paths.map(([name, expression]) => `CREATE PROPERTY ${name} decimal AS SELECT ${expression}`),
    'CREATE MEASURE q0 decimal AS SELECT SUM(n0)',
    'CREATE MEASURE q1 decimal AS SELECT COUNT(DISTINCT s0)',
    'CREATE MEASURE q2 decimal AS SELECT MAX(d0)',
    'CREATE MEASURE q3 decimal AS SELECT COUNT(n1) / (COUNT(n1) - 1)',
    ...model.concepts.map(concept),
    ...model.mappings.map(
      (m) =>
        `CREATE MAPPING ${m.name} INTO (${m.concept}) AS SELECT ${Object.entries(m.columns).map(([p, c]) => `${c} AS ${p}`)} FROM part.t${m.table}${where(m)}`,
    ),
    ...(model.multiInto === null ? [] : [`CREATE MAPPING m_multi INTO (${model.multiInto}) MULTIVALUE v0 AS SELECT id, v AS v0 FROM part.t_multi`]),
    ...(link === undefined
      ? []
      : [
          `CREATE MAPPING m_link (CONSTRAINT y0 FOREIGN KEY (b) REFERENCES b0 (bid), CONSTRAINT y1 FOREIGN KEY (a) REFERENCES ${link.name} (id)) AS SELECT a, b, w FROM part.t_link`,
        ]),
    ...model.views.map((v) =>
      v.cube
        ? `CREATE ONTOLOGY CUBE ${v.name} AS SELECT ${v.props
            .slice(1)
            .map((p) => `${p} AS ${p}, `)
            .join('')}SUM(${v.props[0]}) AS total, COUNT(*) AS n FROM dsvc.${v.concept} WHERE ${v.props[0]} > ${v.at}`
        : `CREATE VIEW ${v.name} AS SELECT entity_id AS who, ${v.props.join(', ')} FROM dsvc.${v.concept} WHERE ${v.props[0]} > ${v.at}`,
    ),
  ].join(';\n');
}
