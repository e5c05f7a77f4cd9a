/** Hints for syntax errors: unquoted relationship paths, and syntax of other SQL dialects. */
import { significant, type Token, tokenize } from './lexer.ts';

/** The hint to quote a path. `where`: where to read it, if not in the relation of the query. PostgreSQL reads an unquoted `rel[c].prop` as an array element. */
export const pathHint = (path: string, where = ''): string => `A relationship path is one quoted name. Write "${path}"${where}.`;

/** An unquoted path in a text. `start`, `end`: UTF-16 offsets. */
export interface BarePath {
  readonly start: number;
  readonly end: number;
  /** The path as it has to be quoted, without an alias in front of it. */
  readonly path: string;
}

/** The unquoted paths in a text: `rel[c].prop`, `a.rel[c]_col`, `rel[c*3].prop`, `r1[c1].r2[c2].prop`. */
export function barePaths(text: string): readonly BarePath[] {
  const tokens = significant(tokenize(text));
  const found: BarePath[] = [];
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i]?.kind !== 'word') continue;
    // words and full stops before the first bracket are an alias
    let first = i;
    while (tokens[first + 1]?.value === '.' && tokens[first + 2]?.kind === 'word') first += 2;
    const path = pathAt(text, tokens, i, first);
    if (path) found.push(path);
    i = first;
    while (path && tokens[i + 1] !== undefined && (tokens[i + 1] as Token).start < path.end) i++;
  }
  return found;
}

/** The path whose alias begins at `from` and whose first relationship is at `first`. */
function pathAt(text: string, tokens: readonly Token[], from: number, first: number): BarePath | undefined {
  const isValue = (i: number, value: string): boolean => tokens[i]?.kind === 'punct' && tokens[i]?.value === value;
  const isWord = (i: number): boolean => tokens[i]?.kind === 'word';
  let end: number | undefined;
  for (let i = first; ; ) {
    if (!isWord(i) || !isValue(i + 1, '[') || !isWord(i + 2)) break;
    let close = i + 3;
    if (tokens[close]?.value === '*') close += tokens[close + 1]?.kind === 'number' ? 2 : 1;
    if (!isValue(close, ']')) break;
    const next = tokens[close + 1];
    const isLink = next?.kind === 'word' && next.value.startsWith('_') && next.start === tokens[close]?.end;
    if (isLink) {
      end = next.end;
      break;
    }
    if (!isValue(close + 1, '.') || !isWord(close + 2)) break;
    end = tokens[close + 2]?.end;
    i = close + 2;
  }
  const [start, name] = [tokens[from]?.start, tokens[first]?.start];
  if (end === undefined || start === undefined || name === undefined) return undefined;
  return { start, end, path: text.slice(name, end).replace(/\s+/g, '') };
}

