/**
 * URL filters (docs/design/filters.md#parameters): parses the query string of a concept or view. The planner checks whether names exist and values
 * fit.
 */
import { badRequest, didYouMean, nearest, type SvcError } from '../errors.ts';

export const OPERATORS = ['eq', 'not_eq', 'in', 'not_in', 'like', 'not_like', 'gt', 'gte', 'lt', 'lte', 'is_null', 'not_null'] as const;
export type FilterOperator = (typeof OPERATORS)[number];

/** One group: `_subjN_`, `_opN_`, `_compN_`, and the conjunction with the group before it. */
export interface FilterGroup {
  /** 0 for the first group, whose parameters have no number. */
  readonly number: number;
  readonly subject: string;
  readonly operator: FilterOperator;
  /** No values for `is_null` and `not_null`, a list for `in` and `not_in`, otherwise one value. */
  readonly values: readonly string[];
  readonly conjunction: 'AND' | 'OR';
}

export interface FilterOrder {
  readonly name: string;
  readonly descending: boolean;
}

export interface FilterRequest {
  /** In order of their numbers. */
  readonly groups: readonly FilterGroup[];
  /** `_select_`; undefined if it is not given. */
  readonly select: readonly string[] | undefined;
  readonly order: readonly FilterOrder[];
  /** The digits of `_limit_` and `_offset_`. */
  readonly limit: string | undefined;
  readonly offset: string | undefined;
}

const EXTRAS = ['_select_', '_order_', '_limit_', '_offset_'] as const;
type Extra = (typeof EXTRAS)[number];
const PARTS = ['subj', 'op', 'comp', 'conj'] as const;
type Part = (typeof PARTS)[number];
const GROUP = /^_(subj|op|comp|conj)([1-9]\d{0,8})?_$/;

/**
 * Parses a query string, with or without its question mark.
 * @throws SvcError 400 `malformed_parameter`, `unknown_parameter`, `duplicate_parameter`, `missing_parameter`,
 *   `unknown_operator`, `bad_conjunction`, `bad_parameter`
 */
export function parseFilters(search: string): FilterRequest {
  const parts = new Map<number, Map<Part, string>>();
  const extras = new Map<Extra, string>();
  for (const [name, value] of parameters(search)) {
    const group = GROUP.exec(name);
    if (group !== null) {
      const number = Number(group[2] ?? 0);
      const known = parts.get(number) ?? new Map<Part, string>();
      parts.set(number, known);
      put(known, group[1] as Part, name, value);
    } else if ((EXTRAS as readonly string[]).includes(name)) put(extras, name as Extra, name, value);
    else throw unknownParameter(name);
  }
  return {
    groups: groupsOf(parts),
    select: listOf(extras, '_select_'),
    order: (listOf(extras, '_order_') ?? []).map((name) => (name.startsWith('-') ? { name: name.slice(1), descending: true } : { name, descending: false })),
    limit: countOf(extras, '_limit_'),
    offset: countOf(extras, '_offset_'),
  };
}

/** Splits a list at commas. `\,` is a literal comma, any other backslash is literal, blanks are kept. */
export function splitList(text: string): readonly string[] {
  const values: string[] = [];
  let value = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === '\\' && text[i + 1] === ',') {
      value += ',';
      i++;
    } else if (c === ',') {
      values.push(value);
      value = '';
    } else value += c;
  }
  return [...values, value];
}

/** Names and values, decoded: `+` is a blank; a percent sign that starts no escape is literal (as in the URL standard). */
function* parameters(search: string): Iterable<readonly [name: string, value: string]> {
  for (const piece of search.replace(/^\?/, '').split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = decoded(equals < 0 ? piece : piece.slice(0, equals));
    const value = equals < 0 ? '' : decoded(piece.slice(equals + 1));
    if (name === undefined || value === undefined) throw badRequest('malformed_parameter', 'A parameter of the URL is not valid UTF-8');
    if (value.includes('\0')) throw badRequest('malformed_parameter', `The parameter ${shown(name)} contains a NUL character`);
    yield [name, value];
  }
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' ').replace(/%(?![0-9a-f]{2})/gi, '%25'));
    return plain.isWellFormed() ? plain : undefined;
  } catch {
    return undefined;
  }
}

