/** Runs the statements of a request in order (docs/design/statements-and-versions.md#scripts). */
import type { Caller } from '../../auth/authenticate.ts';
import { audit } from '../../catalog/changes.ts';
import type { Call } from '../../catalog/db.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, positionsIn, SvcError } from '../../errors.ts';
import { parseStatement } from '../../language/classify.ts';
import { splitScript } from '../../language/split.ts';
import type { DropObject, ModelStatement, ReadStatement, ServiceStatement, Statement } from '../../language/statements.ts';
import { sameName } from '../../ontology/names.ts';
import { namesOf, statementDigest } from '../audit.ts';
import { currentCaller, findOntology, outlivesRights, requireOntology, upToDate } from '../caller/lookup.ts';
import { rightsOf } from '../caller/reading-rights.ts';
import { type Prepared, prepareRead, runRead } from '../read/read.ts';
import type { Answer, Script, ServiceRequest } from '../runtime.ts';
import { Changing, type Done, type WritingSession } from '../write/changing.ts';
import { Draft } from '../write/draft.ts';
import { type Batch, RightsGuard } from '../write/rights-guard.ts';
import { applyService, isRead, isService } from '../write/statements.ts';
import { dropAll } from './drop-all.ts';
import { checkPermitted } from './permitted.ts';
import { copyOf, counted, MAX_CACHED_CHARACTERS, parseAll, texts } from './script-text.ts';

/** The result of a dry run. */
export interface DryRun {
  /** The SQL of the last statement for the datasource; null if it does not use the datasource, or the caller may not see the tables. */
  readonly sql: string | null;
  /** The plan of the last statement, or null for a statement without a plan. */
  readonly plan: string | null;
}

/** Statements that were read from model files, and what else their application changes. */
export interface Application {
  readonly statements: readonly Statement[];
  /** Objects to drop after the statements. They may use each other. */
  readonly drops: readonly DropObject[];
  /** The objects that the source of the files has made so far; null if the application has no source. */
  readonly made: { readonly source: string; readonly objects: readonly string[] } | null;
}

/** The result of an application. */
export interface Applied {
  readonly version: string;
  readonly warnings: Draft['warnings'];
}

/**
 * Applies model files to an ontology. @param row the ontology; undefined: the first statement creates it @param isDry true: nothing is saved
 * @throws SvcError as `runScript`; 409 `version_conflict` if another request has changed the ontology
 */
export async function applyStatements(
  request: ServiceRequest,
  script: Script,
  caller: Caller,
  row: OntologyRow | undefined,
  application: Application,
  isDry: boolean,
): Promise<Applied> {
  counted(application.statements, request.spending);
  const run = await ScriptRun.of(request, script, application.statements, caller, row);
  return run.application(application, isDry);
}

const isExample = (s: ServiceStatement): boolean => s.kind === 'create_example' || s.kind === 'drop_example';

/** A step that is executed after all statements have been applied and planned. Steps are in the order of the statements. */
type Step = { readonly kind: 'write'; readonly batch: Batch } | { readonly kind: 'read'; readonly read: Prepared };

/**
 * Runs a script and returns the answer of its last statement. All statements are first applied and planned in memory; if one of them fails there, nothing is
 * saved.
 * @throws SvcError as in docs/design/rows-and-json.md#status-codes
 */
export async function runScript(request: ServiceRequest, script: Script): Promise<Answer> {
  const run = await ScriptRun.begin(request, script);
  return run.all();
}

/**
 * Applies and plans a script in memory as `runScript` does, and lets the datasource explain its last statement. No statement
 * is executed and nothing is saved.
 * @throws SvcError as `runScript`
 */
export async function dryRun(request: ServiceRequest, script: Script): Promise<DryRun> {
  const run = await ScriptRun.begin(request, script);
  return run.dry();
}

const isNone = (name: string): boolean => name === '' || sameName(name, 'system_db');

class ScriptRun implements WritingSession {
  readonly request: ServiceRequest;
  readonly script: Script;
  readonly statements: readonly Statement[];
  readonly caller: Caller;
  readonly #changes: Changing;
  readonly #steps: Step[] = [];
  /** The current ontology of the statements. */
  draft: Draft | undefined;
  /** Calls that are not part of a step yet. */
  #calls: Call[] = [];
  /** Checks that must run on the model that is written. */
  readonly #unsettled: NonNullable<Done['settle']>[] = [];
  /** The rows that the last statement returns if it does not read; called after everything is written. */
  #rows: () => readonly unknown[] = () => [];
  #modelling = false;
  /** Statements after those of the script. */
  #drops: readonly DropObject[] = [];

  private constructor(request: ServiceRequest, script: Script, statements: readonly Statement[], caller: Caller) {
    this.request = request;
    this.script = script;
    this.statements = statements;
    this.caller = statements.every(isRead) ? caller : copyOf(caller);
    this.#changes = new Changing(this);
  }

