/** Queries about the data of an ontology, in the ontology's own terms, and the findings about it. */
import type { Datasource } from '../engine/datasource.ts';
import { httpEngine } from '../engine/engine.ts';
import { areAsPlanned, mayBeOutdated } from '../engine/placements.ts';
import type { OwnText, SqlText } from '../engine/statement.ts';
import { SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { compile } from '../ontology/compile.ts';
import type { Graph } from '../ontology/graph.ts';
import type { MappingDef } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import { type FinishedRewrite, type Plan, planSelect, type Target } from '../planner/index.ts';
import { decorrelate } from '../planner/lower/decorrelate.ts';
import { ANYWHERE } from '../planner/lower/placed.ts';
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
type Some<T> = readonly [T, ...T[]];
/** A SELECT, and the part of the ontology that it is over. */
export type Part = readonly [sql: string, graph?: Graph | undefined];

/** How a statement is planned again. */
interface Form {
  readonly rewrite?: FinishedRewrite | undefined;
  /** In place of that of the context. */
  readonly target?: Target;
}

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
  plan(sql: string, graph: Graph = this.context.graph, { rewrite, target: known }: Form = {}): Plan {
    this.statements++;
    const { parser, product, activeDatasource, allowedFunctions, targets } = this.context;
    const target = (datasource: string): Target | undefined => known ?? targets.get(fold(datasource));
    return planSelect({ graph, parser, product, activeDatasource, allowedFunctions, target, rewrite }, { text: sql, offset: 0 });
  }

  /** The rows of a SELECT. @throws SvcError */
  all(sql: string, graph?: Graph): Promise<Row[]> {
    return this.#planned([[sql, graph]], ([plan], [text]) => this.#rows(plan.datasource, text, plan.params, plan.relied));
  }

  /**
   * The rows of a statement that is composed of the SELECTs of a datasource, which have no parameters.
   * @throws SvcError
   */
  composed(datasource: string, parts: readonly Part[], compose: (texts: readonly SqlText[]) => OwnText): Promise<Row[]> {
    this.statements++;
    return this.#planned(parts, (plans, texts) => {
      if (plans.some((p) => p.params.length > 0)) throw new Error('the plan has parameters');
      return this.#rows(datasource, compose(texts), [], [...new Set(plans.flatMap((p) => p.relied))]);
    });
  }

  /** Plans SELECTs and asks for their rows. On Citus they are planned again as queries are: if they are refused, and if a reference table is distributed by now. */
  async #planned(parts: readonly Part[], ask: (plans: Some<Plan>, texts: Some<SqlText>) => Promise<Row[]>): Promise<Row[]> {
    for (let form: Form = {}; ; ) {
      const plans = parts.map(([sql, graph]) => this.plan(sql, graph, form)) as unknown as Some<Plan>;
      const texts = plans.map(({ sql, declared }) => verify(this.context.parser, sql, declared)) as unknown as Some<SqlText>;
      try {
        return await ask(plans, texts);
      } catch (error) {
        if (!plans.some((p) => p.target)) throw error;
        const rewrite = form.rewrite ? form.rewrite.next : decorrelate;
        if (!form.target && mayBeOutdated(error)) form = { ...form, target: ANYWHERE };
        else if (rewrite && error instanceof SvcError && error.code === 'feature_not_supported') form = { ...form, rewrite };
        else throw error;
      }
    }
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
    return this.#rows(datasource, sql, params, []);
  }

  async #rows(datasource: string, text: SqlText, params: readonly (string | null)[], relied: readonly string[]): Promise<Row[]> {
    const connection = this.context.datasources.get(fold(datasource));
    if (!connection) throw new Error(`no connection to ${datasource}`);
    const { timeoutMs, signal } = this.context;
    signal?.throwIfAborted();
    const check = relied.length === 0 ? undefined : areAsPlanned(relied);
    const statements = [{ text, params }, ...(check ? [check.statement] : [])];
    const options = { timeoutMs, signal, ownText: true, readsCommitted: check !== undefined };
    const [result, checked] = await httpEngine.batch(connection, statements, options).catch((error: unknown) => {
      // a check that was stopped has found nothing
      signal?.throwIfAborted();
      throw error;
    });
    check?.accept(checked?.rows);
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
