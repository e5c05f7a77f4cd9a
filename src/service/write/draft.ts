/** An ontology that a script is changing: the model in memory, and the version to be written. */
import type { Caller } from '../../auth/authenticate.ts';
import { type Budget, stepsOfStatement, stepsOfVersion, visited } from '../../budget.ts';
import { createOntology, createVersion, setAllowedFunctions } from '../../catalog/changes.ts';
import type { Call } from '../../catalog/db.ts';
import type { PolicyRow } from '../../catalog/policies.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { keepModel, MODEL_BYTES } from '../../catalog/versions.ts';
import { forbidden, quoted, SvcError } from '../../errors.ts';
import type { AlterOntology, ModelStatement, RollbackOntology } from '../../language/statements.ts';
import { type ApplyContext, applyStatement, finish } from '../../ontology/apply.ts';
import { compile } from '../../ontology/compile.ts';
import type { Graph } from '../../ontology/graph.ts';
import { EMPTY_MODEL, type Model, madeByOf } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import type { Warning } from '../../ontology/validate.ts';
import { checkCircles, checkModel, divisionWarnings } from '../../planner/check.ts';
import { requireKnownRoles } from '../../planner/enforcement/index.ts';
import type { PlanContext } from '../../planner/plan/context.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { lacks, loadGraph } from '../caller/lookup.ts';
import { mayMakePolicies, usedByPolicy } from '../caller/policies.ts';
import { definitionsSeenBy, seesAll, usableBy } from '../caller/sight.ts';
import type { Runtime, Working } from '../runtime.ts';
import { checkFunctions } from './allowed-functions.ts';
import { applyContext, datasourcesOf } from './apply-context.ts';
import { type BrokenText, brokenTexts } from './broken-texts.ts';
import { usersOf } from './datasource-users.ts';
import { addedBy, withDefiner } from './defined.ts';
import { described, questionsAbout, renewPlacements } from './describe.ts';
import { changedPart, isSeen, listsHidden, makesHidden, requireEdit } from './edit-rights.ts';
import { MAX_SEARCHED, requireKeptPolicies, type Step } from './kept-policies.ts';
import { checkPolicies } from './policy-check.ts';
import { requireValidTypes } from './retyped.ts';
import { collision, hidePolicies, SeenDraft } from './seen-draft.ts';
import { requireRoomForDescription } from './snapshot-room.ts';
import { type NearlyFull, requireRoomForVersion } from './version-room.ts';
import {
  type Made,
  modelOf,
  requireOldRoles,
  requireOldSources,
  requireReadableNames,
  requireSameConditions,
  requireSameJoins,
  requireSameViews,
  requireTables,
  requireUsable,
  requireUsableRows,
} from './writers.ts';
import { WrittenPieces } from './written-pieces.ts';

/** The calls that write a draft, and its new version. */
export interface Written {
  readonly calls: readonly Call[];
  readonly version: string;
}

export class Draft {
  readonly #runtime: Runtime;
  readonly #caller: Caller;
  readonly row: OntologyRow;
  /** True if the script has created the ontology, so that its row must also be written. */
  readonly #made: boolean;
  /** The model before the script. */
  #base: Model;
  #model: Model;
  #graph: Graph | undefined;
  /** The graph of the version before the unwritten statements; undefined for a new ontology. */
  #inForce: Graph | undefined;
  /** The first unwritten modelling statements. */
  #steps: Step[] = [];
  readonly #madeHere: Made = { concept: new Set(), view: new Set() };
  #context: ApplyContext;
  #changed: boolean;
  #seq: number;
  #version: string;
  #texts: string[] = [];
  #warnings: readonly Warning[] = [];
  /** True if `allowed_functions` was set; texts that became invalid are listed when the draft is written. */
  #setFunctions = false;
  #broken: readonly BrokenText[] = [];
  #nearlyFull: readonly NearlyFull[] = [];
  /** Offset of the last modelling statement. */
  #at = 0;
  #calls: Call[] = [];
  #seen: SeenDraft | undefined;
  /** The budget of all modelling statements of the request and their checks. */
  readonly #budget: Budget;
  readonly #pieces = new WrittenPieces();
  readonly #spending: Working['spending'];
  /** The number of modelling statements so far. */
  statements = 0;