  static async begin(request: ServiceRequest, script: Script): Promise<ScriptRun> {
    const name = script.ontology;
    let caller = isNone(name) ? await currentCaller(request) : await upToDate(request, name);
    let known = isNone(name) ? undefined : findOntology(caller, name);
    const kept = texts.get(script.sql);
    const sources = (() => {
      if (kept !== undefined) return kept.map((s) => s.source);
      try {
        return splitScript(script.sql);
      } catch (error) {
        // report unknown ontologies before syntax errors
        if (!isNone(name)) requireOntology(caller, name);
        throw error;
      }
    })();
    const [first] = sources;
    if (first === undefined) throw badRequest('empty_query', 'The query contains no statement');
    if (!isNone(name) && known === undefined) {
      const head = /^create\s+(or\s+replace\s+)?ontology\b/i.test(first.text) ? parseStatement(first) : undefined;
      if (head?.kind !== 'create_ontology' || !sameName(head.name.text, name)) requireOntology(caller, name);
    }
    const statements = kept === undefined ? parseAll(sources, request.spending) : counted(kept, request.spending);
    for (const permitted of [request.permitted, script.permitted]) if (permitted != null) checkPermitted(statements, permitted);
    if (statements.every(isRead)) {
      if (kept === undefined && script.sql.length <= MAX_CACHED_CHARACTERS) texts.set(script.sql, statements, 8 * script.sql.length + 1000);
    } else {
      // statements that write are checked with current rights
      caller = await caller.refresh();
      known = isNone(name) ? undefined : findOntology(caller, name);
      if (!isNone(name) && known === undefined && statements[0]?.kind !== 'create_ontology') requireOntology(caller, name);
    }
    return ScriptRun.of(request, script, statements, caller, known);
  }

  /** A run of parsed statements, which starts in an ontology or in none. */
  static async of(
    request: ServiceRequest,
    script: Script,
    statements: readonly Statement[],
    caller: Caller,
    ontology: OntologyRow | undefined,
  ): Promise<ScriptRun> {
    const run = new ScriptRun(request, script, statements, caller);
    const row = ontology === undefined ? undefined : findOntology(run.caller, ontology.name);
    if (row !== undefined) {
      run.draft = await Draft.open(request, run.caller, row);
      run.about();
    }
    return run;
  }

  /** Reports the ontology and version that the answer is about. */
  about(): void {
    if (this.draft !== undefined && this.draft.version !== '') this.request.about(this.draft.name, this.draft.version);
  }

  async all(): Promise<Answer> {
    for (const statement of this.statements) {
      if (isRead(statement)) await this.#read(statement);
      else if (isService(statement)) await this.#service(statement);
      else await this.#model(statement);
    }
    await this.#write();
    return this.#perform();
  }

  async dry(): Promise<DryRun> {
    let last: Prepared | undefined;
    for (const statement of this.statements) {
      last = undefined;
      if (isRead(statement)) {
        const explained: ReadStatement =
          statement.kind === 'select' ? { kind: 'explain', logical: false, source: statement.source, query: statement.source } : statement;
        last = await prepareRead(this, explained, await this.draft?.graph(), false);
      } else if (isService(statement)) await this.#service(statement);
      else await this.#model(statement);
    }
    await this.#flushDraft();
    this.about();
    const asks = this.statements.at(-1)?.kind;
    if (last?.kind !== 'rows' || (asks !== 'select' && asks !== 'explain')) return { sql: null, plan: null };
    const [row] = (await last.rows()) as readonly { readonly SQL: string | null; readonly PLAN: string }[];
    return { sql: row?.SQL ?? null, plan: row?.PLAN ?? null };
  }

  /** @throws SvcError as `applyStatements` */
  async application({ drops, made }: Application, isDry: boolean): Promise<Applied> {
    for (const statement of this.statements) {
      if (isService(statement)) await this.#service(statement);
      else if (!isRead(statement)) await this.#model(statement);
    }
    this.#drops = drops;
    await dropAll(drops, (statement) => this.#model(statement));
    if (made !== null) this.draft?.setMadeBy(made.source, made.objects);
    if (isDry) await this.#flushDraft();
    else {
      await this.#write();
      await this.#perform();
    }
    return { version: this.draft?.version ?? '', warnings: this.draft?.warnings ?? [] };
  }

  async #model(statement: ModelStatement): Promise<void> {
    if (statement.kind === 'alter_ontology' || statement.kind === 'rollback') await this.#openNamed(statement);
    const { draft } = this;
    if (draft === undefined) {
      throw badRequest('no_ontology', 'This statement changes an ontology, but the request names none', {
        offset: statement.source.offset,
        hint: 'Send the name of the ontology in ontology_name',
      });
    }
    await draft.apply(statement);
    this.#modelling = true;
  }

