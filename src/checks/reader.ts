/** Queries about the data of an ontology, in the ontology's own terms, and the findings about it. */
import type { Datasource } from '../engine/datasource.ts';
import { httpEngine } from '../engine/engine.ts';
import type { OwnText, SqlText } from '../engine/statement.ts';
import type { SqlParser } from '../language/parser.ts';
import { compile } from '../ontology/compile.ts';
import type { Graph } from '../ontology/graph.ts';
import type { MappingDef } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import { type Plan, planSelect, type Target } from '../planner/index.ts';
import { verify } from '../planner/verify/index.ts';

/** A finding of a check. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  /** The object that it is about, e.g. `concept city`. */
  readonly object: string;
  readonly message: string;
}

/** What a reader needs. */
export interface DataContext {
  readonly graph: Graph;
  readonly parser: SqlParser;
  readonly product: string;
  readonly activeDatasource: string;
  readonly allowedFunctions: ReadonlySet<string>;
  /** Connections, by the datasource's key. */
  readonly datasources: ReadonlyMap<string, Datasource>;
  /** Where those on Citus have their tables, by the datasource's key. */
  readonly targets: ReadonlyMap<string, Target>;
  /** How long a statement may take. */
  readonly timeoutMs: number;
  /** Cancels the running statement; no further one is sent. */
  readonly signal?: AbortSignal;
}

type Row = Readonly<Record<string, unknown>>;

/** The name of the view in which `over` provides the rows of one mapping. */
export const ROWS = 'mapping_rows';

export class DataReader {
  readonly context: DataContext;
  /** How many statements were planned or sent. */
  statements = 0;

  constructor(context: DataContext) {
    this.context = context;
  }

  /** Plans a SELECT over the ontology, or over a part of it. @throws SvcError if it cannot be planned */
  plan(sql: string, graph: Graph = this.context.graph): Plan {
    this.statements++;
    const { parser, product, activeDatasource, allowedFunctions, targets } = this.context;
    const target = (datasource: string): Target | undefined => targets.get(fold(datasource));
    return planSelect({ graph, parser, product, activeDatasource, allowedFunctions, target }, { text: sql, offset: 0 });
  }

  /** The text of a SELECT without parameters, as a part of a longer text. @throws SvcError */
  text(sql: string, graph?: Graph): SqlText {
    const { sql: planned, params, declared } = this.plan(sql, graph);
    if (params.length > 0) throw new Error('the plan has parameters');
    return verify(this.context.parser, planned, declared);
  }

  /** The rows of a SELECT. @throws SvcError */
  all(sql: string, graph?: Graph): Promise<Row[]> {
    const { datasource, sql: planned, params, declared } = this.plan(sql, graph);
    return this.#rows(datasource, verify(this.context.parser, planned, declared), params);
  }

  /** The first row of a SELECT. @throws SvcError */
  async first(sql: string, graph?: Graph): Promise<Row> {
    const [row] = await this.all(sql, graph);
    return row ?? {};
  }

  /** The column `n` of the first row of a SELECT. @throws SvcError */
  async count(sql: string, graph?: Graph): Promise<number> {
    return Number((await this.first(sql, graph)).n ?? 0);
  }

  /** The rows of a statement over the datasource's tables that returns one column of JSON. @throws SvcError */
  run(datasource: string, sql: OwnText, params: readonly (string | null)[] = []): Promise<Row[]> {
    this.statements++;
    return this.#rows(datasource, sql, params);
  }

  async #rows(datasource: string, text: SqlText, params: readonly (string | null)[]): Promise<Row[]> {
    const connection = this.context.datasources.get(fold(datasource));
    if (!connection) throw new Error(`no connection to ${datasource}`);
    const { timeoutMs, signal } = this.context;
    signal?.throwIfAborted();
    const [result] = await httpEngine.batch(connection, [{ text, params }], { timeoutMs, signal, ownText: true }).catch((error: unknown) => {
      // a check that was stopped has found nothing
      signal?.throwIfAborted();
      throw error;
    });
    return (result?.rows ?? []).map(([json]) => JSON.parse(json ?? '{}') as Row);
  }

  /** The ontology with `mapping` as its only mapping. */
  only(mapping: MappingDef): Graph {
    const { model, ontology } = this.context.graph;
    return compile({ ...model, mappings: [mapping] }, ontology);
  }

  /** The ontology with the rows of a mapping's SELECT as the view `ROWS`. */
  over({ datasource, sql, columns }: MappingDef): Graph {
    const { model, ontology } = this.context.graph;
    const view = { name: ROWS, cube: false, datasource, description: null, tags: {}, sql, columns };
    return compile({ ...model, views: [view] }, ontology);
  }

  /** The ontology with the rows of the SELECTs of several mappings of one datasource as the views `ROWS_0`, `ROWS_1` and so on. */
  overAll(mappings: readonly MappingDef[]): Graph {
    const { model, ontology } = this.context.graph;
    const views = mappings.map(({ datasource, sql, columns }, i) => ({
      name: `${ROWS}_${i}`,
      cube: false,
      datasource,
      description: null,
      tags: {},
      sql,
      columns,
    }));
    return compile({ ...model, views }, ontology);
  }
}
