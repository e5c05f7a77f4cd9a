/** Runs a script with statements that change something. */
import { audit } from '../../catalog/changes.ts';
import type { Call } from '../../catalog/db.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, positionsIn, SvcError } from '../../errors.ts';
import type { DropObject, ModelStatement, ReadStatement, ServiceStatement, Statement } from '../../language/statements.ts';
import { summariesOf } from '../../language/summary.ts';
import { sameName } from '../../ontology/names.ts';
import { statementDigest } from '../audit.ts';
import { findOntology } from '../caller/lookup.ts';
import type { Answer } from '../runtime.ts';
import { Changing, type Done, type WritingSession } from '../write/changing.ts';
import { isRead, isService } from '../write/classes.ts';
import { Draft } from '../write/draft.ts';
import { sweepCaches } from '../write/refresh-cache.ts';
import { type Batch, RightsGuard } from '../write/rights-guard.ts';
import { applyService } from '../write/statements.ts';
import { foresee } from '../write/written-pieces.ts';
import { dropAll } from './drop-all.ts';
import { type Begun, Run } from './run.ts';
import { copyOf, counted } from './script-text.ts';

// the cron and the objects of jobs load them from here: a module of its own would be a further file of the script
export { JobLife, sweepJobs } from './job-life.ts';
export { sweepCaches };

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

const isExample = (s: ServiceStatement): boolean => s.kind === 'create_example' || s.kind === 'drop_example';

/** What an entry of a change says of its statements: their kinds, and a summary of what they name. */
const namesOf = (changes: readonly Statement[]): { readonly action: string; readonly object: string } => ({
  action: [...new Set(changes.map((s) => s.kind))].join(','),
  object: summariesOf(changes),
});

/**
 * Applies model files to an ontology. @param begun without an ontology: the first statement creates it @param isDry true: nothing is saved
 * @throws SvcError as `runScript`; 409 `version_conflict` if another request has changed the ontology
 */
export async function applyStatements(begun: Omit<Begun, 'statements'>, application: Application, isDry: boolean): Promise<Applied> {
  const { statements } = application;
  counted(statements, begun.request.spending);
  const run = await WriteRun.of({ ...begun, statements });
  return run.application(application, isDry);
}

/** A script that changes something. Its statements are first applied and planned in memory; if one of them fails there, nothing is saved. */
export class WriteRun extends Run implements WritingSession {
  declare draft: Draft | undefined;
  readonly #changes: Changing;
  /** Calls that are not part of a step yet. */
  #calls: Call[] = [];
  /** Checks that must run on the model that is written. */
  readonly #unsettled: NonNullable<Done['settle']>[] = [];
  /** The rows that the last statement returns if it does not read; called after everything is written. */
  #rows: () => readonly unknown[] = () => [];
  #modelling = false;
  /** Statements after those of the script. */
  #drops: readonly DropObject[] = [];

  private constructor(begun: Begun) {
    super({ ...begun, statements: [...begun.statements], caller: begun.statements.every(isRead) ? begun.caller : copyOf(begun.caller) });
    if (!begun.caller.snapshot.isWhole) throw new Error('a script that writes needs a whole snapshot');
    this.#changes = new Changing(this);
  }

  static override async of(begun: Begun): Promise<WriteRun> {
    foresee(begun.statements, begun.request.spending.models);
    const run = new WriteRun(begun);
    const row = begun.row === undefined ? undefined : findOntology(run.caller, begun.row.name);
    if (row !== undefined) {
      run.draft = await Draft.open(begun.request, run.caller, row);
      run.about();
    }
    return run;
  }

  protected override reads(statement: Statement): statement is ReadStatement {
    return isRead(statement);
  }

  protected override async apply(statement: Statement): Promise<void> {
    if (isRead(statement)) {
      await super.apply(statement);
      this.#modelling = false;
    } else if (isService(statement)) await this.#service(statement);
    else {
      await this.#model(statement);
      this.#release(statement);
    }
  }

  #applied = 0;

  /** Frees the elements of an applied concept, which are most of the memory of a large script. Its name is still needed. */
  #release(statement: ModelStatement): void {
    if (statement.kind !== 'create_concept') return;
    this.#applied = this.statements.indexOf(statement, this.#applied);
    (this.statements as Statement[])[this.#applied] = { ...statement, elements: [], parents: [] };
  }

  protected override finish(): Promise<void> {
    return this.#write();
  }

  protected override finishDry(): Promise<void> {
    return this.#flushDraft();
  }

  /** @throws SvcError as `applyStatements` */
  async application({ drops, made }: Application, isDry: boolean): Promise<Applied> {
    for (const statement of this.statements) if (!isRead(statement)) await this.apply(statement);
    this.#drops = drops;
    await dropAll(drops, (statement) => this.#model(statement));
    if (made !== null) this.draft?.setMadeBy(made.source, made.objects);
    if (isDry) await this.#flushDraft();
    else {
      await this.#write();
      await this.perform();
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
    const { perform } = done;
    if (perform === undefined) return;
    await this.#write();
    this.steps.push(async () => {
      await perform();
      return undefined;
    });
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
    const batch: Batch = { calls: [...this.#calls, await this.#entry()], version: this.#version, strict: this.#strict };
    this.steps.push(async () => {
      this.hasWritten = true;
      await this.#commit(batch);
      return undefined;
    });
    this.#calls = [];
    this.#version = null;
    this.#strict = false;
  }

  #guard: RightsGuard | undefined;

  /** Commits a batch. The commit continues if the caller disconnects. */
  async #commit(batch: Batch): Promise<void> {
    const { runtime } = this.request;
    this.#guard ??= new RightsGuard(this.caller);
    const work = this.#guard.commit(runtime.db, batch);
    runtime.waitUntil(work.catch(() => undefined));
    await work;
    this.request.noted?.();
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

  protected override summary(): Answer {
    return { kind: 'value', data: this.#modelling ? [this.#modelSummary()] : this.#rows() };
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
