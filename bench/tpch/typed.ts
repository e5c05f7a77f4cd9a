/** What the service knows of the tables: types of mapped columns, and enforced foreign keys. */

import { ENFORCED, keyOfRow } from '../../src/engine/references.ts';
import { sqlOf } from '../../src/engine/statement.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { Graph } from '../../src/ontology/graph.ts';

/** The common interface of `pg` and PGlite. */
export interface Answer {
  readonly rows: readonly Record<string, unknown>[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** The graph with PostgreSQL's types of all mapped columns, and the collations of texts. */
export async function withColumnTypes(graph: Graph, query: (sql: string) => Promise<Answer>): Promise<Graph> {
  const { rows } = await query('SELECT oid::integer AS oid, typname::text AS name FROM pg_type');
  const types = new Map(rows.map((r) => [r.oid as number, r.name as string]));
  const mappings = [];
  for (const mapping of graph.model.mappings) {
    const { fields } = await query(`SELECT * FROM (${mapping.sql}) m LIMIT 0`);
    const columns = fields.map((f) => ({ name: f.name, type: types.get(f.dataTypeID) ?? 'text' }));
    const texts = columns
      .filter((c) => c.type === 'text')
      .map((c) => `pg_collation_for(m."${c.name.replaceAll('"', '""')}") AS "${c.name.replaceAll('"', '""')}"`);
    const [found = {}] =
      texts.length > 0 ? (await query(`SELECT ${texts.join(', ')} FROM (VALUES (1)) v LEFT JOIN (${mapping.sql}) m ON true LIMIT 1`)).rows : [];
    const collated = (name: string): object => (found[name] === undefined || found[name] === '"default"' ? {} : { collation: String(found[name] ?? '') });
    mappings.push({ ...mapping, columns: columns.map((c) => ({ ...c, ...collated(c.name) })) });
  }
  return compile({ ...graph.model, mappings }, graph.ontology);
}

/** Whether the database enforces a reference, as the service asks it. */
export async function enforcedIn(query: (sql: string) => Promise<Answer>): Promise<(datasource: string, key: string) => boolean> {
  const { rows } = await query(sqlOf(ENFORCED));
  const keys = new Set(rows.map(({ key }) => keyOfRow(String(key))));
  return (_, key) => keys.has(key);
}
