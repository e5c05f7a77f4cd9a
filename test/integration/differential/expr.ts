/**
 * Queries as this test's own trees: generated, printed as SQL for the planner (print.ts) and evaluated in memory
 * (evaluate.ts). Aliases of FROM items are unique in a whole query, so that a column names its relation without scopes.
 */

export type Scalar = null | number | string | boolean;

/** What a value is; `num` is a decimal or a double, in steps of a quarter so that sums are exact in both. */
export type Kind = 'int' | 'num' | 'text' | 'bool' | 'date';

/** One hop of a path. `rel` is the declared name of the relationship (unique in a world). */
export interface Hop {
  readonly rel: string;
  /** Against the direction of the declaration. */
  readonly inv: boolean;
  /** An inverse written `~rel` though it has a name of its own. */
  readonly tilde: boolean;
  readonly bracket: string;
  /** `default`: a star without a number. */
  readonly star: null | 'default' | number;
}

export type Leaf =
  | { readonly k: 'prop'; readonly name: string }
  | { readonly k: 'entity'; readonly name: 'entity_id' | 'entity_type' | 'entity_label' }
  | { readonly k: 'multi'; readonly name: string }
  | { readonly k: 'link'; readonly name: string }
  | { readonly k: 'level' }
  | { readonly k: 'typeof'; readonly concept: string }
  /** A column of a derived table or common table expression. */
  | { readonly k: 'out'; readonly name: string };

export interface Col {
  readonly k: 'col';
  readonly rel: string;
  readonly path: readonly Hop[];
  readonly leaf: Leaf;
  readonly kind: Kind;
  /** Written in upper case. */
  readonly shout?: boolean;
  /** Written without its relation, though a select alias has the same name. */
  readonly bare?: boolean;
}

export interface Agg {
  readonly k: 'agg';
  /** array_agg is written inside array_to_string, and the argument of an ordered-set call in WITHIN GROUP. */
  readonly fn: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'bool_or' | 'bool_and' | 'string_agg' | 'array_agg' | 'percentile_disc' | 'percentile_cont' | 'mode';
  readonly distinct: boolean;
  /** null: COUNT(*). */
  readonly arg: Expr | null;
  readonly filter: Expr | null;
  readonly kind: Kind;
  /** Of string_agg and array_agg: what the values are sorted by before they are sorted by themselves. */
  readonly order?: readonly { readonly e: Expr; readonly desc: boolean }[];
  /** COUNT(*) of a query on a cube: the rows of the cube's concept. */
  readonly roots?: boolean;
}

/** A measure's column inside the aggregate that marks it: `SUM("measure.rel[c].m")`. */
export interface Mea {
  readonly k: 'mea';
  readonly fn: Wrapper;
  readonly rel: string;
  readonly path: readonly Hop[];
  readonly name: string;
  readonly filter: Expr | null;
  readonly kind: Kind;
  readonly shout?: boolean;
}

export type Wrapper = 'count' | 'sum' | 'avg' | 'min' | 'max';

/** A measure of a cube in a query on it: bare (fn null) or inside an aggregate. */
export interface CubeMeasure {
  readonly k: 'cm';
  readonly fn: Wrapper | null;
  readonly rel: string;
  readonly name: string;
  readonly filter: Expr | null;
  readonly kind: Kind;
}

export interface Win {
  readonly k: 'win';
  readonly fn: 'count' | 'sum' | 'min' | 'max' | 'rank' | 'dense_rank';
  readonly arg: Expr | null;
  readonly partition: readonly Expr[];
  readonly order: readonly { readonly e: Expr; readonly desc: boolean }[];
  readonly kind: Kind;
}

export type Op =
  | '=' | '<>' | '<' | '<=' | '>' | '>=' | 'distinct' | 'not distinct'
  | '+' | '-' | '*' | '||'
  | 'and' | 'or' | 'not' | 'isnull' | 'notnull' | 'istrue'
  | 'in' | 'not in' | 'between' | 'like' | 'not like'
  | 'coalesce' | 'case' | 'upper' | 'length' | 'nullif'
  /** = ANY (ARRAY[...]). */
  | 'any'; // biome-ignore format: one line a family

export type Expr =
  | { readonly k: 'lit'; readonly v: Scalar; readonly kind: Kind }
  | Col
  | { readonly k: 'op'; readonly op: Op; readonly args: readonly Expr[]; readonly kind: Kind }
  /** A select alias in WHERE, HAVING or ORDER BY. */
  | { readonly k: 'alias'; readonly name: string; readonly kind: Kind }
  /** The i-th GROUP BY expression, in the select list, HAVING or ORDER BY. */
  | { readonly k: 'grp'; readonly i: number; readonly kind: Kind }
  /** GROUPING of some GROUP BY expressions. */
  | { readonly k: 'grouping'; readonly of: readonly number[]; readonly kind: 'int' }
  | Agg
  | Mea
  | CubeMeasure
  /** Another measure's name inside a measure's definition. */
  | { readonly k: 'mref'; readonly name: string; readonly kind: Kind }
  | Win
  | { readonly k: 'exists'; readonly not: boolean; readonly q: Query; readonly kind: 'bool' }
  | { readonly k: 'insub'; readonly not: boolean; readonly e: Expr; readonly q: Query; readonly kind: 'bool' }
  | { readonly k: 'scalar'; readonly q: Query; readonly kind: Kind };

