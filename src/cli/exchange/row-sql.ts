/** SQL over the rows of several sources of one concept. */
import { quoteDouble } from '../../language/quote.ts';
import { sameName } from '../../ontology/names.ts';

/** A query and the properties that it has as columns. */
export interface RowQuery {
  readonly sql: string;
  readonly properties: readonly string[];
}

/** Combines queries over the same objects by their key: each object once, with the values of all queries. */
export function combined(queries: readonly RowQuery[], key: readonly string[]): string {
  const keys = key.map(quoteDouble);
  const parts = queries.map((q) => `(${q.sql})`);
  const names = [...new Set(queries.flatMap((q) => q.properties))].filter((n) => !key.some((k) => sameName(k, n)));
  const value = (name: string): string => {
    const from = queries.flatMap((q, i) => (q.properties.some((p) => sameName(p, name)) ? [`p${i}.${quoteDouble(name)}`] : []));
    return `${from.length === 1 ? from[0] : `coalesce(${from.join(', ')})`} AS ${quoteDouble(name)}`;
  };
  const objects = parts.map((p, i) => `SELECT ${keys.join(', ')} FROM ${p} AS k${i}`).join(' UNION ');
  const joins = parts.map((p, i) => `LEFT JOIN ${p} AS p${i} ON ${keys.map((k) => `p${i}.${k} = o.${k}`).join(' AND ')}`);
  return `SELECT ${[...keys.map((k) => `o.${k}`), ...names.map(value)].join(', ')} FROM (${objects}) AS o ${joins.join(' ')}`;
}

/** Rows without those that other queries have too: an object in two mappings would count twice. */
export function without(query: RowQuery, others: readonly string[], key: readonly string[]): string {
  if (others.length === 0) return query.sql;
  const conditions = others.map(
    (sql, i) =>
      `NOT EXISTS (SELECT FROM (\n${sql}\n) AS below${i} WHERE ${key.map((k) => `below${i}.${quoteDouble(k)} = rows_above.${quoteDouble(k)}`).join(' AND ')})`,
  );
  return `SELECT ${query.properties.map(quoteDouble).join(', ')} FROM (\n${query.sql}\n) AS rows_above WHERE ${conditions.join(' AND ')}`;
}

/** Rows of a query with the values that other queries have of the same objects. */
export function extended(query: RowQuery, others: readonly RowQuery[], key: readonly string[]): RowQuery {
  const more = new Map<string, number>();
  for (const [i, o] of others.entries()) for (const p of o.properties) if (![...query.properties, ...more.keys()].some((q) => sameName(q, p))) more.set(p, i);
  const used = [...new Set(more.values())];
  if (used.length === 0) return query;
  const list = [...query.properties.map((p) => `o.${quoteDouble(p)}`), ...[...more].map(([p, i]) => `p${i}.${quoteDouble(p)}`)];
  const joins = used.map(
    (i) => `LEFT JOIN (\n${others[i]?.sql}\n) AS p${i} ON ${key.map((k) => `p${i}.${quoteDouble(k)} = o.${quoteDouble(k)}`).join(' AND ')}`,
  );
  return { sql: `SELECT ${list.join(', ')} FROM (\n${query.sql}\n) AS o ${joins.join(' ')}`, properties: [...query.properties, ...more.keys()] };
}
