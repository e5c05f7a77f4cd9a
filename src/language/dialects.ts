/** Translates functions and types of other SQL dialects in mappings, measures and properties where PostgreSQL has an exact equivalent (docs/language.md#functions-of-other-dialects). */
import { significant, type Token, tokenize } from './lexer.ts';
import { quoteLiteral } from './quote.ts';
import type { SqlText, Translation } from './statements.ts';

/** Calls nested deeper than this stay as they are. */
const MAX_DEPTH = 20;

/** Words before a call. Another word, a name or a closing bracket precedes an alias with columns, as in `FROM t AS month(n)`. */
const BEFORE_CALLS = new Set(
  'select distinct all where and or not on having by when then else case in like ilike to between from any some values limit offset end is using escape for'.split(
    ' ',
  ),
);

interface Argument {
  /** Its translation, made when it is read: a rule must not read it before it knows that the call has an equivalent. */
  readonly text: string;
  /** Its only token; undefined if it has several. */
  readonly only: Token | undefined;
}

/** Writes a call. Each argument is used once, so that nested calls do not multiply. Undefined if PostgreSQL has no exact equivalent of this call. */
type Rule = (args: readonly Argument[]) => string | undefined;

const one =
  (write: (a: string) => string): Rule =>
  ([a, ...more]) =>
    a && more.length === 0 ? write(a.text) : undefined;
const two =
  (write: (a: string, b: string) => string): Rule =>
  ([a, b, ...more]) =>
    a && b && more.length === 0 ? write(a.text, b.text) : undefined;
const three =
  (write: (a: string, b: string, c: string) => string): Rule =>
  ([a, b, c, ...more]) =>
    a && b && c && more.length === 0 ? write(a.text, b.text, c.text) : undefined;
const none =
  (text: string): Rule =>
  (args) =>
    args.length === 0 ? text : undefined;
const field = (name: string): Rule => one((a) => `CAST(extract(${name} FROM ${a}) AS integer)`);
const choice = three((condition, a, b) => `CASE WHEN ${condition} THEN ${a} ELSE ${b} END`);

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...['year', 'month', 'hour', 'minute', 'quarter'].map((name) => [name, field(name)] as const),
  ['day', field('day')],
  ['dayofmonth', field('day')],
  ['dayofyear', field('doy')],
  ['weekofyear', field('week')],
  ['second', one((a) => `CAST(floor(extract(second FROM ${a})) AS integer)`)],
  // 1 is Sunday, and for weekday 0 is Monday
  ['dayofweek', one((a) => `(CAST(extract(dow FROM ${a}) AS integer) + 1)`)],
  ['weekday', one((a) => `(CAST(extract(isodow FROM ${a}) AS integer) - 1)`)],
  ['last_day', one((a) => `CAST(date_trunc('month', ${a}) + interval '1 month - 1 day' AS date)`)],
  ['ifnull', two((a, b) => `coalesce(${a}, ${b})`)],
  ['nvl', two((a, b) => `coalesce(${a}, ${b})`)],
  ['nvl2', three((a, b, c) => `CASE WHEN (${a}) IS NOT NULL THEN ${b} ELSE ${c} END`)],
  ['if', choice],
  ['iff', choice],
  ['iif', choice],
  ['curdate', none('current_date')],
  ['getdate', none('localtimestamp')],
  ['utc_timestamp', none("(now() AT TIME ZONE 'UTC')")],
  ['ucase', one((a) => `upper(${a})`)],
  ['lcase', one((a) => `lower(${a})`)],
  ['mid', three((a, b, c) => `substr(${a}, ${b}, ${c})`)],
  ['space', one((a) => `repeat(' ', ${a})`)],
  ['replicate', two((a, b) => `repeat(${a}, ${b})`)],
  ['median', one((a) => `percentile_cont(0.5) WITHIN GROUP (ORDER BY ${a})`)],
  ['countif', one((a) => `count(*) FILTER (WHERE ${a})`)],
  ['count_if', one((a) => `count(*) FILTER (WHERE ${a})`)],
  ['convert', convert],
  ['datediff', dateDiff],
  ['date_format', dateFormat],
]);

/** The types of CONVERT(value, type) that PostgreSQL has with the same values. */
const CONVERTED: ReadonlyMap<string, string> = new Map([
  ['char', 'text'],
  ['date', 'date'],
  ['datetime', 'timestamp'],
  ['signed', 'bigint'],
]);