export type Schema = 'svc' | 'esvc' | 'dsvc';

export type Source =
  | { readonly k: 'concept'; readonly schema: Schema; readonly concept: string }
  | { readonly k: 'sub'; readonly q: Query }
  | { readonly k: 'view'; readonly name: string }
  | { readonly k: 'cube'; readonly name: string }
  | { readonly k: 'cte'; readonly name: string };

export interface FromItem {
  readonly alias: string;
  /** How it joins the items before it. */
  readonly join: 'first' | 'comma' | 'cross' | 'inner' | 'left' | 'right' | 'full';
  readonly on: Expr | null;
  readonly src: Source;
  readonly lateral: boolean;
}

export type Item =
  | { readonly k: 'expr'; readonly e: Expr; readonly as: string | null }
  /** `*` of a single concept relation. */
  | { readonly k: 'star'; readonly rel: string }
  /** `"path.*"`. */
  | { readonly k: 'wild'; readonly rel: string; readonly path: readonly Hop[] };

export interface Order {
  /** A number: the output column (1-based). */
  readonly by: number | Expr;
  readonly desc: boolean;
  readonly nulls: 'first' | 'last' | null;
}

export interface Select {
  readonly k: 'select';
  readonly from: readonly FromItem[];
  readonly items: readonly Item[];
  readonly distinct: boolean;
  /** DISTINCT ON the columns of the first n entries of ORDER BY, which are numbers; how they are written. */
  readonly on?: { readonly n: number; readonly by: 'number' | 'expr' } | null;
  readonly where: Expr | null;
  readonly group: readonly Expr[] | null;
  /** GROUPING SETS over the indexes of `group`; `rollup` prints ROLLUP (the sets are its own). */
  readonly sets: { readonly rollup: boolean; readonly sets: readonly (readonly number[])[] } | null;
  readonly having: Expr | null;
  readonly order: readonly Order[];
  readonly limit: number | null;
  readonly offset: number | null;
  /** Whether columns are written with their alias. */
  readonly qualify: boolean;
}

export interface SetOp {
  readonly k: 'setop';
  readonly op: 'UNION' | 'UNION ALL' | 'INTERSECT' | 'EXCEPT';
  readonly left: Select;
  readonly right: Select;
}

export interface Query {
  readonly ctes: readonly { readonly name: string; readonly q: Query }[];
  readonly body: Select | SetOp;
}

export const lit = (v: Scalar, kind: Kind): Expr => ({ k: 'lit', v, kind });
export const op = (o: Op, kind: Kind, ...args: Expr[]): Expr => ({ k: 'op', op: o, args, kind });
export const col = (rel: string, path: readonly Hop[], leaf: Leaf, kind: Kind): Col => ({ k: 'col', rel, path, leaf, kind });
export const agg = (fn: Agg['fn'], arg: Expr | null, kind: Kind, filter: Expr | null = null, distinct = false): Agg => ({
  k: 'agg',
  fn,
  distinct,
  arg,
  filter,
  kind,
});

/** The selects of a query's own level (not those inside its FROM, CTEs or expressions). */
export const selectsOf = (q: Query): readonly Select[] => (q.body.k === 'select' ? [q.body] : [q.body.left, q.body.right]);

/** Calls `visit` on an expression and all below it; `into` says whether to enter sub-queries. */
export function walk(e: Expr, visit: (e: Expr) => void, into: boolean): void {
  visit(e);
  switch (e.k) {
    case 'op':
      for (const a of e.args) walk(a, visit, into);
      break;
    case 'agg':
      if (e.arg) walk(e.arg, visit, into);
      if (e.filter) walk(e.filter, visit, into);
      for (const o of e.order ?? []) walk(o.e, visit, into);
      break;
    case 'mea':
    case 'cm':
      if (e.filter) walk(e.filter, visit, into);
      break;
    case 'win':
      if (e.arg) walk(e.arg, visit, into);
      for (const p of e.partition) walk(p, visit, into);
      for (const o of e.order) walk(o.e, visit, into);
      break;
    case 'exists':
    case 'scalar':
      if (into) walkQuery(e.q, visit);
      break;
    case 'insub':
      walk(e.e, visit, into);
      if (into) walkQuery(e.q, visit);
      break;
    default:
  }
}

/** All expressions of a query, sub-queries included. */
export function walkQuery(q: Query, visit: (e: Expr) => void): void {
  for (const c of q.ctes) walkQuery(c.q, visit);
  for (const s of selectsOf(q)) {
    for (const f of s.from) {
      if (f.on) walk(f.on, visit, true);
      if (f.src.k === 'sub') walkQuery(f.src.q, visit);
    }
    for (const e of expressionsOf(s)) walk(e, visit, true);
  }
}

/** The expressions of a select apart from FROM. */
export function expressionsOf(s: Select): Expr[] {
  const out: Expr[] = [];
  for (const i of s.items) if (i.k === 'expr') out.push(i.e);
  if (s.where) out.push(s.where);
  if (s.group) out.push(...s.group);
  if (s.having) out.push(s.having);
  for (const o of s.order) if (typeof o.by !== 'number') out.push(o.by);
  return out;
}
