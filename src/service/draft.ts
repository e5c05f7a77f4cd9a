/** An ontology while a script changes it: the model in memory, and the version that will be written. */

import type { Caller } from '../auth/authenticate.ts';
import { can, canSee } from '../auth/grants.ts';
import type { Budget } from '../budget.ts';
import { createOntology, createVersion, setAllowedFunctions } from '../catalog/changes.ts';
import type { Call } from '../catalog/db.ts';
import type { PolicyRow } from '../catalog/policies.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { keepModel, MODEL_BYTES, readModel } from '../catalog/versions.ts';
import { badRequest, forbidden, SvcError } from '../errors.ts';
import { createSqlReader } from '../language/expressions.ts';
import type { AlterOntology, ModelStatement, RollbackOntology } from '../language/statements.ts';
import { type ApplyContext, applyStatement, finish, Places } from '../ontology/apply.ts';
import { compile } from '../ontology/compile.ts';
import type { Graph } from '../ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../ontology/model.ts';
import { fold, sameName } from '../ontology/names.ts';
import type { Warning } from '../ontology/validate.ts';
import { checkModel, type Piece } from '../planner/check.ts';
import type { PlanContext } from '../planner/work.ts';
import { checkFunctions } from './allowed-functions.ts';
import { type BrokenText, brokenTexts } from './broken-texts.ts';
import { described } from './describe.ts';
import { changedPart, isSeen, makesHidden, requireEdit } from './edit-rights.ts';
import { MOST_SEARCHED, requireKeptPolicies, type Step } from './kept-policies.ts';
import { datasourceInStatement, lacks, loadGraph, quoted } from './lookup.ts';
import { checkPolicies, mayMakePolicies, namedBy } from './policies.ts';
import type { Runtime, Working } from './runtime.ts';
import { collision, SeenDraft, withoutPolicies } from './seen-draft.ts';
import { seesAll, toldTo, usableBy } from './sight.ts';
import { type Made, requireOldSources, requireReadableNames, requireSameConditions, requireUsable, requireUsableRows } from './writers.ts';

/** What a settled draft is about to write. */
export interface Written {
  readonly calls: readonly Call[];
  readonly version: string;
}

export class Draft {
  readonly #runtime: Runtime;
  readonly #caller: Caller;
  readonly row: OntologyRow;
  /** Made by this script: its row has to be written too. */
  readonly #made: boolean;
  /** The model that was there before the script. */
  #base: Model;
  #model: Model;
  #graph: Graph | undefined;
  /** The version in force before the statements that are not written yet; undefined for a new ontology. */
  #inForce: Graph | undefined;
  /** The first modelling statements that are not written yet. */
  #steps: Step[] = [];
  readonly #madeHere: Made = { concept: new Set(), view: new Set() };
  #context: ApplyContext;
  #changed: boolean;
  #seq: number;
  #version: string;
  #texts: string[] = [];
  #warnings: readonly Warning[] = [];
  /** `allowed_functions` was set: the texts that it breaks are listed when the draft is written. */
  #setFunctions = false;
  #broken: readonly BrokenText[] = [];
  /** Where the last modelling statement begins. */
  #at = 0;
  #calls: Call[] = [];
  #seen: SeenDraft | undefined;
  /** What the request's modelling statements and their checks may use together. */
  readonly #budget: Budget;
  /** The SQL that the script's objects hold, by kind and name. */
  readonly #pieces = new Map<string, Piece>();
  /** Modelling statements applied so far. */
  statements = 0;

  private constructor({ runtime, spending }: Working, caller: Caller, row: OntologyRow, made: boolean, graph: Graph | undefined, model: Model) {
    this.#runtime = runtime;
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
    const reader = createSqlReader(runtime.parser, runtime.config.product);
    this.#context = { ...reader, ontology: row.name, ...this.#datasources(row.datasources, row.active), product: runtime.config.product, places: new Places() };
  }

  /** The current version of an ontology. @throws SvcError 404, 503 */
  static async open(request: Working, caller: Caller, row: OntologyRow): Promise<Draft> {
    const graph = await loadGraph(request.runtime, row);
    return new Draft(request, caller, row, false, graph, graph.model);
  }

  /** An ontology that the script makes. */
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

  /** The version that an answer about the ontology tells. */
  get version(): string {
    return this.#version;
  }

  get changed(): boolean {
    return this.#changed;
  }