/** Types of other dialects, by their names in CAST and after `::`. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['datetime', 'timestamp'],
  ['signed', 'bigint'],
  ['string', 'text'],
  ['tinyint', 'smallint'],
  ['int64', 'bigint'],
  ['float64', 'double precision'],
  ['double', 'double precision'],
  ['number', 'numeric'],
  ['varchar2', 'varchar'],
  ['nvarchar2', 'varchar'],
  ['nvarchar', 'varchar'],
]);

/** CONVERT(value, type). */
function convert([value, type, ...more]: readonly Argument[]): string | undefined {
  const known = type?.only?.kind === 'word' && more.length === 0 ? CONVERTED.get(type.only.value.toLowerCase()) : undefined;
  return value && known ? `CAST(${value.text} AS ${known})` : undefined;
}

/** DATEDIFF(later, earlier) counts days, DATEDIFF(unit, from, to) the boundaries of the unit between them. */
function dateDiff(args: readonly Argument[]): string | undefined {
  const [a, b, c, ...more] = args;
  if (a && b && args.length === 2) return `(CAST(${a.text} AS date) - CAST(${b.text} AS date))`;
  if (!a || !b || !c || more.length > 0) return undefined;
  const unit = a.only?.value.toLowerCase();
  if (unit === 'day' || unit === 'dd') return `(CAST(${c.text} AS date) - CAST(${b.text} AS date))`;
  if (unit === 'year' || unit === 'yy' || unit === 'yyyy') return `CAST(extract(year FROM ${c.text}) - extract(year FROM ${b.text}) AS integer)`;
  return undefined;
}

/** The patterns of to_char for the specifiers of DATE_FORMAT. Weeks have no exact equivalent. */
const SPECIFIERS: Readonly<Record<string, string>> = {
  Y: 'YYYY',
  y: 'YY',
  m: 'MM',
  c: 'FMMM',
  M: 'FMMonth',
  b: 'Mon',
  d: 'DD',
  e: 'FMDD',
  j: 'DDD',
  W: 'FMDay',
  a: 'Dy',
  H: 'HH24',
  k: 'FMHH24',
  h: 'HH12',
  I: 'HH12',
  l: 'FMHH12',
  i: 'MI',
  s: 'SS',
  S: 'SS',
  f: 'US',
  p: 'AM',
  T: 'HH24:MI:SS',
  r: 'HH12:MI:SS AM',
};

