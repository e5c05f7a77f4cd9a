/** SQL in what a language model says. Pure. */
import { clean, withoutThoughts } from './fence.ts';

const FENCES = /```(?:[a-z]*[ \t]*\r?\n|(?:postgre)?sql\b)?([\s\S]*?)```/gi;
const BEGINS = /^(?:select|with)\b/i;
/** A longer text is no query that anybody reads; a part of it would be another query. */
const MAX_CHARACTERS = 20_000;
/** Of a longer text only the beginning is searched. */
const MAX_TEXT = 100_000;

/** The statement in a text that has not the agreed form: inside the only code fence, or the text itself where it begins as a query does. */
export function sqlIn(text: string): string | undefined {
  const said = withoutThoughts(text.slice(0, MAX_TEXT)).trim();
  const sql = BEGINS.test(said) ? (text.length > MAX_TEXT ? '' : statement(said)) : fencedIn(said);
  return sql === '' ? undefined : sql;
}

/** A statement without fence, and without semicolons and space at its end; empty where it is too long to be one. */
export function statement(text: string): string {
  if (text.length > MAX_TEXT) return '';
  const said = text.trim();
  return BEGINS.test(said) ? bare(said) : (fencedIn(said) ?? bare(said));
}

/** What stands in code fences, where that is one statement. */
function fencedIn(text: string): string | undefined {
  const found = [...text.matchAll(FENCES)].map((m) => bare(m[1] ?? '')).filter((sql) => sql !== '');
  const [first, ...others] = found;
  return first !== undefined && others.every((other) => sameSql(first, other)) ? first : undefined;
}

function bare(text: string): string {
  const sql = clean(text);
  let end = sql.length;
  while (end > 0 && /[\s;]/.test(sql[end - 1] as string)) end--;
  const made = sql.slice(0, end).trimStart();
  return made.length > MAX_CHARACTERS ? '' : made;
}

/** Whether two statements are the same but for space and the case of what is not quoted. */
export const sameSql = (a: string, b: string): boolean => normal(a) === normal(b);

const normal = (sql: string): string =>
  sql
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\s+|[^\s'"`]+/g, (part) =>
      /^\s/.test(part) ? ' ' : /^['"`]/.test(part) ? part : part.toLowerCase(),
    )
    .trim();

/** Texts between single quotes, as values: what a statement compares with. */
export const literalsOf = (sql: string): readonly string[] => [...sql.matchAll(/'((?:[^']|'')*)'/g)].map((m) => (m[1] ?? '').replaceAll("''", "'"));
