/** Parameters of a statement, written as `:name`: the console replaces them by literals before it sends the statement. Pure. */
import { literal } from '../api/names.ts';

/** Quoted texts and names, comments and casts, which contain no parameters; then a parameter. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|\/\*[\s\S]*?\*\/|(\$\w*\$)[\s\S]*?\1|::|(?<![\w)\]]):([A-Za-z_]\w*)/g;

/** The names of a statement's parameters, in the order of their first use. */
export function parameterNames(text: string): readonly string[] {
  return [...new Set([...text.matchAll(TOKEN)].flatMap((m) => (m[2] === undefined ? [] : [m[2]])))];
}

/** What the user entered, as SQL: numbers, true, false and null as they are, a negative number in parentheses; anything else, and anything in quotes, is a text. */
export function valueSql(entered: string): string {
  const text = entered.trim();
  // without parentheses `-:x` would be the start of a comment
  if (/^(?:[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|true|false|null)$/i.test(text)) return text.replace(/^-.+/, '($&)');
  return literal(/^'[\s\S]*'$/.test(text) && text.length > 1 ? text.slice(1, -1) : entered);
}

export interface Bound {
  readonly sql: string;
  /** Parameters without a value. They are NULL in `sql`. */
  readonly missing: readonly string[];
  /** The offset in the text of an offset in `sql`. */
  origin(offset: number): number;
}

/** Replaces the parameters of a statement by values. */
export function bind(text: string, values: Readonly<Record<string, string>>): Bound {
  const missing = new Set<string>();
  const shifts: { readonly from: number; readonly to: number; readonly at: number; readonly by: number }[] = [];
  let moved = 0;
  const sql = text.replace(TOKEN, (...found: unknown[]) => {
    const [token, name, at] = [found[0] as string, found[2] as string | undefined, found[3] as number];
    if (name === undefined) return token;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === '') missing.add(name);
    const written = value === undefined || value === '' ? 'NULL' : valueSql(value);
    const from = at + moved;
    moved += written.length - token.length;
    shifts.push({ from, to: from + written.length, at, by: moved });
    return written;
  });
  const origin = (offset: number): number => {
    let by = 0;
    for (const shift of shifts) {
      if (offset < shift.from) break;
      if (offset < shift.to) return shift.at;
      by = shift.by;
    }
    return offset - by;
  };
  return { sql, missing: [...missing], origin };
}
