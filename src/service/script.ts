/** Runs the statements of a request in order (docs/design/statements-and-versions.md#scripts). */

import type { Caller } from '../auth/authenticate.ts';
import { cacheOf } from '../cache.ts';
import { audit } from '../catalog/changes.ts';
import type { Call } from '../catalog/db.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { badRequest, positionOf, SvcError } from '../errors.ts';
import { parseStatement } from '../language/classify.ts';
import { splitScript } from '../language/split.ts';
import type { ModelStatement, ReadStatement, ServiceStatement, Source, Statement } from '../language/statements.ts';
import { sameName } from '../ontology/names.ts';
import type { BoundValue, NamedRelation } from '../planner/index.ts';
import { statementDigest } from './audit.ts';
import { Changes, type Done, type Session } from './changes.ts';
import { Draft } from './draft.ts';
import { currentCaller, findOntology, outlivesRights, requireOntology, upToDate } from './lookup.ts';
import { checkPermitted, type Permitted } from './permitted.ts';
import { type Prepared, prepareRead, runRead } from './read.ts';
import { rightsOf } from './reading-rights.ts';
import { type Batch, RightsGuard } from './rights-guard.ts';
import type { Answer, ServiceRequest } from './runtime.ts';
import type { Spending } from './spending.ts';

export interface Script {
  /** `system_db`, the empty text: none. */
  readonly ontology: string;
  readonly sql: string;
  /** `results-limit`. */
  readonly limit: number | null;
  /** Where to run a query that touches no mapping, instead of the active datasource. */
  readonly datasource: string | null;
  /** Values of `$1`, `$2`, ... where the service itself has written `sql` (a filter); a caller's text has none. */
  readonly bound?: readonly BoundValue[];
  /** Rows are to be nested, where their columns allow it: `limit` and `offset` then count root objects. */
  readonly nested?: boolean;
  /** `_offset_` of a filter whose rows are to be nested. */
  readonly offset?: number;
  /** Whether a query may read what its text names; undefined: all that its caller may. */
  readonly admits?: (relation: NamedRelation) => boolean;
  /** What its statements may do; undefined: all that their caller has the right to. */
  readonly permitted?: Permitted;
}

/** What a script would do. */
export interface DryRun {
  /** The SQL of the last statement as the datasource would get it; null where it asks the datasource nothing, or its caller may not know the tables. */
  readonly sql: string | null;
  /** The plan of the last statement; null where it has none. */
  readonly plan: string | null;
}

const READS = new Set<string>(['select', 'show', 'describe', 'explain']);
const SERVICE = new Set<string>([
  'create_ontology',
  'drop_ontology',
  'create_datasource',
  'drop_datasource',
  'alter_ontology_datasource',
  'create_agent',
  'drop_agent',
  'create_example',
  'drop_example',
  'create_user',
  'create_token',
  'revoke_token',
  'grant',
  'revoke',
  'refresh_permissions',
  'alter_user',
  'drop_user',
  'create_role',
  'drop_role',
  'grant_role',
  'revoke_role',
  'create_policy',
  'drop_policy',
]);

const isRead = (s: Statement): s is ReadStatement => READS.has(s.kind);
const isExample = (s: ServiceStatement): boolean => s.kind === 'create_example' || s.kind === 'drop_example';
const isService = (s: Statement): s is ServiceStatement => SERVICE.has(s.kind);

/** What is done once everything has been understood: writing and reading in the order of the statements. */
type Step = { readonly kind: 'write'; readonly batch: Batch } | { readonly kind: 'read'; readonly read: Prepared };

/**
 * Runs a script; the answer is that of its last statement. Everything is applied and planned in memory first, so that a statement that fails there keeps
 * nothing of the script.
 * @throws SvcError as in docs/design/rows-and-json.md#status-codes
 */
export async function runScript(request: ServiceRequest, script: Script): Promise<Answer> {
  const run = await ScriptRun.begin(request, script);
  return run.all();
}

/**
 * Applies and plans a script in memory as `runScript` does, and has the datasource explain its last statement. Nothing is
 * run, nothing is kept.
 * @throws SvcError as `runScript`
 */
export async function dryRun(request: ServiceRequest, script: Script): Promise<DryRun> {
  const run = await ScriptRun.begin(request, script);
  return run.dry();
}

/** A copy that the script may change: what it makes is seen by its later statements, and by nobody else. */
const ownCopy = (caller: Caller): Caller => ({
  ...caller,
  principal: { ...caller.principal, grants: [...caller.principal.grants] },
  snapshot: {
    ...caller.snapshot,
    ontologies: caller.snapshot.ontologies.map((o) => ({ ...o })),
    datasources: [...caller.snapshot.datasources],
    agents: caller.snapshot.agents.map((a) => ({ ...a })),
  },
});

