/**
 * Texts that a statement compares columns with, read off its tokens: enough to look values up, no more. What is not seen is not doubted.
 * Pure.
 */

export interface Comparison {
  /** Without quotes and qualifier. */
  readonly column: string;
  /** The concept at the end of the path; null: the column stands in a relation of FROM. */
  readonly target: string | null;
  readonly value: string;
}

// Lookbehinds: a name is tried at the beginning of a run of letters or quotes only, which keeps the time linear.
const NAME = '(?<!`)`(?:[^`]|``)*`|(?<!")"(?:[^"]|"")*"|(?<![\\p{L}\\p{N}_$])[\\p{L}_][\\p{L}\\p{N}_$]*';
const TEXT = "'(?:[^']|'')*'";
/** Other texts are passed over as a whole. */
const COMPARED = new RegExp(`${TEXT}|(${NAME})\\s*(?:(?:=|<>|!=)\\s*(${TEXT})|(?:NOT\\s+)?IN\\s*\\(\\s*(${TEXT}(?:\\s*,\\s*${TEXT})*)\\s*\\))`, 'giu');
const FROM = new RegExp(`(${NAME})\\s*\\.\\s*(${NAME})`, 'gu');
/** More of them are not looked at. */
const MOST = 50;

/** Comparisons of columns with texts by =, <> and IN. */
export function comparisonsOf(sql: string): readonly Comparison[] {
  const found: Comparison[] = [];
  for (const [, name, one, list] of sql.matchAll(COMPARED)) {
    if (name === undefined) continue;
    const written = unquoted(name);
    const path = /\[([^[\]*]+)(?:\*\d*)?\]\.([^[\].]+)$/u.exec(written);
    for (const [text] of (list ?? one ?? '').matchAll(new RegExp(TEXT, 'g'))) {
      if (found.length >= MOST) return found;
      found.push({ column: path?.[2] ?? written, target: path?.[1] ?? null, value: text.slice(1, -1).replaceAll("''", "'") });
    }
  }
  return found;
}

/** Names that stand behind a schema of the product: what is read, aliases and strings aside. */
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