function put<K>(known: Map<K, string>, key: K, name: string, value: string): void {
  if (known.has(key)) throw badRequest('duplicate_parameter', `The parameter ${shown(name)} occurs twice`);
  known.set(key, value);
}

/** The name of a parameter or operator in an error message, shortened if it is long. */
const shown = (name: string): string => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);

function unknownParameter(name: string): SvcError {
  const near = nearest(name, [...EXTRAS, ...PARTS.map((p) => `_${p}_`)]);
  return badRequest('unknown_parameter', `unknown parameter ${shown(name)}${didYouMean(near, String)}`, {
    hint: 'A filter is _subj_, _op_, _comp_ and _conj_, later groups _subj1_, _op1_ and so on; the other parameters are _select_, _order_, _limit_ and _offset_',
  });
}

function groupsOf(parts: ReadonlyMap<number, ReadonlyMap<Part, string>>): readonly FilterGroup[] {
  const numbers = [...parts.keys()].sort((a, b) => a - b);
  if (numbers.length > 0 && numbers[0] !== 0) {
    throw badRequest('missing_parameter', 'The filter has no first group; its parameters have no number: _subj_, _op_, _comp_', {
      hint: 'Omit the number in the first group',
    });
  }
  const groups: FilterGroup[] = [];
  let joined: 'AND' | 'OR' = 'AND';
  for (const number of numbers) {
    const group = parts.get(number) as ReadonlyMap<Part, string>;
    groups.push({ ...groupOf(number, group), conjunction: joined });
    const conjunction = group.get('conj');
    joined = conjunction === undefined ? 'AND' : conjunctionOf(number, conjunction);
    if (conjunction !== undefined && number === numbers.at(-1)) {
      throw badRequest('bad_conjunction', `${nameOf('conj', number)} joins a group to the next one, but there is no next one`);
    }
  }
  return groups;
}

function groupOf(number: number, group: ReadonlyMap<Part, string>): Omit<FilterGroup, 'conjunction'> {
  const subject = group.get('subj');
  const word = group.get('op');
  if (subject === undefined || subject === '') throw missing('subj', number, 'the property that is filtered');
  if (word === undefined || word === '') throw missing('op', number, `one of ${OPERATORS.join(', ')}`);
  const operator = OPERATORS.find((o) => o === word.toLowerCase());
  if (operator === undefined) {
    const near = nearest(word, OPERATORS);
    throw badRequest('unknown_operator', `unknown operator ${shown(word)} in ${nameOf('op', number)}${didYouMean(near, String)}`, {
      hint: `The operators are ${OPERATORS.join(', ')}`,
    });
  }
  if (operator === 'is_null' || operator === 'not_null') return { number, subject, operator, values: [] };
  const value = group.get('comp');
  if (value === undefined) throw missing('comp', number, `the value that ${operator} compares with`);
  return { number, subject, operator, values: operator === 'in' || operator === 'not_in' ? splitList(value) : [value] };
}

function conjunctionOf(number: number, word: string): 'AND' | 'OR' {
  const upper = word.toUpperCase();
  if (upper === 'AND' || upper === 'OR') return upper;
  throw badRequest('bad_conjunction', `${nameOf('conj', number)} must be AND or OR, not ${shown(word)}`);
}

const nameOf = (part: Part, number: number): string => `_${part}${number === 0 ? '' : number}_`;
const missing = (part: Part, number: number, what: string): SvcError => badRequest('missing_parameter', `The filter has no ${nameOf(part, number)}: ${what}`);

/** A list of names, without surrounding blanks. */
function listOf(extras: ReadonlyMap<Extra, string>, name: '_select_' | '_order_'): readonly string[] | undefined {
  const text = extras.get(name);
  if (text === undefined) return undefined;
  const names = splitList(text).map((n) => n.trim());
  if (names.some((n) => n === '' || n === '-')) throw badRequest('bad_parameter', `${name} must be a list of names separated by commas`);
  return names;
}

/** Parses a row count, which PostgreSQL represents as bigint. */
function countOf(extras: ReadonlyMap<Extra, string>, name: '_limit_' | '_offset_'): string | undefined {
  const text = extras.get(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,18}$/.test(text)) throw badRequest('bad_parameter', `${name} must be a whole number, 0 or more`);
  return String(BigInt(text));
}