  /** Opens the ontology that ALTER or ROLLBACK names. It must be the ontology of the request, or the request must name none. */
  async #openNamed(statement: ModelStatement & { readonly kind: 'alter_ontology' | 'rollback' }): Promise<void> {
    const { name } = statement;
    if (this.draft !== undefined && sameName(this.draft.name, name.text)) return;
    if (this.draft !== undefined) {
      throw badRequest('other_ontology', `The request is about the ontology \`${this.draft.name}\``, {
        offset: name.offset,
        hint: 'Send the statement in a request for the ontology that it names',
      });
    }
    this.draft = await Draft.open(this.request, this.caller, this.#changes.ontology(name));
  }

  async #service(statement: ServiceStatement): Promise<void> {
    // modelling statements before this statement must be written first
    if (!isExample(statement)) await this.#flushDraft();
    const done = await applyService(this.#changes, statement);
    if (!isExample(statement)) this.#strict = true;
    this.#calls.push(...done.calls);
    if (done.settle !== undefined) this.#unsettled.push(done.settle);
    this.#rows = done.rows;
    this.#modelling = false;
  }

  async #read(statement: ReadStatement): Promise<void> {
    const graph = await this.draft?.graph();
    const read = await prepareRead(this, statement, graph, statement === this.statements.at(-1));
    await this.#write();
    this.#steps.push({ kind: 'read', read });
    this.#modelling = false;
  }

  /** Adds the changes of the draft to the pending calls. */
  async #flushDraft(): Promise<void> {
    const written = await this.draft?.write();
    if (written !== undefined) {
      this.#calls.push(...written.calls);
      this.#version = written.version;
    }
    for (const settle of this.#unsettled.splice(0)) this.#calls.push(...(await settle()));
  }
  #version: string | null = null;
  readonly #notes: { code: string; message: string; offset?: number }[] = [];

  /** True if the pending calls change rights or objects of rights. */
  #strict = false;

  async #write(): Promise<void> {
    await this.#flushDraft();
    if (this.#calls.length === 0) return;
    this.#steps.push({ kind: 'write', batch: { calls: [...this.#calls, await this.#entry()], version: this.#version, strict: this.#strict } });
    this.#calls = [];
    this.#version = null;
    this.#strict = false;
  }

  /** The audit entry of the changes. Statements may contain passwords, so the entry has a digest of them without their values. */
  async #entry(): Promise<Call> {
    const { principal } = this.caller;
    return audit({
      user: principal.name,
      credential: principal.credential,
      ...namesOf([...this.statements, ...this.#drops].filter((s) => !isRead(s))),
      ontology: this.draft?.name ?? null,
      digest: await statementDigest(this.script.sql),
      requestId: this.request.requestId,
      actor: principal.actor?.name,
    });
  }

  async #perform(): Promise<Answer> {
    let answer: Answer | undefined;
    // the script may take long, so rights that the caller loses in the meantime must have no effect
    const guard = new RightsGuard(this.caller);
    let hasWritten = false;
    for (const [i, step] of this.#steps.entries()) {
      answer = undefined;
      if (i > 0 && !hasWritten) await this.#checkRights();
      if (step.kind === 'write') {
        hasWritten = true;
        const { runtime } = this.request;
        const work = guard.commit(runtime.db, step.batch);
        // the commit continues if the caller disconnects
        runtime.waitUntil(work.catch(() => undefined));
        await work;
        this.request.noted?.();
      } else {
        const last = i === this.#steps.length - 1;
        answer = await runRead(this, step.read, last, this.statements.length === 1);
      }
    }
    this.about();
    return answer ?? { kind: 'value', data: this.#modelling ? [this.#modelSummary()] : this.#rows() };
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

  /** The answer of a script of modelling statements. */
  #modelSummary(): unknown {
    const { draft } = this;
    if (draft === undefined) throw new SvcError(500, 'internal_error', 'The service failed to answer this request');
    const positionOf = positionsIn(this.script.sql);
    return {
      version: draft.version,
      statements: draft.statements,
      warnings: [...this.#notes, ...draft.warnings].map(({ code, message, offset }) => ({
        code,
        message,
        ...(offset === undefined ? {} : { position: positionOf(offset) }),
      })),
    };
  }

  /** CREATE ONTOLOGY: the script continues in the new ontology, if the request names it or names none. */
  enterOntology(draft: Draft): boolean {
    if (this.draft === undefined || sameName(this.draft.name, draft.name)) {
      this.draft = draft;
      return true;
    }
    const message = `the statements after CREATE ONTOLOGY \`${draft.name}\` change \`${this.draft.name}\`, which the request names`;
    this.#notes.push({ code: 'other_ontology', message });
    return false;
  }

  /** DROP ONTOLOGY: leaves the ontology if it is the current one. */
  leaveOntology(row: OntologyRow): void {
    if (this.draft?.row.id === row.id) this.draft = undefined;
  }
}