/** Syntax of other dialects by the tokens of the text: words in upper case, S for a string, N for a number, Q for a quoted name. */
const SYNTAX: readonly (readonly [form: RegExp, hint: string])[] = [
  [/ SELECT (DISTINCT )?TOP [N(]/, 'PostgreSQL has no TOP. Write LIMIT n at the end of the query.'],
  [/ LIKE (ANY|ALL|SOME) \( S ,/, "Write LIKE ANY (ARRAY['a', 'b'])."],
  [/ ILIKE (ANY|ALL|SOME) \( S ,/, "Write ILIKE ANY (ARRAY['a', 'b'])."],
  [/ LIMIT N , N/, 'Write LIMIT count OFFSET start.'],
  [/ INTERVAL N /, "Write interval '1 day'."],
  [/ (REGEXP|RLIKE) S/, 'Write text ~ pattern.'],
  [/ QUALIFY /, 'PostgreSQL has no QUALIFY. Put the window function into a sub-query in FROM, and filter in the outer query.'],
  [/ (CROSS|OUTER) APPLY /, 'Write CROSS JOIN LATERAL (...), or LEFT JOIN LATERAL (...) ON true.'],
  [/ (TRY_CAST|SAFE_CAST) \(/, 'Write cast(value AS type). It raises an error if the value does not fit.'],
  [/ CONVERT \( \w+ \( N/, 'Write cast(value AS type).'],
  [/ TIMESTAMP \( [A-Z]/, 'Write value::timestamp.'],
  [/ \* (EXCEPT|EXCLUDE|REPLACE) \(/, 'PostgreSQL cannot leave out or replace columns of *. List the columns.'],
  [/ SEPARATOR S/, "Write string_agg(value::text, ',')."],
  [/ PIVOT \(/, 'Write an aggregate with FILTER (WHERE condition) for each column.'],
  [/ MINUS SELECT /, 'Write EXCEPT.'],
  [/ == /, 'Write =.'],
  [/ , FROM /, 'Remove the comma before FROM.'],
  [/ LIMIT N FROM /, 'LIMIT is written at the end of the query.'],
  [/ (SELECT|,) \[ (\w+|Q) \]/, 'PostgreSQL has no names in square brackets. Write a name without them, or in double quotes.'],
];

const FORMS: Readonly<Partial<Record<Token['kind'], string>>> = { string: 'S', number: 'N', name: 'Q' };
const shown = ({ kind, value }: Token): string => FORMS[kind] ?? (kind === 'word' ? value.toUpperCase() : value);

/** A hint for clauses of a SELECT in another order than SQL's. */
function orderHint(words: readonly string[]): string | undefined {
  // the last of GROUP and ORDER in each open pair of brackets
  const open: ('GROUP' | 'ORDER' | undefined)[] = [undefined];
  for (const [i, word] of words.entries()) {
    const clause = open.at(-1);
    if (word === '(') open.push(undefined);
    else if (word === ')' && open.length > 1) open.pop();
    else if (word === 'SELECT') open[open.length - 1] = undefined;
    else if (clause === 'GROUP' && word === 'WHERE') return 'WHERE is written before GROUP BY.';
    else if (clause === 'ORDER' && (word === 'WHERE' || (word === 'GROUP' && words[i + 1] === 'BY'))) return 'ORDER BY is written after WHERE and GROUP BY.';
    else if ((word === 'GROUP' || word === 'ORDER') && words[i + 1] === 'BY') open[open.length - 1] = word;
  }
  return undefined;
}

/** A hint for brackets that do not match. */
function bracketHint(words: readonly string[]): string | undefined {
  const [open, closed] = ['(', ')'].map((bracket) => words.filter((word) => word === bracket).length) as [number, number];
  if (open === closed) return undefined;
  return open > closed ? 'A bracket is not closed: write the missing `)`.' : 'A bracket is closed that was not opened: remove a `)`, or write the missing `(`.';
}

/** A hint for a text that PostgreSQL's grammar refuses; undefined if nothing is known about it. */
export function syntaxHint(text: string): string | undefined {
  const [path] = barePaths(text);
  if (path) return pathHint(path.path);
  const words = significant(tokenize(text)).map(shown);
  const forms = ` ${words.join(' ')} `;
  return SYNTAX.find(([form]) => form.test(forms))?.[1] ?? orderHint(words) ?? bracketHint(words);
}

/** The name at an offset as it is written, with its qualifiers: `o.name`, `"rel[c].prop"`, or undefined. */
export function nameAt(text: string, offset: number): string | undefined {
  const tokens = significant(tokenize(text)).filter((t) => t.start >= offset);
  let end: number | undefined;
  for (let i = 0; tokens[i]?.kind === 'word' || tokens[i]?.kind === 'name'; i += 2) {
    end = tokens[i]?.end;
    if (tokens[i + 1]?.value !== '.') break;
  }
  return tokens[0]?.start === offset && end !== undefined ? text.slice(offset, end) : undefined;
}
