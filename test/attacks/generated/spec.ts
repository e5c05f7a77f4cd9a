/** Small random ontologies in the test's own form, and the statements that create them. Every value is a whole number. */

/** A condition, or the value of a calculated property, over one row. */
export type Expr =
  | { readonly k: 'true' }
  | { readonly k: 'is'; readonly prop: string; readonly op: '<' | '='; readonly n: number }
  /** A calculated property that is true. */
  | { readonly k: 'flag'; readonly prop: string }
  | { readonly k: 'sum'; readonly prop: string; readonly n: number }
  /** Along a relationship, given by the concept that declares it; `back`: from its target. */
  | {
      readonly k: 'far';
      readonly rel: string;
      readonly back: boolean;
      readonly target: string;
      readonly prop: string;
      readonly op: '<' | '=';
      readonly n: number;
    }
  | { readonly k: 'in'; readonly prop: string; readonly concept: string; readonly of: string; readonly n: number };

export interface Prop {
  readonly name: string;
  readonly type: 'bigint' | 'boolean';
  readonly multi: boolean;
  readonly expr: Expr | null;
}

export interface Rel {
  readonly name: string;
  readonly kind: 'fk' | 'link';
  readonly target: string;
  readonly source: string;
  readonly references: string;
}

export interface Concept {
  readonly name: string;
  readonly parents: readonly string[];
  readonly props: readonly string[];
  readonly multi: readonly string[];
  readonly key: string | null;
  readonly rels: readonly Rel[];
  readonly logic: { readonly source: string; readonly cond: Expr } | null;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly number[])[];
}

export interface Mapping {
  readonly name: string;
  readonly kind: 'concept' | 'multi' | 'link';
  readonly table: string;
  /** The concept mapped into; of a link the near one. */
  readonly concept: string;
  /** Multi: the property. Link: the relationship, and what its columns `a` and `b` refer to. */
  readonly property: string | null;
  readonly rel: string | null;
  readonly near: string | null;
  readonly far: { readonly concept: string; readonly references: string } | null;
  readonly columns: readonly { readonly column: string; readonly as: string }[];
  readonly where: { readonly column: string; readonly n: number } | null;
}

export interface Spec {
  readonly props: readonly Prop[];
  readonly concepts: readonly Concept[];
  readonly mappings: readonly Mapping[];
}

export type Policy =
  | { readonly kind: 'row'; readonly name: string; readonly concept: string; readonly cond: Expr; readonly to: readonly string[] | 'public' }
  | { readonly kind: 'mask'; readonly name: string; readonly prop: string; readonly concept: string | null; readonly except: readonly string[] };

/** A change by an editor, and the resulting ontology. */
export interface Script {
  readonly text: string;
  readonly after: Spec;
}

export const inverseOf = (rel: string): string => `${rel}_of`;

export function exprText(e: Expr): string {
  switch (e.k) {
    case 'true':
      return 'true';
    case 'is':
      return `${e.prop} ${e.op} ${e.n}`;
    case 'flag':
      return e.prop;
    case 'sum':
      return `${e.prop} + ${e.n}`;
    case 'far':
      return `"${e.back ? inverseOf(e.rel) : e.rel}[${e.target}].${e.prop}" ${e.op} ${e.n}`;
    case 'in':
      return `${e.prop} IN (SELECT y.${e.of} FROM svc.${e.concept} y WHERE y.${e.of} < ${e.n})`;
  }
}

const relText = (r: Rel): string =>
  r.kind === 'fk'
    ? `CONSTRAINT ${r.name} FOREIGN KEY (${r.source}) REFERENCES ${r.target} (${r.references}) INVERSEOF ${inverseOf(r.name)}`
    : `CONSTRAINT ${r.name} MULTIREFERENCE ${r.target} INVERSEOF ${inverseOf(r.name)}`;

export function conceptText(spec: Spec, c: Concept, create = 'CREATE OR REPLACE'): string {
  const typeOf = (name: string): string => spec.props.find((p) => p.name === name)?.type ?? 'bigint';
  const elements = [
    ...c.props.map((p) => `${p} ${typeOf(p)}`),
    ...c.multi.map((p) => `CONSTRAINT ${p} MULTIVALUE ${typeOf(p)}`),
    ...(c.key === null ? [] : [`PRIMARY KEY (${c.key})`]),
    ...c.rels.map(relText),
  ];
  const list = elements.length > 0 ? ` (${elements.join(', ')})` : '';
  const inherits = c.parents.length > 0 ? ` INHERITS (${c.parents.join(', ')})` : '';
  return `${create} CONCEPT ${c.name}${list}${inherits}${c.logic === null ? '' : ` FROM dsvc.${c.logic.source} WHERE ${exprText(c.logic.cond)}`}`;
}

export const propText = (p: Prop, create = 'CREATE OR REPLACE'): string =>
  `${create} PROPERTY ${p.name} ${p.multi ? 'MULTIVALUE ' : ''}${p.type}${p.expr === null ? '' : ` AS SELECT ${exprText(p.expr)}`}`;

export function mappingText(m: Mapping, create = 'CREATE OR REPLACE'): string {
  const sql = `SELECT ${m.columns.map((c) => `${c.column} AS ${c.as}`).join(', ')} FROM t.${m.table}${m.where === null ? '' : ` WHERE ${m.where.column} < ${m.where.n}`}`;
  if (m.kind === 'link') {
    const ends = `CONSTRAINT ${m.rel} FOREIGN KEY (b) REFERENCES ${m.far?.concept} (${m.far?.references}), CONSTRAINT ${inverseOf(m.rel ?? '')} FOREIGN KEY (a) REFERENCES ${m.concept} (${m.near})`;
    return `${create} MAPPING ${m.name} (${ends}) AS ${sql}`;
  }
  return `${create} MAPPING ${m.name} INTO (${m.concept})${m.kind === 'multi' ? ` MULTIVALUE ${m.property}` : ''} AS ${sql}`;
}

export const specText = (spec: Spec): string =>
  [
    ...spec.props.map((p) => propText(p, 'CREATE')),
    ...spec.concepts.map((c) => conceptText(spec, c, 'CREATE')),
    ...spec.mappings.map((m) => mappingText(m, 'CREATE')),
  ].join(';\n');

export const policyText = (p: Policy): string =>
  p.kind === 'row'
    ? `CREATE POLICY ${p.name} ON CONCEPT ${p.concept} TO ${p.to === 'public' ? 'PUBLIC' : `USER ${p.to.join()}`} USING (${exprText(p.cond)})`
    : `CREATE POLICY ${p.name} ON PROPERTY ${p.prop}${p.concept === null ? '' : ` OF CONCEPT ${p.concept}`} MASK NULL${p.except.length > 0 ? ` EXCEPT USER ${p.except.join()}` : ''}`;
