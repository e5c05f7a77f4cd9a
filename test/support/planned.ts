/** A model over tables in an embedded database: the rows of planned queries, and those of SQL that is written by hand. */
import type { PGlite } from '@electric-sql/pglite';
import { expect } from 'vitest';
import { withColumnTypes } from '../../bench/tpch/typed.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { type Plan, type PlanContext, type PlanOptions, planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from './databases/memory.ts';

export class PlannedTables {
  readonly db: PGlite;
  readonly #context: PlanContext;

  private constructor(db: PGlite, context: PlanContext) {
    this.db = db;
    this.#context = context;
  }

  /** Creates the tables, and the ontology over them with the types of their columns. */
  static async open(tables: string, model: string, ontology: string): Promise<PlannedTables> {
    const db = await memoryDatabase();
    await db.exec(tables);
    return PlannedTables.#over(db, model, ontology);
  }

  /** Another ontology over the same tables. The database is not opened again, which takes half a second of CPU time; `close` of either closes it. */
  withModel(model: string, ontology: string): Promise<PlannedTables> {
    return PlannedTables.#over(this.db, model, ontology);
  }

  static async #over(db: PGlite, model: string, ontology: string): Promise<PlannedTables> {
    const parser = await loadNodeParser();
    const graph = await withColumnTypes(graphOf(model, ontology, parser), (sql) => db.query(sql));
    return new PlannedTables(db, { graph, parser, product: 'svc', activeDatasource: 'main' });
  }

  /** The plan of a query. @param changes members of the context that differ, such as the caller's policies */
  plan(query: string, changes: Partial<PlanContext> = {}, options: PlanOptions = {}): Plan {
    return planSelect({ ...this.#context, ...changes }, { text: query, offset: 0 }, options);
  }

  /** The rows of a query as PostgreSQL writes them in JSON, so that digits and types count, sorted as texts. */
  async rows(query: string, changes: Partial<PlanContext> = {}): Promise<string[]> {
    const { sql, params } = this.plan(query, changes);
    return this.#texts(`SELECT row::text FROM (${sql}) q(row)`, params);
  }

  /** The rows of SQL on the tables, as `rows` returns them. */
  rowsByHand(sql: string): Promise<string[]> {
    return this.#texts(`SELECT row_to_json(q)::text AS row FROM (${sql}) q`);
  }

  /** Expects that a query has the values of SQL on the tables, in any order of rows. The names of columns may differ. The SQL must return rows. */
  async expectValues(query: string, sql: string): Promise<void> {
    const { rows } = await this.db.query<unknown[]>(sql, [], { rowMode: 'array' });
    expect(rows.length, query).toBeGreaterThan(0);
    const found = (await this.rows(query)).map((row) => JSON.stringify(Object.values(JSON.parse(row))));
    expect(found.sort(), query).toEqual(rows.map((row) => JSON.stringify(row)).sort());
  }

  close(): Promise<void> {
    return this.db.close();
  }

  async #texts(sql: string, params: readonly unknown[] = []): Promise<string[]> {
    return (await this.db.query<{ row: string }>(sql, [...params])).rows.map(({ row }) => row).sort();
  }
}