/** What reading scripts have been split and read as; nothing of it depends on who asks. */
const texts = cacheOf<readonly Statement[]>('text');
/** A longer script is read each time, as it is planned each time. */
const KEPT_CHARACTERS = 8 * 1024;

/** The statements of a script, each known by its first words. @throws SvcError 400 as `parseStatement`, `too_many_statements` at the first one too many */
function parseAll(sources: readonly Source[], spending: Spending): readonly Statement[] {
  return sources.map((source) => {
    const statement = parseStatement(source);
    if (isRead(statement)) spending.countRead(source.offset);
    return statement;
  });
}

/** Counts the statements that read of a script that has been read before. @throws SvcError 400 `too_many_statements` */
function counted(statements: readonly Statement[], spending: Spending): readonly Statement[] {
  for (const statement of statements) if (isRead(statement)) spending.countRead(statement.source.offset);
  return statements;
}

const isNone = (name: string): boolean => name === '' || sameName(name, 'system_db');

class ScriptRun implements Session {
  readonly request: ServiceRequest;
  readonly script: Script;
  readonly statements: readonly Statement[];
  readonly caller: Caller;
  readonly #changes: Changes;
  readonly #steps: Step[] = [];
  /** The ontology that the statements are about now. */
  draft: Draft | undefined;
  /** Calls of service statements that are not in a step yet. */
  #calls: Call[] = [];
  /** What is to be judged by the model as it stands when it is written. */
  readonly #unsettled: NonNullable<Done['settle']>[] = [];
  /** The rows that the last statement answers, where it reads nothing; asked for when all is written. */
  #rows: () => readonly unknown[] = () => [];
  #modelling = false;

