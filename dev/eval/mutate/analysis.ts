/** A SELECT on an ontology, analysed so that it can be changed in chosen places: by PostgreSQL's grammar and the lexer's tokens. */
import { significant, type Token, tokenize } from '../../../src/language/lexer.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { parsePrepared, prepareSelect } from '../../../src/language/prepare.ts';
import type { Concept, Graph } from '../../../src/ontology/graph.ts';
import { isPath, type PathEnd, parsePath } from '../../../src/planner/bind/path.ts';

/** A range of the text: offsets, `end` excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A relation of FROM. `of` undefined: neither concept nor view. */
export interface Relation extends Span {
  readonly schema: string | undefined;
  readonly name: string;
  readonly alias: string;
  readonly of: { readonly concept: Concept } | { readonly columns: readonly string[] } | undefined;
}

/** A column: a property, a measure or a path. The span is only its name, without the alias before it. */
export interface Column extends Span {
  readonly name: string;
  readonly relation: Relation | undefined;
  /** The path, if it is a valid one. */
  readonly path: PathEnd | undefined;
}

/** A call: `sum(x)`, including a FILTER after it. */
export interface Call extends Span {
  readonly name: string;
  readonly nameSpan: Span;
  /** Between the brackets, DISTINCT included. */
  readonly inside: Span;
  readonly star: boolean;
  readonly distinct: boolean;
}

export interface Literal extends Span {
  readonly kind: 'text' | 'number';
  readonly value: string;
}

export interface Analysis {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly relations: readonly Relation[];
  readonly columns: readonly Column[];
  readonly calls: readonly Call[];
  readonly literals: readonly Literal[];
  /** Comparisons: the operator's token. */
  readonly comparisons: readonly Span[];
}

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const AGGREGATES = new Set(['count', 'sum', 'avg', 'min', 'max', 'bool_and', 'bool_or']);

/** @throws SvcError if the text is not a SELECT */
export function analyse(text: string, graph: Graph, parser: SqlParser): Analysis {
  const prepared = prepareSelect({ text, offset: 0 });
  const { stmts } = parsePrepared(parser, prepared);
  const tokens = significant(tokenize(text));
  const at = new Map(tokens.map((t, i) => [t.start, i]));
  const indexOf = (node: Node): number => at.get(prepared.toSource(Number(node.location ?? 0))) ?? -1;
  const plain = (name: string): string => prepared.standIns.get(name) ?? name;
  const span = (from: number, to = from): Span => ({ start: tokens[from]?.start ?? 0, end: tokens[to]?.end ?? 0 });
  const made = { relations: [] as Relation[], columns: [] as Column[], calls: [] as Call[], literals: [] as Literal[], comparisons: [] as Span[] };

  const relation = (node: Node): Relation => {
    const i = indexOf(node);
    const schema = typeof node.schemaname === 'string' ? node.schemaname : undefined;
    const name = plain(String(node.relname));
    const concept = schema === 'vsvc' ? undefined : graph.concept(name);
    const view = graph.view(name);
    const alias = isNode(node.alias) ? plain(String(node.alias.aliasname)) : name;
    const of = concept ? { concept } : view ? { columns: view.columns.map((c) => c.name) } : undefined;
    return { ...span(i, schema === undefined ? i : i + 2), schema, name, alias, of };
  };

  /** The relations of FROM, without sub-queries. */
  const relationsOf = (node: unknown): Relation[] => {
    if (Array.isArray(node)) return node.flatMap(relationsOf);
    if (!isNode(node)) return [];
    if (isNode(node.RangeVar)) return [relation(node.RangeVar)];
    if (isNode(node.JoinExpr)) return [...relationsOf(node.JoinExpr.larg), ...relationsOf(node.JoinExpr.rarg)];
    return [];
  };

  const column = (node: Node, block: readonly Relation[]): void => {
    const fields = (node.fields as readonly Node[]).map((f) => (isNode(f.String) ? plain(String(f.String.sval)) : undefined));
    const name = fields.at(-1);
    const i = indexOf(node) + 2 * (fields.length - 1);
    if (name === undefined || i < 0) return;
    const named = fields.length > 1 ? block.find((r) => r.alias.toLowerCase() === fields[0]?.toLowerCase()) : block[0];
    const concept = named?.of && 'concept' in named.of ? named.of.concept : undefined;
    made.columns.push({ ...span(i), name, relation: named, path: concept && isPath(name) && !name.startsWith('measure.') ? pathOf(concept, name) : undefined });
  };

  const call = (node: Node): void => {
    const i = indexOf(node);
    const name = tokens[i]?.value.toLowerCase() ?? '';
    const open = i + 1;
    const close = closing(tokens, open);
    if (!AGGREGATES.has(name) || close < 0) return;
    const filtered = tokens[close + 1]?.value.toLowerCase() === 'filter' ? closing(tokens, close + 2) : close;
    made.calls.push({
      ...span(i, filtered),
      name,
      nameSpan: span(i),
      inside: { start: tokens[open]?.end ?? 0, end: tokens[close]?.start ?? 0 },
      star: node.agg_star === true,
      distinct: node.agg_distinct === true,
    });
  };

  /** `isPlace`: a number is the position of a column (GROUP BY 1). */
  const visit = (value: unknown, block: readonly Relation[], isPlace = false): void => {
    if (Array.isArray(value)) {
      for (const v of value) visit(v, block, isPlace);
      return;
    }
    if (!isNode(value)) return;
    for (const [kind, node] of Object.entries(value)) {
      if (!isNode(node)) {
        visit(node, block, kind === 'groupClause' || kind === 'sortClause');
        continue;
      }
      if (kind === 'SelectStmt' || kind === 'larg' || kind === 'rarg') {
        const own = kind === 'SelectStmt' || 'fromClause' in node ? relationsOf(node.fromClause) : [];
        made.relations.push(...own);
        visit(node, own.length > 0 ? own : block);
        continue;
      }
      if (kind === 'ColumnRef') column(node, block);
      else if (kind === 'FuncCall') call(node);
      else if (kind === 'A_Const' && !isPlace) literal(node);
      else if (kind === 'A_Expr' && node.kind === 'AEXPR_OP') made.comparisons.push(span(indexOf(node)));
      visit(node, block, isPlace && (kind === 'SortBy' || kind === 'node'));
    }
  };

  const literal = (node: Node): void => {
    const i = indexOf(node);
    const token = tokens[i];
    if (token?.kind === 'string') made.literals.push({ ...span(i), kind: 'text', value: token.value });
    if (token?.kind === 'number') made.literals.push({ ...span(i), kind: 'number', value: token.value });
  };

  visit(stmts, []);
  return { text, tokens, ...made };
}

function pathOf(concept: Concept, name: string): PathEnd | undefined {
  try {
    return parsePath(concept, name);
  } catch {
    return undefined;
  }
}

/** The index of the bracket that closes the one at `open`, or -1. */
export function closing(tokens: readonly Token[], open: number): number {
  if (tokens[open]?.value !== '(') return -1;
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const { kind, value } = tokens[i] as Token;
    if (kind !== 'punct') continue;
    if (value === '(') depth++;
    if (value === ')' && --depth === 0) return i;
  }
  return -1;
}

/** The text with a span replaced. */
export const replaced = (text: string, { start, end }: Span, by: string): string => text.slice(0, start) + by + text.slice(end);
