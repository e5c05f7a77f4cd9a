/**
 * A parameter of a request's JSON as PostgreSQL's text: null stays null, texts are unchanged, numbers, booleans and
 * objects become their JSON, arrays an array literal (as in Neon's proxy).
 */
export function toParameter(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return toArrayLiteral(value);
  return JSON.stringify(value);
}

function toArrayLiteral(values: unknown[]): string {
  const items = values.map((v) => {
    if (v === null || v === undefined) return 'NULL';
    if (Array.isArray(v)) return toArrayLiteral(v);
    return typeof v === 'object' ? quoted(JSON.stringify(v)) : typeof v === 'string' ? quoted(v) : JSON.stringify(v);
  });
  return `{${items.join(',')}}`;
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