/** DATE_FORMAT with a constant format. */
function dateFormat([value, format, ...more]: readonly Argument[]): string | undefined {
  const token = format?.only;
  if (!value || more.length > 0 || token?.kind !== 'string' || !token.value.includes('%')) return undefined;
  let pattern = '';
  for (const part of token.value.match(/%.?|[^%]+/gsu) ?? []) {
    const known = part.startsWith('%') ? SPECIFIERS[part.slice(1)] : undefined;
    const literal = part.startsWith('%') ? (part === '%%' ? '%' : undefined) : part;
    if (known === undefined && (literal === undefined || /["\\]/.test(literal))) return undefined;
    pattern += known ?? (/[\p{L}\p{N}]/u.test(literal ?? '') ? `"${literal}"` : literal);
  }
  return `to_char(${value.text}, ${quoteLiteral(pattern)})`;
}

/**
 * A piece of SQL with the calls and types of other dialects written as PostgreSQL has them. A call without an exact equivalent stays as it is; the planner
 * refuses it with a hint.
 */
export function translated(sql: SqlText): SqlText {
  const translations: Translation[] = [];
  const text = new Translator(sql, translations).whole();
  return translations.length === 0 ? sql : { ...sql, text, translations };
}

class Translator {
  readonly #sql: SqlText;
  readonly #tokens: readonly Token[];
  /** The position of the bracket that closes each opening one. */
  readonly #closing: ReadonlyMap<number, number>;
  /** The closing brackets of CAST. */
  readonly #casts: ReadonlySet<number>;
  readonly #found: Translation[];

  constructor(sql: SqlText, found: Translation[]) {
    this.#sql = sql;
    this.#tokens = significant(tokenize(sql.text));
    this.#closing = closingBrackets(this.#tokens);
    this.#casts = new Set([...this.#closing].flatMap(([open, close]) => (this.#isWord(open - 1, 'cast') ? [close] : [])));
    this.#found = found;
  }

  whole(): string {
    const last = this.#tokens.at(-1);
    return this.#render(0, this.#tokens.length, 0) + this.#sql.text.slice(last?.end ?? 0);
  }

  /** The text of the tokens from one position to another, with blanks and comments before them. */
  #render(from: number, to: number, depth: number): string {
    let text = '';
    let at = from === 0 ? 0 : (this.#tokens[from]?.start ?? 0);
    for (let i = from; i < to; i++) {
      const token = this.#tokens[i] as Token;
      const made = this.#call(i, depth) ?? this.#type(i);
      if (made === undefined) continue;
      text += this.#sql.text.slice(at, token.start) + made.text;
      i = made.last;
      at = (this.#tokens[i] as Token).end;
    }
    return text + this.#sql.text.slice(at, this.#tokens[to - 1]?.end ?? at);
  }

  #call(i: number, depth: number): { readonly text: string; readonly last: number } | undefined {
    const token = this.#tokens[i] as Token;
    const rule = token.kind === 'word' && depth < MAX_DEPTH ? RULES.get(token.value.toLowerCase()) : undefined;
    const last = rule !== undefined && this.#isMark(i + 1, '(') && this.#beginsOperand(i) ? this.#closing.get(i + 1) : undefined;
    if (rule === undefined || last === undefined || (this.#isWord(last + 1, 'as') && this.#isMark(last + 2, '('))) return undefined;
    const inner = this.#found.length;
    const text = rule(this.#arguments(i + 2, last, depth + 1));
    this.#found.length = inner;
    if (text === undefined) return undefined;
    this.#note(token.start, (this.#tokens[last] as Token).end, text);
    return { text, last };
  }

  /** Whether an expression may start at a token. */
  #beginsOperand(i: number): boolean {
    const before = this.#tokens[i - 1];
    if (before === undefined || before.kind === 'operator') return true;
    return before.kind === 'word' ? BEFORE_CALLS.has(before.value.toLowerCase()) : before.kind === 'punct' && ['(', ',', '[', ':'].includes(before.value);
  }

  #arguments(from: number, to: number, depth: number): Argument[] {
    const args: Argument[] = [];
    let start = from;
    for (let i = from; i <= to; i++) {
      if (i === to ? i > from : this.#isMark(i, ',')) {
        args.push(this.#argument(start, i, depth));
        start = i + 1;
      } else if (i < to) i = this.#closing.get(i) ?? i;
    }
    return args;
  }

  #argument(from: number, to: number, depth: number): Argument {
    const render = (): string => this.#render(from, to, depth);
    return {
      get text() {
        return render();
      },
      only: to - from === 1 ? this.#tokens[from] : undefined,
    };
  }

  /** A type after `::`, or at the end of CAST. */
  #type(i: number): { readonly text: string; readonly last: number } | undefined {
    const token = this.#tokens[i] as Token;
    const text = token.kind === 'word' ? TYPES.get(token.value.toLowerCase()) : undefined;
    // a length or a scale may follow, and PRECISION follows PostgreSQL's own DOUBLE
    const last = this.#closing.get(i + 1) ?? i;
    if (text === undefined || this.#isWord(i + 1, 'precision')) return undefined;
    if (!this.#isMark(i - 1, '::') && !(this.#isWord(i - 1, 'as') && this.#casts.has(last + 1))) return undefined;
    this.#note(token.start, token.end, text);
    return { text, last: i };
  }

  #note(start: number, end: number, to: string): void {
    this.#found.push({ offset: this.#sql.offset + start, from: this.#sql.text.slice(start, end), to });
  }

  #isMark(i: number, mark: string): boolean {
    const token = this.#tokens[i];
    return token?.kind === 'punct' && token.value === mark;
  }

  #isWord(i: number, word: string): boolean {
    const token = this.#tokens[i];
    return token?.kind === 'word' && token.value.toLowerCase() === word;
  }
}

function closingBrackets(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach((token, i) => {
    if (token.kind !== 'punct') return;
    if (token.value === '(') open.push(i);
    const start = token.value === ')' ? open.pop() : undefined;
    if (start !== undefined) closing.set(start, i);
  });
  return closing;
}
