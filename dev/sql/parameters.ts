/**
 * A parameter of a request's JSON as PostgreSQL's text: null stays null, text is taken as it is, numbers, booleans and
 * objects as their JSON, arrays as an array literal (as Neon's proxy does).
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