  private constructor({ runtime, spending }: Working, caller: Caller, row: OntologyRow, made: boolean, graph: Graph | undefined, model: Model) {
    this.#runtime = runtime;
    this.#spending = spending;
    this.#budget = spending.models;
    this.#caller = caller;
    this.row = row;
    this.#made = made;
    this.#base = model;
    this.#model = model;
    this.#graph = graph;
    this.#inForce = graph;
    this.#changed = made;
    this.#seq = made ? 0 : row.seq;
    this.#version = made ? '' : row.version;
    this.#context = applyContext(runtime, caller, row);
  }

  /** Opens the current version of an ontology. @throws SvcError 404, 503 */
  static async open(request: Working, caller: Caller, row: OntologyRow): Promise<Draft> {
    const graph = await loadGraph(request.runtime, row);
    return new Draft(request, caller, row, false, graph, graph.model);
  }

  /** Creates an ontology. */
  static create(request: Working, caller: Caller, name: string, description: string | null, text: string): Draft {
    const row: OntologyRow = {
      id: crypto.randomUUID(),
      name,
      key: fold(name),
      description,
      version: '',
      seq: 0,
      cacheGeneration: 1,
      allowedFunctions: null,
      datasources: ['main'],
      active: 'main',
      policies: [],
      policyGeneration: 0,
    };
    const draft = new Draft(request, caller, row, true, undefined, { ...EMPTY_MODEL, description });
    draft.#texts.push(text);
    draft.statements = 1;
    return draft;
  }

  get name(): string {
    return this.row.name;
  }

  get description(): string | null {
    return this.#model.description;
  }

  /** The version for answers about the ontology. */
  get version(): string {
    return this.#version;
  }

  get changed(): boolean {
    return this.#changed;
  }

