/** Statements with the values of their parameters as literals. */
import type { SqlParser } from '../../../src/language/parser.ts';

/** Replaces each `$n` by a literal of its value: PostgreSQL gives both the type of their context. */
export function withLiterals(parser: SqlParser, sql: string, params: readonly (string | null)[]): string {
  if (params.length === 0) return sql;
  const bytes = Buffer.from(sql);
  const places: { readonly at: number; readonly number: number }[] = [];
  const find = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const ref = (value as { ParamRef?: { number: number; location?: number } }).ParamRef;
    if (ref) places.push({ at: ref.location ?? 0, number: ref.number });
    for (const v of Object.values(value)) find(v);
  };
  find(parser.parse(sql).stmts);
  places.sort((a, b) => a.at - b.at);
  const parts: Buffer[] = [];
  let from = 0;
  for (const { at, number } of places) {
    const value = params[number - 1];
    const literal = value === null || value === undefined ? 'NULL' : `'${value.replaceAll("'", "''")}'`;
    parts.push(bytes.subarray(from, at), Buffer.from(literal));
    from = at + `$${number}`.length;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]).toString();
}
