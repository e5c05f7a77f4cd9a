/** Runs the statements of a script that only reads, and begins every script. */
import type { Caller } from '../../auth/authenticate.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { SvcError } from '../../errors.ts';
import type { ReadStatement, Statement } from '../../language/statements.ts';
import type { Graph } from '../../ontology/graph.ts';
import { currentCaller, findOntology, loadGraph, outlivesRights } from '../caller/lookup.ts';
import { rightsOf } from '../caller/reading-rights.ts';
import { type Prepared, prepareRead, runRead } from '../read/read.ts';
import type { Answer, Script, ServiceRequest } from '../runtime.ts';
import type { OpenOntology, Session } from '../session.ts';

/** The result of a dry run. */
export interface DryRun {
  /** The SQL of the last statement for the datasource; null if it does not use the datasource, or the caller may not see the tables. */
  readonly sql: string | null;
  /** The plan of the last statement, or null for a statement without a plan. */
  readonly plan: string | null;
}

/** A parsed script, with its caller and the ontology in which it begins. */
export interface Begun {
  readonly request: ServiceRequest;
  readonly script: Script;
  readonly statements: readonly Statement[];
  readonly caller: Caller;
  /** Undefined: the script begins in no ontology. */
  readonly row: OntologyRow | undefined;
}

/** An ontology that a script does not change. */
class KeptOntology implements OpenOntology {
  readonly row: OntologyRow;
  readonly #graph: Graph;
  readonly changed = false;

  constructor(row: OntologyRow, graph: Graph) {
    this.row = row;
    this.#graph = graph;
  }

  get name(): string {
    return this.row.name;
  }
  get version(): string {
    return this.row.version;
  }
  async graph(): Promise<Graph> {
    return this.#graph;
  }
}

/** A step that is executed after all statements have been applied and planned. @returns the answer of a statement that reads; undefined after a write */
type Step = (isLast: boolean) => Promise<Answer | undefined>;

/** A script that reads. */
export class Run implements Session {
  readonly request: ServiceRequest;
  readonly script: Script;
  readonly statements: readonly Statement[];
  readonly caller: Caller;
  /** The current ontology of the statements. */
  draft: OpenOntology | undefined;
  /** Steps in the order of the statements. */
  protected readonly steps: Step[] = [];
  /** True after the first step that writes. */
  protected hasWritten = false;

  constructor({ request, script, statements, caller }: Begun) {
    this.request = request;
    this.script = script;
    this.statements = statements;
    this.caller = caller;
  }

  /** Opens the ontology in which the script begins. @throws SvcError 404, 503 */
  static async of(begun: Begun): Promise<Run> {
    const run = new Run(begun);
    if (begun.row !== undefined) run.draft = new KeptOntology(begun.row, await loadGraph(begun.request.runtime, begun.row));
    run.about();
    return run;
  }

  /** Reports the ontology and version that the answer is about. */
  protected about(): void {
    if (this.draft !== undefined && this.draft.version !== '') this.request.about(this.draft.name, this.draft.version);
  }

  /** Runs all statements. @returns the answer of the last one */
  async all(): Promise<Answer> {
    for (const statement of this.statements) await this.apply(statement);
    await this.finish();
    return this.perform();
  }

  /** Applies and plans the statements. The datasource explains the last one; nothing is executed. */
  async dry(): Promise<DryRun> {
    let last: Prepared | undefined;
    for (const statement of this.statements) {
      last = undefined;
      if (this.reads(statement)) last = await prepareRead(this, explained(statement), await this.draft?.graph(), false);
      else await this.apply(statement);
    }
    await this.finishDry();
    this.about();
    const asks = this.statements.at(-1)?.kind;
    if (last?.kind !== 'rows' || (asks !== 'select' && asks !== 'explain')) return { sql: null, plan: null };
    const [row] = (await last.rows()) as readonly { readonly SQL: string | null; readonly PLAN: string }[];
    return { sql: row?.SQL ?? null, plan: row?.PLAN ?? null };
  }

  /** True for a statement that reads. All statements of this kind of run do. */
  protected reads(_statement: Statement): _statement is ReadStatement {
    return true;
  }

  /** Applies a statement in memory, or plans it. */
  protected async apply(statement: Statement): Promise<void> {
    const read = await prepareRead(this, statement as ReadStatement, await this.draft?.graph(), statement === this.statements.at(-1));
    await this.finish();
    this.steps.push((isLast) => runRead(this, read, isLast, this.statements.length === 1));
  }

  /** Adds steps for what has been applied. Called before the step of a statement that reads, and after the last statement. */
  protected async finish(): Promise<void> {}

  /** The same for a dry run. */
  protected async finishDry(): Promise<void> {}

  /** The answer of a script whose last statement does not read. */
  protected summary(): Answer {
    return { kind: 'value', data: [] };
  }

  protected async perform(): Promise<Answer> {
    let answer: Answer | undefined;
    for (const [i, step] of this.steps.entries()) {
      // the script may take long, so rights that the caller loses in the meantime must have no effect
      if (i > 0 && !this.hasWritten) await this.#checkRights();
      answer = await step(i === this.steps.length - 1);
    }
    this.about();
    return answer ?? this.summary();
  }

  /**
   * Ends a script that reads if its rights are older than a minute and have changed since. A script that writes may change rights itself; its rights are checked
   * by the commit. @throws SvcError 409 `rights_changed`; as `Caller.refresh`
   */
  async #checkRights(): Promise<void> {
    const { runtime } = this.request;
    if (!outlivesRights({ caller: this.caller, runtime })) return;
    const digest = async (caller: Caller): Promise<string> => (await rightsOf(caller, this.draft && findOntology(caller, this.draft.name))).digest;
    const now = await currentCaller({ caller: this.caller, runtime });
    if ((await digest(this.caller)) === (await digest(now))) return;
    throw new SvcError(409, 'rights_changed', 'The rights of the caller changed while the script ran', { hint: 'Send the script again' });
  }
}

const explained = (statement: ReadStatement): ReadStatement =>
  statement.kind === 'select' ? { kind: 'explain', logical: false, source: statement.source, query: statement.source } : statement;