  /**
   * Applies a modelling statement in memory.
   * @throws SvcError 403 without EDIT on what it changes; 400 if the statement is invalid
   */
  async apply(statement: ModelStatement): Promise<void> {
    const { text, offset } = statement.source;
    const seen = this.#budget.run(() => {
      visited(stepsOfStatement(text.length));
      return this.#seenDraft();
    }, offset);
    const { principal } = this.#caller;
    if (!this.#made) requireEdit(principal, statement, seen?.model ?? this.#model, this.name);
    this.#at = offset;
    if (statement.ifNotExists && isSeen(statement, seen?.model ?? this.#model)) {
      this.statements++;
      return;
    }
    const known = seen === undefined || isSeen(statement, seen.model);
    const reads = known || statement.kind === 'create_concept' || statement.kind === 'create_mapping';
    if (!this.#made && reads) this.#budget.run(() => requireUsable(principal, statement, this.#model, this.#madeHere, this.name), this.#at);
    // an object that the caller does not see is unknown, even if a policy names it
    if (known) hidePolicies(seen, () => this.#requireNotInPolicy(statement));
    if (statement.kind === 'rollback') await this.#rollback(statement);
    else if (statement.kind === 'alter_ontology' && statement.key.text === 'allowed_functions') await this.#allowFunctions(statement);
    else {
      const made = this.#budget.run(() => addedBy(statement, this.#model), this.#at);
      const { units } = this.#budget;
      this.#budget.run(() => this.#change(statement, seen), this.#at);
      this.#pieces.note(statement, this.#model, this.#budget.units - units);
      this.#budget.expect(this.#pieces.expected, this.#at);
      if (made !== undefined) this.#madeHere[made.kind].add(made.name);
      this.#model = this.#budget.run(() => withDefiner(this.#model, statement, principal), this.#at);
      requireTables(this.#caller, statement, this.#model);
      this.#changed = true;
    }
    this.#graph = undefined;
    if (this.#steps.length <= MAX_SEARCHED) this.#steps.push({ offset: this.#at, model: this.#model });
    this.#texts.push(text);
    this.statements++;
  }

  /** The draft as seen by a caller who does not see the whole ontology; undefined if the caller sees all of it. */
  #seenDraft(): SeenDraft | undefined {
    if (this.#made || seesAll(this.#caller.principal, this.name)) return undefined;
    this.#seen ??= new SeenDraft(definitionsSeenBy(this.#caller.principal, compile(this.#base, this.name), this.#runtime.parser), this.#context);
    return this.#seen;
  }

  /** Applies a statement to the visible part of the model, then to the whole model. */
  #change(statement: Exclude<ModelStatement, RollbackOntology>, seen: SeenDraft | undefined): void {
    if (seen === undefined) {
      this.#model = applyStatement(this.#model, statement, this.#context);
      return;
    }
    if (makesHidden(statement, seen.model, this.#model)) throw collision('exists', statement.name.offset);
    const listed = listsHidden(statement, seen.model, this.#model);
    if (listed !== undefined) throw collision('exists', listed.offset);
    const part = changedPart(statement, seen.model);
    const replaces = statement.kind === 'create_concept' && part !== undefined && seen.isPartly(part.name);
    seen.apply(statement);
    // replacing the concept would remove parts that the caller does not see
    if (replaces) throw lacks('EDIT', `ALL ontology.${this.name}`, statement.source.offset);
    this.#model = seen.hideErrors(() => applyStatement(this.#model, statement, this.#context));
  }

  /** A concept or property that a policy names cannot be dropped. @throws SvcError 400 `in_use` */
  #requireNotInPolicy(statement: ModelStatement): void {
    if (statement.kind !== 'drop' || (statement.object !== 'concept' && statement.object !== 'property')) return;
    const { object, name } = statement;
    this.#budget.run(() => visited(this.row.policies.length), name.offset);
    const is = (other: string | null): boolean => other !== null && sameName(other, name.text);
    const policy = this.row.policies.find((p) => (object === 'concept' ? is(p.concept) : p.kind === 'mask' && is(p.property)));
    if (policy !== undefined) throw usedByPolicy(policy, `it applies to the ${object} ${quoted(name.text)}`, name.offset);
  }

  async #rollback(statement: RollbackOntology): Promise<void> {
    const { text, offset } = statement.version;
    const model = await modelOf(this.#runtime, this.row, text, offset);
    const { principal } = this.#caller;
    requireOldSources(principal, this.#model, model, this.row.datasources, offset);
    const inForce = this.#inForce?.model ?? EMPTY_MODEL;
    if (!mayMakePolicies(principal, this.name)) this.#budget.run(() => requireOldRoles(principal.userId, this.planContext(), inForce, model, offset), offset);
    this.#base = model;
    this.#model = model;
    for (const noted of [this.#pieces, this.#madeHere.concept, this.#madeHere.view]) noted.clear();
    this.#changed = true;
  }

  /** Sets `allowed_functions`, which is not part of a version. Only administrators may set it. */
  async #allowFunctions(statement: AlterOntology): Promise<void> {
    if (!this.#caller.principal.isAdmin) throw forbidden('forbidden', 'Only administrators may set allowed_functions', { offset: statement.key.offset });
    const names = await checkFunctions(this.#runtime, this.#caller, this.row, statement.value, statement.key.offset);
    const allowedFunctions = names.length === 0 ? null : names.join(',');
    Object.assign(this.row, { allowedFunctions });
    this.#calls.push(...setAllowedFunctions(this.row.id, allowedFunctions));
    this.#setFunctions = true;
  }

  /**
   * Compiles the current model and checks everything that the script has written.
   * @throws SvcError 400 with the offset of the error; 502 if a datasource that must describe columns cannot be reached
   */
  async graph(): Promise<Graph> {
    if (this.#graph !== undefined) return this.#graph;
    const within = <T>(make: () => T): T => this.#budget.run(make, this.#at);
    this.#budget.expect(0);
    const again = this.#spending.checksModel();
    // check the visible part first, so that errors in the script are reported before a datasource is asked
    const seen = within(() => this.#seen?.finish(again));
    const hideErrors = <T>(make: () => T): T => within(() => (this.#seen === undefined ? make() : this.#seen.hideErrors(make, this.#texts)));
    const checked = hideErrors(() => finish(this.#base, this.#model, this.#context, again));
    const context = this.planContext();
    const { parser, product, allowedFunctions } = context;
    const usable = within(() => this.#usable(checked.graph));
    within(() => requireReadableNames(usable, checked.graph, this.#pieces.values(), this.#context.places));
    hideErrors(() => checkModel(checked.graph, parser, [...this.#pieces.values()], { product, allowedFunctions, graph: usable }));
    within(() => requireKnownRoles(context, checked.graph, this.#pieces.values()));
    const inForce = this.#inForce;
    if (inForce !== undefined) hideErrors(() => checkCircles(inForce, checked.graph, parser, checked.affected, { product, allowedFunctions }));
    within(() => requireSameConditions(context, usable, { before: this.#inForce, whole: checked.graph }, { pieces: this.#pieces.values(), last: this.#at }));
    const change = { before: this.#setFunctions ? undefined : inForce, after: checked.graph }; // other functions may be allowed
    if (this.#changed) within(() => hidePolicies(this.#seen, () => checkPolicies(context, change, this.row.policies, this.#at, again)));
    const planned = { graph: checked.graph, allowedFunctions, activeDatasource: context.activeDatasource };
    const questions = within(() => questionsAbout(this.#runtime, this.#caller, planned, this.#context.places));
    this.#model = await described(this.#runtime, checked.graph.model, questions);
    renewPlacements(this.#runtime, this.#caller, questions);
    const { model, graph, warnings } = this.#model === checked.model ? checked : within(() => finish(this.#base, this.#model, this.#context, again));
    if (inForce !== undefined && this.#changed) {
      within(() => this.#requireNoDisclosure(inForce, graph));
      await requireValidTypes(this.#runtime, this.#caller, { before: inForce, after: graph, places: this.#context.places }, context, within).catch(
        (error: unknown) =>
          hideErrors(() => {
            throw error;
          }),
      );
    }
    this.#model = model;
    // warnings about the whole model may name hidden parts
    const divisions = within(() => divisionWarnings(graph, parser, [...this.#pieces.values()], { product, allowedFunctions }));
    this.#warnings = [...(this.#seen === undefined ? warnings : (seen?.warnings ?? [])), ...divisions];
    this.#graph = graph;
    return graph;
  }

  /** The part of a graph that the writer of the script may use. */
  #usable(whole: Graph): Graph {
    return this.#made ? whole : usableBy(this.#caller.principal, whole, this.#madeHere, this.#runtime.parser);
  }

  /** Checks that the changed model discloses nothing to any caller beyond what its writer may read. @throws SvcError 403 */
  #requireNoDisclosure(before: Graph, after: Graph): void {
    const { principal } = this.#caller;
    const columnsOf = (text: string): readonly string[] => this.#context.referencesOf({ text, offset: 0 }, 'expression').map((r) => r.name);
    const usable = this.#usable(before);
    requireUsableRows(before, usable, after, columnsOf, this.#at);
    requireSameJoins(principal, this.planContext(), before, usable, after, this.#at);
    requireSameViews(this.planContext(), this.#usable(after), before, after, this.#at);
    if (mayMakePolicies(principal, this.name)) return;
    requireKeptPolicies(this.planContext(), { before, after, seen: () => this.#usable(after) }, this.row.policies, { steps: this.#steps, last: this.#at });
  }

  /** Records the objects that an apply of a source has made, as part of the next version. */
  setMadeBy(source: string, objects: readonly string[]): void {
    if (JSON.stringify(madeByOf(this.#model, source)) === JSON.stringify(objects)) return;
    this.#model = { ...this.#model, madeBy: { ...this.#model.madeBy, [source]: objects } };
    this.#graph = undefined;
    this.#changed = true;
  }

  /** Runs a check within the budget of the request's modelling statements. @throws SvcError 400 `too_complex` */
  within<T>(make: () => T, offset: number): T {
    return this.#budget.run(make, offset);
  }

  /** The plan context for checks of the SQL of the model and its policies. */
  planContext(): Omit<PlanContext, 'graph'> & { readonly allowedFunctions: ReadonlySet<string> } {
    const { parser, config } = this.#runtime;
    return { parser, product: config.product, activeDatasource: this.row.active ?? 'main', allowedFunctions: allowedFunctionsOf(this.row) };
  }

  /** Sets the policies for the next statements of the script. @param generation incremented by default, as after the creation of a policy */
  withPolicies(policies: readonly PolicyRow[], generation: number = this.row.policyGeneration + 1): void {
    Object.assign(this.row, { policies, policyGeneration: generation });
  }

  /**
   * Returns the calls that write the changes so far; undefined if there are none. The draft then has the new version.
   * @throws as `graph`; 400 `model_too_large`, `too_many_versions`
   */
  async write(): Promise<Written | undefined> {
    const graph = await this.graph();
    if (!this.#changed && this.#calls.length === 0) return undefined;
    if (this.#setFunctions) this.#broken = await brokenTexts(this.#runtime, this.row, graph.model);
    this.#setFunctions = false;
    const calls = this.#calls;
    this.#calls = [];
    if (this.#changed) {
      const content = JSON.stringify(graph.model);
      if (this.#spending.checks > 1) this.within(() => visited(stepsOfVersion(content.length)), this.#at);
      if (content.length > MODEL_BYTES) throw new SvcError(400, 'model_too_large', `The model is larger than ${MODEL_BYTES / 1024 / 1024} MiB`);
      requireRoomForDescription(this.#caller.snapshot.ontologies, this.row, this.#made, graph.model.description, this.#at);
      const first = this.#made && this.#seq === 0;
      if (!first) this.#nearlyFull = await requireRoomForVersion(this.#runtime, this.#caller.principal, this.row, this.#at);
      const version = crypto.randomUUID();
      const newVersion = {
        ontologyId: this.row.id,
        version,
        seq: this.#seq + 1,
        createdBy: this.#caller.principal.name,
        statement: this.#texts.join(';\n'),
        model: graph.model,
        content,
        policyGeneration: this.row.policyGeneration,
      };
      if (first) calls.unshift(...createOntology({ ...newVersion, id: this.row.id, name: this.name, description: graph.model.description }));
      calls.splice(first ? 2 : 0, 0, ...createVersion(newVersion));
      keepModel(this.row.id, version, graph.model, content.length);
      this.#version = version;
      this.#seq++;
      this.#base = graph.model;
      this.#inForce = graph;
    }
    this.#steps = [];
    this.#changed = false;
    this.#texts = [];
    return { calls, version: this.#version };
  }

  /** Warnings about what the script has written, about texts that its `allowed_functions` make invalid, and about the room for versions. */
  get warnings(): readonly (Warning | BrokenText | NearlyFull)[] {
    return [...this.#warnings, ...this.#broken, ...this.#nearlyFull];
  }

  /** Sets the attached datasources for the next statements of the script. */
  withDatasources(datasources: readonly string[], active: string | null): void {
    Object.assign(this.row, { datasources, active });
    this.#context = { ...this.#context, ...datasourcesOf(this.#caller, { datasources, active }) };
  }

  /** Lists the mappings and views of a datasource, for messages. Hidden ones are not named. */
  users(datasource: string): readonly string[] {
    return usersOf(datasource, this.#model, this.#seenDraft()?.model);
  }
}
