/** SQL in what a language model says. Pure. */

const FENCE = /```[a-z]*[ \t]*\r?\n?([\s\S]*?)```/i;
/** A longer text is no query that anybody reads. */
const MAX_CHARACTERS = 20_000;

/** The statement in a text that has not the agreed form: inside a code fence, or the text itself where it begins as a query does. */
export function sqlIn(text: string): string | undefined {
  const fenced = FENCE.exec(text)?.[1];
  const sql = statement(fenced ?? text);
  return sql !== '' && (fenced !== undefined || /^(select|with)\b/i.test(sql)) ? sql : undefined;
}

/** A statement without fence, and without semicolons and space at its end. */
export function statement(text: string): string {
  const inner = FENCE.exec(text)?.[1] ?? text;
  return inner
    .slice(0, MAX_CHARACTERS)
    .replace(/[\s;]+$/, '')
    .trimStart();
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
