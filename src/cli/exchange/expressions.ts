/** Names in expressions: back-quoted properties and paths of the ontology language, and dotted names of Ossie. */
import { significant, type Token, tokenize } from '../../language/lexer.ts';
import { quoteDouble } from '../../language/quote.ts';
import type { SqlReader } from '../../ontology/apply.ts';
import type { Concept } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';

/** Words that standard SQL reads as names only in quotes. */
const RESERVED = new Set(
  `all and any array as asc between both by case cast check collate column constraint create cross current_date current_time current_timestamp current_user default
  desc distinct do else end except exists false fetch filter for foreign from full grant group having in inner intersect into is join lateral leading left like
  limit localtime natural not null of offset on only or order outer over overlaps partition placing primary references returning right row rows select session_user
  set similar some symmetric table then to trailing true union unique user using values when where window with`.split(/\s+/),
);

/** A name as an SQL identifier, quoted if it must be. */
export const identifier = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : quoteDouble(name));

/** A dotted name. */
export const dotted = (...names: readonly string[]): string => names.map(identifier).join('.');

const HOP = /^([^[\]]+)\[([^[\]*]+)\]\.(.+)$/s;

/** The names on a plain path: a, c, e for `a[b].c[d].e`; undefined if the names could also mean another path. */
function namesOn(from: Concept, path: string): readonly string[] | undefined {
  const names: string[] = [];
  let at = from;
  let rest = path;
  for (let hop = HOP.exec(rest); hop; hop = HOP.exec(rest)) {
    const [, name = '', target = '', tail = ''] = hop;
    const [only, ...more] = at.relationship(name);
    if (only === undefined || more.length > 0 || fold(only.target.name) !== fold(target) || at.properties.some((p) => fold(p.def.name) === fold(name)))
      return undefined;
    names.push(name);
    at = only.target;
    rest = tail;
  }
  return [...at.properties, ...at.multi].some((p) => fold(p.def.name) === fold(rest)) ? [...names, rest] : undefined;
}

/**
 * An expression with dotted names, `concept.property` and `concept.relationship.property`.
 * @param prefix what each name starts with
 * @returns undefined if it has a name that cannot be written so: in a sub-query, a walk, or a path that names do not determine
 */
export function toDotted(expression: string, from: Concept, reader: SqlReader, prefix: readonly string[] = [from.name]): string | undefined {
  const found = new Map<number, string>();
  for (const r of reader.referencesOf({ text: expression, offset: 0 }, 'expression')) {
    const names = r.nested || r.qualifier !== null ? undefined : namesOn(from, r.name);
    if (names === undefined) return undefined;
    found.set(r.offset, dotted(...prefix, ...names));
  }
  let text = '';
  let done = 0;
  for (const token of tokenize(expression)) {
    const name = found.get(token.start);
    if (name === undefined) continue;
    text += expression.slice(done, token.start) + name;
    done = token.end;
  }
  return text + expression.slice(done);
}

/** Whether an expression follows paths. */
export const hasPath = (expression: string): boolean => tokenize(expression).some((t) => t.kind === 'name' && t.value.includes('['));

const isName = (t: Token | undefined): t is Token => t?.kind === 'word' || t?.kind === 'name';

/** The index of the bracket that closes the one at `open`, or of the last token if the bracket is not closed. */
function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i]?.value === '(') depth++;
    if (tokens[i]?.value === ')' && --depth === 0) return i;
  }
  return tokens.length - 1;
}

/**
 * An expression of the ontology language from one with dotted names. MEDIAN and == get their equivalents in PostgreSQL.
 * @param resolve the text for a dotted name, or undefined to keep it
 */
export function fromDotted(expression: string, resolve: (names: readonly string[]) => string | undefined): string {
  const tokens = significant(tokenize(expression));
  const edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (token.kind === 'operator' && token.value === '==') edits.push({ start: token.start, end: token.end, text: '=' });
    if (token.kind === 'word' && fold(token.value) === 'median' && tokens[i + 1]?.value === '(') {
      const close = tokens[closing(tokens, i + 1)] as Token;
      edits.push(
        { start: token.start, end: (tokens[i + 1] as Token).end, text: 'percentile_cont(0.5) WITHIN GROUP (ORDER BY ' },
        { start: close.start, end: close.end, text: ')' },
      );
      continue;
    }
    if (!isName(token) || tokens[i - 1]?.value === '::' || tokens[i - 1]?.value === '.') continue;
    const names = [token.value];
    let last = token;
    let next = i + 1;
    while (tokens[next]?.value === '.' && isName(tokens[next + 1])) {
      last = tokens[next + 1] as Token;
      names.push(last.value);
      next += 2;
    }
    const text = tokens[next]?.value === '(' ? undefined : resolve(names);
    if (text !== undefined) edits.push({ start: token.start, end: last.end, text });
  }
  let out = '';
  let done = 0;
  for (const { start, end, text } of edits.sort((a, b) => a.start - b.start)) {
    out += expression.slice(done, start) + text;
    done = end;
  }
  return out + expression.slice(done);
}

/** The folded name of the column that an expression consists of; undefined for any other expression. */
export function plainColumn(expression: string): string | undefined {
  const tokens = significant(tokenize(expression));
  const last = tokens.at(-1);
  const chain = tokens.every((t, i) => (i % 2 === 0 ? isName(t) : t.value === '.'));
  return chain && tokens.length % 2 === 1 && last !== undefined ? (last.kind === 'word' ? last.value.toLowerCase() : last.value) : undefined;
}

/** A part of a source that is a union of queries. */
export interface Part {
  readonly name: string;
  readonly sql: string;
}

/** Joins queries with these columns. `columns` has the select list of each part. */
export const unionOf = (parts: readonly (Part & { readonly columns: readonly string[] })[]): string =>
  parts.map((p) => `SELECT ${p.columns.join(', ')} FROM (\n${p.sql}\n) AS ${quoteDouble(p.name)}`).join('\nUNION ALL\n');

/** The parts of a query that `unionOf` wrote, or one like it; undefined for another query. */
export function partsOf(source: string): readonly Part[] | undefined {
  const tokens = significant(tokenize(source));
  const parts: Part[] = [];
  let i = 0;
  for (;;) {
    if (fold(tokens[i]?.value ?? '') !== 'select') return undefined;
    while (i < tokens.length && !(tokens[i]?.kind === 'word' && fold(tokens[i]?.value ?? '') === 'from'))
      i = tokens[i]?.value === '(' ? closing(tokens, i) + 1 : i + 1;
    const open = i + 1;
    if (tokens[open]?.value !== '(') return undefined;
    const close = closing(tokens, open);
    const [as, name] = [tokens[close + 1], tokens[close + 2]];
    if (fold(as?.value ?? '') !== 'as' || !isName(name)) return undefined;
    parts.push({ name: name.value, sql: source.slice((tokens[open] as Token).end, (tokens[close] as Token).start).trim() });
    i = close + 3;
    if (i >= tokens.length) return parts;
    if (fold(tokens[i]?.value ?? '') !== 'union' || fold(tokens[i + 1]?.value ?? '') !== 'all') return undefined;
    i += 2;
  }
}