  /**
   * Applies a modelling statement in memory.
   * @throws SvcError 403 without EDIT on what it changes; 400 as the statement deserves
   */
  async apply(statement: ModelStatement): Promise<void> {
    const seen = this.#budget.run(() => this.#seenDraft(), statement.source.offset);
    const { principal } = this.#caller;
    if (!this.#made) requireEdit(principal, statement, seen?.model ?? this.#model, this.name);
    this.#at = statement.source.offset;
    const known = seen === undefined || isSeen(statement, seen.model);
    const reads = known || statement.kind === 'create_concept' || statement.kind === 'create_mapping';
    if (!this.#made && reads) this.#budget.run(() => requireUsable(principal, statement, this.#model, this.#madeHere, this.name), this.#at);
    // what is not seen is unknown, whatever policies name it
    if (known) withoutPolicies(seen, () => this.#unnamed(statement));
    if (statement.kind === 'rollback') await this.#rollback(statement);
    else if (statement.kind === 'alter_ontology' && statement.key.text === 'allowed_functions') await this.#allowFunctions(statement);
    else {
      const before = this.#model;
      this.#budget.run(() => this.#change(statement, seen), statement.source.offset);
      this.#noteMade(statement, before);
      if (statement.kind === 'create_view') this.#define(statement.name.text);
      this.#mayRead(statement);
      this.#note(statement);
      this.#changed = true;
    }
    this.#graph = undefined;
    if (this.#steps.length <= MOST_SEARCHED) this.#steps.push({ offset: this.#at, model: this.#model });
    this.#texts.push(statement.source.text);
    this.statements++;
  }

  /** The script as it looks to who does not see all of the ontology; undefined: the caller does. */
  #seenDraft(): SeenDraft | undefined {
    if (this.#made || seesAll(this.#caller.principal, this.name)) return undefined;
    this.#seen ??= new SeenDraft(toldTo(this.#caller.principal, compile(this.#base, this.name), this.#runtime.parser), this.#context);
    return this.#seen;
  }

  /** Applies a statement to what is seen, then to the whole. */
  #change(statement: Exclude<ModelStatement, RollbackOntology>, seen: SeenDraft | undefined): void {
    if (seen === undefined) {
      this.#model = applyStatement(this.#model, statement, this.#context);
      return;
    }
    if (makesHidden(statement, seen.model, this.#model)) throw collision('exists', statement.name.offset);
    const part = changedPart(statement, seen.model);
    const replaces = statement.kind === 'create_concept' && part !== undefined && seen.isPartly(part.name);
    seen.apply(statement);
    // who writes a concept anew would unknowingly take away what is hidden of it
    if (replaces) throw lacks('EDIT', `ALL ontology.${this.name}`, statement.source.offset);
    this.#model = seen.shielded(() => applyStatement(this.#model, statement, this.#context));
  }

  /** A DROP is judged in its turn: what a policy is about stays. @throws SvcError 400 `in_use` */
  #unnamed(statement: ModelStatement): void {
    if (statement.kind !== 'drop' || (statement.object !== 'concept' && statement.object !== 'property')) return;
    const { object, name } = statement;
    const is = (other: string | null): boolean => other !== null && sameName(other, name.text);
    const policy = this.row.policies.find((p) => (object === 'concept' ? is(p.concept) : p.kind === 'mask' && is(p.property)));
    if (policy !== undefined) throw namedBy(policy, `it is about the ${object} ${quoted(name.text)}`, name.offset);
  }

  /** A view reads by the rights of who last made it. */
  #define(name: string): void {
    const definer = this.#caller.principal.userId;
    this.#model = { ...this.#model, views: this.#model.views.map((v) => (sameName(v.name, name) ? { ...v, definer } : v)) };
  }

  /** Mappings, and views on raw tables, need QUERY on the datasource (docs/design/rights-and-visibility.md#editing). */
  #mayRead(statement: ModelStatement): void {
    if (statement.kind !== 'create_mapping' && statement.kind !== 'create_view') return;
    const list: readonly { readonly name: string; readonly datasource: string | null }[] =
      statement.kind === 'create_mapping' ? this.#model.mappings : this.#model.views;
    const datasource = list.find((o) => sameName(o.name, statement.name.text))?.datasource ?? null;
    if (datasource === null) return;
    const { principal } = this.#caller;
    if (can(principal, 'query', ['datasource', datasource])) return;
    const named = statement.datasource;
    if (named !== null) datasourceInStatement(this.#caller, named);
    const what = canSee(principal, ['datasource', datasource]) ? `datasource.${datasource}` : 'the datasource';
    throw lacks('QUERY', what, named?.offset ?? statement.name.offset);
  }

  async #rollback(statement: RollbackOntology): Promise<void> {
    const { text, offset } = statement.version;
    const unknown = () =>
      badRequest('unknown_version', `the ontology ${quoted(this.name)} has no version ${quoted(text)}`, { offset, hint: 'SHOW VERSIONS lists them' });
    if (this.#made || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw unknown();
    const model = await readModel(this.#runtime, this.row.id, text.toLowerCase());
    if (model === undefined) throw unknown();
    requireOldSources(this.#caller.principal, this.#model, model, offset);
    this.#base = model;
    this.#model = model;
    for (const noted of [this.#pieces, this.#madeHere.concept, this.#madeHere.view]) noted.clear();
    this.#changed = true;
  }

  /** `allowed_functions` opens functions of the datasource's own: no part of a version, set by admins. */
  async #allowFunctions(statement: AlterOntology): Promise<void> {
    if (!this.#caller.principal.isAdmin) throw forbidden('forbidden', 'allowed_functions is set by administrators', { offset: statement.key.offset });
    const names = await checkFunctions(this.#runtime, this.#caller, this.row, statement.value, statement.key.offset);
    const allowedFunctions = names.length === 0 ? null : names.join(',');
    Object.assign(this.row, { allowedFunctions });
    this.#calls.push(...setAllowedFunctions(this.row.id, allowedFunctions));
    this.#setFunctions = true;
  }

  /**
   * The lookups over the model as it stands, every reference of the script checked.
   * @throws SvcError 400 with the place of the fault; 502 where a datasource that has to tell columns cannot be reached
   */
  async graph(): Promise<Graph> {
    if (this.#graph !== undefined) return this.#graph;
    const within = <T>(make: () => T): T => this.#budget.run(make, this.#at);
    // ends first: a fault in the script itself is told before any datasource is asked
    const seen = within(() => this.#seen?.finish());
    const shielded = <T>(make: () => T): T => within(() => (this.#seen === undefined ? make() : this.#seen.shielded(make, this.#texts)));
    const checked = shielded(() => finish(this.#base, this.#model, this.#context));
    const { parser, config } = this.#runtime;
    const context = this.planContext();
    const { allowedFunctions } = context;
    const usable = within(() => this.#usable(checked.graph));
    within(() => requireReadableNames(usable, checked.graph, this.#pieces.values(), this.#context.places));
    shielded(() => checkModel(checked.graph, parser, [...this.#pieces.values()], { product: config.product, allowedFunctions, graph: usable }));
    within(() => requireSameConditions(context, usable, checked.graph, this.#pieces.values()));
    if (this.#changed) within(() => withoutPolicies(this.#seen, () => checkPolicies(context, checked.graph, this.row.policies, this.#at)));
    this.#model = await described(this.#runtime, this.#caller, checked.graph, this.#context.places, allowedFunctions, this.row.active ?? 'main');
    const { model, graph, warnings } = this.#model === checked.model ? checked : within(() => finish(this.#base, this.#model, this.#context));
    const inForce = this.#inForce;
    if (inForce !== undefined && this.#changed) within(() => this.#keeps(inForce, graph));
    this.#model = model;
    // warnings about the whole may name what the caller does not see
    this.#warnings = this.#seen === undefined ? warnings : (seen?.warnings ?? []);
    this.#graph = graph;
    return graph;
  }

  /** A version of the model as the writer of the script may use it. */
  #usable(whole: Graph): Graph {
    return this.#made ? whole : usableBy(this.#caller.principal, whole, this.#madeHere, this.#runtime.parser);
  }

  /** That a changed model shows nobody what it did not show, but to the measure of its writer's own rights. @throws SvcError 403 */
  #keeps(before: Graph, after: Graph): void {
    const { principal } = this.#caller;
    requireUsableRows(
      before,
      this.#usable(before),
      after,
      (text) => this.#context.referencesOf({ text, offset: 0 }, 'expression').map((r) => r.name),
      this.#at,
    );
    if (mayMakePolicies(principal, this.name)) return;
    requireKeptPolicies(this.planContext(), { before, after, seen: () => this.#usable(after) }, this.row.policies, { steps: this.#steps, last: this.#at });
  }

  /** Concepts and views that the script adds are its writer's to use. */
  #noteMade(statement: ModelStatement, before: Model): void {
    if (statement.kind !== 'create_concept' && statement.kind !== 'create_view') return;
    const { text } = statement.name;
    const list: readonly { readonly name: string }[] = statement.kind === 'create_concept' ? before.concepts : before.views;
    if (!list.some((o) => sameName(o.name, text))) this.#madeHere[statement.kind === 'create_concept' ? 'concept' : 'view'].add(fold(text));
  }

  /** Runs a check that counts as part of the request's modelling. @throws SvcError 400 `too_complex` */
  within<T>(make: () => T, offset: number): T {
    return this.#budget.run(make, offset);
  }

  /** What SQL of the model and of its policies is planned with when it is checked. */
  planContext(): Omit<PlanContext, 'graph'> & { readonly allowedFunctions: ReadonlySet<string> } {
    const { parser, config } = this.#runtime;
    const allowedFunctions = new Set((this.row.allowedFunctions ?? '').split(',').map(fold));
    return { parser, product: config.product, activeDatasource: this.row.active ?? 'main', allowedFunctions };
  }

  /** The same ontology with other policies: what the script's next statements are judged by. A policy more raises their number. */
  withPolicies(policies: readonly PolicyRow[], generation: number = this.row.policyGeneration + 1): void {
    Object.assign(this.row, { policies, policyGeneration: generation });
  }

  /** Remembers where the SQL of what a statement makes begins. */
  #note(statement: ModelStatement): void {
    const note = (kind: Piece['kind'], offset: number | undefined, filterOffset?: number): void => {
      if ('name' in statement && offset !== undefined)
        this.#pieces.set(`${kind} ${fold(statement.name.text)}`, { kind, name: statement.name.text, offset, filterOffset });
    };
    if (statement.kind === 'create_view') note('view', statement.sql.offset);
    else if (statement.kind === 'create_mapping') note('mapping', statement.sql.offset);
    else if (statement.kind === 'create_property') note('property', statement.expression?.offset);
    else if (statement.kind === 'create_measure') note('measure', statement.expression.offset, statement.filter?.offset);
    else if (statement.kind === 'create_concept') note('logic', statement.logic?.condition.offset);
  }

  /**
   * What has to be written of the changes so far, or undefined where there is nothing. The version is that of the
   * draft from then on.
   * @throws as `graph`; 400 `model_too_large`
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
      if (content.length > MODEL_BYTES) throw new SvcError(400, 'model_too_large', `The model is larger than ${MODEL_BYTES / 1024 / 1024} MiB`);
      const version = crypto.randomUUID();
      const createdBy = this.#caller.principal.name;
      const newVersion = {
        ontologyId: this.row.id,
        version,
        seq: this.#seq + 1,
        createdBy,
        statement: this.#texts.join(';\n'),
        model: graph.model,
        content,
        policyGeneration: this.row.policyGeneration,
      };
      const first = this.#made && this.#seq === 0;
      if (first) calls.unshift(...createOntology({ id: this.row.id, name: this.name, description: graph.model.description, version, createdBy }));
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

  /** Warnings about what the script wrote, and about what its `allowed_functions` break. */
  get warnings(): readonly (Warning | BrokenText)[] {
    return [...this.#warnings, ...this.#broken];
  }

  /** The same ontology with other datasources attached: what the script's next statements see. */
  withDatasources(datasources: readonly string[], active: string | null): void {
    Object.assign(this.row, { datasources, active });
    this.#context = { ...this.#context, ...this.#datasources(datasources, active) };
  }

  /** Names as written of attached datasources, for the statements that name them. */
  #datasources(keys: readonly string[], active: string | null): { readonly datasources: readonly string[]; readonly activeDatasource: string | null } {
    const name = (key: string): string => this.#caller.snapshot.datasources.find((d) => d.key === key)?.name ?? key;
    return { datasources: keys.map(name), activeDatasource: active === null ? null : name(active) };
  }

  /** Mappings and views of the model that belong to a datasource. */
  users(datasource: string): readonly string[] {
    const model = this.#seenDraft()?.model;
    const sees = (list: 'mappings' | 'views', name: string): boolean =>
      model === undefined || model[list].some((o: { readonly name: string }) => o.name === name);
    return [
      ...this.#model.mappings
        .filter((m) => sameName(m.datasource, datasource))
        .map((m) => (sees('mappings', m.name) ? `mapping ${quoted(m.name)}` : 'a mapping')),
      ...this.#model.views
        .filter((v) => v.datasource !== null && sameName(v.datasource, datasource))
        .map((v) => (sees('views', v.name) ? `view ${quoted(v.name)}` : 'a view')),
    ];
  }
}
