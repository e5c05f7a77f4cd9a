/**
 * Finds the texts that a statement compares columns with, from its tokens. This is enough to look values up; comparisons that it does not recognise are not checked.
 * Pure.
 */

export interface Comparison {
  /** The column, without quotes and qualifier. */
  readonly column: string;
  /** The concept at the end of the path; null if the column belongs to a relation in FROM. */
  readonly target: string | null;
  readonly value: string;
}

// the lookbehinds let a name match only at the start of a run of letters or quotes, which keeps the time linear
const NAME = '(?<!`)`(?:[^`]|``)*`|(?<!")"(?:[^"]|"")*"|(?<![\\p{L}\\p{N}_$])[\\p{L}_][\\p{L}\\p{N}_$]*';
const TEXT = "'(?:[^']|'')*'";
/** String literals outside comparisons are matched as a whole, to skip them. */
const COMPARED = new RegExp(`${TEXT}|(${NAME})\\s*(?:(?:=|<>|!=)\\s*(${TEXT})|(?:NOT\\s+)?IN\\s*\\(\\s*(${TEXT}(?:\\s*,\\s*${TEXT})*)\\s*\\))`, 'giu');
const FROM = new RegExp(`(${NAME})\\s*\\.\\s*(${NAME})`, 'gu');
/** The maximum number of comparisons to return. */
const MAX_COMPARISONS = 50;

/** Comparisons of columns with texts by =, <> and IN. */
export function comparisonsOf(sql: string): readonly Comparison[] {
  const found: Comparison[] = [];
  for (const [, name, one, list] of sql.matchAll(COMPARED)) {
    if (name === undefined) continue;
    const written = unquoted(name);
    const path = /\[([^[\]*]+)(?:\*\d*)?\]\.([^[\].]+)$/u.exec(written);
    for (const [text] of (list ?? one ?? '').matchAll(new RegExp(TEXT, 'g'))) {
      if (found.length >= MAX_COMPARISONS) return found;
      found.push({ column: path?.[2] ?? written, target: path?.[1] ?? null, value: text.slice(1, -1).replaceAll("''", "'") });
    }
  }
  return found;
}

/** The names after a schema of the product: the relations that a statement reads, without aliases and strings. */
export function relationsOf(sql: string, product: string): readonly string[] {
  const schemas = new Set(['', 'e', 'd', 'v'].map((p) => `${p}${product}`.toLowerCase()));
  const bare = sql.replace(new RegExp(TEXT, 'g'), "''");
  return [
    ...new Set([...bare.matchAll(FROM)].filter(([, schema = '']) => schemas.has(unquoted(schema).toLowerCase())).map(([, , name = '']) => unquoted(name))),
  ];
}

function unquoted(name: string): string {
  const quote = name[0];
  return quote === '`' || quote === '"' ? name.slice(1, -1).replaceAll(quote + quote, quote) : name;
}