  private constructor(request: ServiceRequest, script: Script, statements: readonly Statement[], caller: Caller) {
    this.request = request;
    this.script = script;
    this.statements = statements;
    this.caller = statements.every(isRead) ? caller : ownCopy(caller);
    this.#changes = new Changes(this);
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
        // what a caller may see is told before what is wrong with the text
        if (!isNone(name)) requireOntology(caller, name);
        throw error;
      }
    })();
    const [first] = sources;
    if (first === undefined) throw badRequest('empty_query', 'The query holds no statement');
    if (!isNone(name) && known === undefined) {
      const head = /^create\s+ontology\b/i.test(first.text) ? parseStatement(first) : undefined;
      if (head?.kind !== 'create_ontology' || !sameName(head.name.text, name)) requireOntology(caller, name);
    }
    const statements = kept === undefined ? parseAll(sources, request.spending) : counted(kept, request.spending);
    if (script.permitted !== undefined) checkPermitted(statements, script.permitted);
    if (statements.every(isRead)) {
      if (kept === undefined && script.sql.length <= KEPT_CHARACTERS) texts.set(script.sql, statements, 8 * script.sql.length + 1000);
    } else {
      // what is written is judged by what the catalog says now
      caller = await caller.refresh();
      known = isNone(name) ? undefined : findOntology(caller, name);
      if (!isNone(name) && known === undefined && statements[0]?.kind !== 'create_ontology') requireOntology(caller, name);
    }
    const run = new ScriptRun(request, script, statements, caller);
    const row = known === undefined ? undefined : findOntology(run.caller, name);
    if (row !== undefined) {
      run.draft = await Draft.open(request, run.caller, row);
      run.about();
    }
    return run;
  }

  /** Says which version the answer is about. */
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
        const explained: ReadStatement = statement.kind === 'select' ? { kind: 'explain', source: statement.source, query: statement.source } : statement;
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

  async #model(statement: ModelStatement): Promise<void> {
    if (statement.kind === 'alter_ontology' || statement.kind === 'rollback') await this.#turnTo(statement);
    const { draft } = this;
    if (draft === undefined) {
      throw badRequest('no_ontology', 'This statement changes an ontology, and the request names none', {
        offset: statement.source.offset,
        hint: 'Send the name of the ontology in ontology_name',
      });
    }
    await draft.apply(statement);
    this.#modelling = true;
  }

  /** ALTER and ROLLBACK name their ontology themselves: it must be the request's, or the request names none. */
  async #turnTo(statement: ModelStatement & { readonly kind: 'alter_ontology' | 'rollback' }): Promise<void> {
    const { name } = statement;
    if (this.draft !== undefined && sameName(this.draft.name, name.text)) return;
    if (this.draft !== undefined) {
      throw badRequest('other_ontology', `The request is about the ontology \`${this.draft.name}\``, {
        offset: name.offset,
        hint: 'Send the statement with the ontology that it names',
      });
    }
    this.draft = await Draft.open(this.request, this.caller, this.#changes.ontology(name));
  }

  async #service(statement: ServiceStatement): Promise<void> {
    // a statement behind modelling ones must not overtake them
    if (!isExample(statement)) await this.#flushDraft();
    const done = await this.#changes.apply(statement);
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

  /** Moves what the draft has changed to the calls that are to be written. */
  async #flushDraft(): Promise<void> {
    const written = await this.draft?.write();
    if (written !== undefined) {
      this.#calls.push(...written.calls);
      this.#version = written.version;
    }
    for (const settle of this.#unsettled.splice(0)) this.#calls.push(...(await settle()));
  }
  #version: string | null = null;

  /** Whether the calls that wait change rights, or what rights are on. */
  #strict = false;

  async #write(): Promise<void> {
    await this.#flushDraft();
    if (this.#calls.length === 0) return;
    this.#steps.push({ kind: 'write', batch: { calls: [...this.#calls, await this.#entry()], version: this.#version, strict: this.#strict } });
    this.#calls = [];
    this.#version = null;
    this.#strict = false;
  }

  /** The audit's line about what this request changes; the statements themselves may hold passwords, so a digest of them without their values. */
  async #entry(): Promise<Call> {
    const { principal } = this.caller;
    return audit({
      user: principal.name,
      credential: principal.credential,
      action: [...new Set(this.statements.filter((s) => !isRead(s)).map((s) => s.kind))].join(','),
      object: null,
      ontology: this.draft?.name ?? null,
      digest: await statementDigest(this.script.sql),
      requestId: this.request.requestId,
      actor: principal.actor?.name,
    });
  }

  async #perform(): Promise<Answer> {
    let answer: Answer | undefined;
    // the script may take long: what its caller has lost in the meantime gives nothing any more
    const guard = new RightsGuard(this.caller);
    let hasWritten = false;
    for (const [i, step] of this.#steps.entries()) {
      answer = undefined;
      if (i > 0 && !hasWritten) await this.#checkRights();
      if (step.kind === 'write') {
        hasWritten = true;
        const { runtime } = this.request;
        const work = guard.commit(runtime.db, step.batch);
        // goes on when the caller has gone
        runtime.waitUntil(work.catch(() => undefined));
        await work;
        this.request.noted?.();
      } else {
        const last = i === this.#steps.length - 1;
        answer = await runRead(this, step.read, last, this.statements.length === 1);
      }
    }
    this.about();
    return answer ?? { kind: 'value', data: this.#modelling ? [this.#modelled()] : this.#rows() };
  }

  /**
   * Ends a script that reads by rights of more than a minute ago which its caller has no longer. What it writes itself changes rights too, and is judged when it is
   * committed. @throws SvcError 409 `rights_changed`; as `Caller.refresh`
   */
  async #checkRights(): Promise<void> {
    const { runtime } = this.request;
    if (!outlivesRights({ caller: this.caller, runtime })) return;
    const digest = async (caller: Caller): Promise<string> => (await rightsOf(caller, this.draft && findOntology(caller, this.draft.name))).digest;
    const now = await currentCaller({ caller: this.caller, runtime });
    if ((await digest(this.caller)) === (await digest(now))) return;
    throw new SvcError(409, 'rights_changed', 'The rights of the caller changed while the script ran', { hint: 'Send the script again' });
  }

  /** What a script of modelling statements answers. */
  #modelled(): unknown {
    const { draft } = this;
    if (draft === undefined) throw new SvcError(500, 'internal_error', 'The service failed to answer this request');
    return {
      version: draft.version,
      statements: draft.statements,
      warnings: draft.warnings.map((w) => ({
        code: w.code,
        message: w.message,
        ...(w.offset === undefined ? {} : { position: positionOf(this.script.sql, w.offset) }),
      })),
    };
  }

  /** CREATE ONTOLOGY: the script goes on in it, where it was sent with its name or with none. */
  entered(draft: Draft): boolean {
    if (this.draft !== undefined && !sameName(this.draft.name, draft.name)) return false;
    this.draft = draft;
    return true;
  }

  /** DROP ONTOLOGY of the one that the script is about. */
  left(row: OntologyRow): void {
    if (this.draft?.row.id === row.id) this.draft = undefined;
  }
}
