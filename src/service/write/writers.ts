/** Checks what the writer of a script may use: a definition may read a concept or view only if its writer may query it. */
import type { Caller } from '../../auth/authenticate.ts';
import { can, canAll, canSee, type Holder } from '../../auth/grants.ts';
import { visited } from '../../budget.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { readModel } from '../../catalog/versions.ts';
import { badRequest, forbidden, quoted } from '../../errors.ts';
import type { ModelStatement, Name } from '../../language/statements.ts';
import { keyOf, type Places } from '../../ontology/apply/context.ts';
import { find } from '../../ontology/apply/lists.ts';
import { compile } from '../../ontology/compile.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import { isRaw, type MappingDef, type MeasureDef, type Model, type PropertyDef } from '../../ontology/model.ts';
import { fold, sameName, THING } from '../../ontology/names.ts';
import { changedConditions, changedViews, meansTheSame, showsTheSame } from '../../planner/enforcement/conditions.ts';
import { joinedOtherwise, type ModelContext, rolesInTexts } from '../../planner/enforcement/index.ts';
import { multiMappings } from '../../planner/lower/joins.ts';
import { sourcesOf } from '../../planner/secure/policies.ts';
import { datasourceInStatement, lacks } from '../caller/lookup.ts';
import type { Runtime } from '../runtime.ts';

/** Folded names of what the script has created. Its writer may use it. */
export interface Made {
  readonly concept: Set<string>;
  readonly view: Set<string>;
}

const mayQuery = (holder: Holder, ontology: string, made: Made, concept: string): boolean =>
  fold(concept) === THING || made.concept.has(fold(concept)) || can(holder, 'query', ['ontology', ontology, 'concept', concept]);

const lacksQuery = (ontology: string, concept: string, offset: number | undefined): Error => lacks('QUERY', `ontology.${ontology}.concept.${concept}`, offset);

/**
 * Checks that the writer may query the concepts that a statement reads, or whose rows and values it changes. These are the parents and source of a concept, the
 * concepts of a mapping, and those that have or inherit a property or measure. Hidden concepts are reported as unknown when the statement is applied, except
 * those that share a property with a visible concept.
 * @throws SvcError 403 `forbidden` for the first concept that the writer may not query
 */
export function requireUsable(holder: Holder, statement: ModelStatement, model: Model, made: Made, ontology: string): void {
  if (canAll(holder, 'query', ['ontology', ontology])) return;
  const require = (name: Name): void => {
    const found = find(model.concepts, name.text);
    if (found === undefined || mayQuery(holder, ontology, made, found.name)) return;
    if (sees(holder, ontology, found.name)) throw lacksQuery(ontology, found.name, name.offset);
  };
  const all = (offset: number): Error => lacks('QUERY', `ALL ontology.${ontology}`, offset);
  switch (statement.kind) {
    case 'create_concept':
      for (const parent of statement.parents) require(parent);
      if (statement.logic) require(statement.logic.concept);
      return;
    case 'create_mapping': {
      const { target } = statement;
      for (const name of target.kind === 'link' ? target.constraints.map((c) => c.concept) : [target.concept]) require(name);
      for (const text of mappedBy(model, statement.name.text)) require({ text, offset: statement.name.offset });
      return;
    }
    case 'create_property':
    case 'create_measure':
    case 'drop': {
      const { name } = statement;
      if (statement.kind === 'drop' && statement.object === 'mapping') for (const text of mappedBy(model, name.text)) require({ text, offset: name.offset });
      if (statement.kind === 'drop' ? statement.object !== 'property' : !statement.replace) return;
      if (!isListed(model, statement.kind === 'create_measure', name.text)) return;
      visited(STEPS_TO_COMPILE * (model.properties.length + model.measures.length));
      for (const c of compile(model, ontology).concepts) {
        const elements = statement.kind === 'create_measure' ? c.measures : [...c.properties, ...c.multi];
        visited(1 + elements.length);
        if (!elements.some(({ def }) => sameName(def.name, name.text)) || mayQuery(holder, ontology, made, c.name)) continue;
        throw sees(holder, ontology, c.name) ? lacksQuery(ontology, c.name, name.offset) : all(name.offset);
      }
      return;
    }
    case 'alter_ontology':
      // the number of steps affects every definition with a walk
      if (fold(statement.key.text) === 'default_transitivity') throw all(statement.key.offset);
      return;
    default:
      return;
  }
}

/** What it costs to compile a model for one statement, for each property and measure. */
const STEPS_TO_COMPILE = 3;

/** Whether a concept lists a property or measure. Only concepts that list it and their descendants have it. */
function isListed({ concepts }: Model, isMeasure: boolean, name: string): boolean {
  return concepts.some((c) => {
    const elements = isMeasure ? c.measures : [...c.properties, ...c.multi];
    visited(1 + elements.length);
    return elements.some((element) => sameName(element, name));
  });
}

const sees = (holder: Holder, ontology: string, concept: string): boolean => can(holder, 'access', ['ontology', ontology, 'concept', concept]);

/** The concepts of a mapping, by its name. */
function mappedBy(model: Model, name: string): readonly string[] {
  const mapping = find(model.mappings, name);
  return [mapping?.concept, mapping?.link?.forward.concept, mapping?.link?.back.concept].filter((c) => c != null);
}

/**
 * Checks that calculated properties and measures of the script read only properties of concepts that the writer may query.
 * @param usable the part of `whole` that the writer may use (`usableBy`)
 * @throws SvcError 403 `forbidden` for the first other name
 */
export function requireReadableNames(usable: Graph, whole: Graph, pieces: Iterable<{ readonly kind: string; readonly name: string }>, places: Places): void {
  if (usable === whole) return;
  /** The concepts that list each property or inherit it, found once. */
  const owners = new Map<PropertyDef, readonly Concept[]>();
  const ownersOf = (def: PropertyDef): readonly Concept[] => {
    const known = owners.get(def);
    if (known !== undefined) return known;
    const found = usable.concepts.filter((c) => {
      visited(1 + c.properties.length + c.multi.length);
      return [...c.properties, ...c.multi].some((p) => p.def.name === def.name);
    });
    owners.set(def, found);
    return found;
  };
  for (const { kind, name } of pieces) {
    if (kind !== 'property' && kind !== 'measure') continue;
    for (const ref of places.references.get(keyOf([kind, name])) ?? []) {
      visited();
      const def = whole.property(ref.name);
      const found = def === undefined ? [] : ownersOf(def);
      const [first] = found;
      if (first !== undefined && !found.some((c) => c.readable)) throw lacksQuery(whole.ontology, first.name, ref.offset);
    }
  }
}

/**
 * Checks that conditions of logic concepts read the same over the whole model as over the part that the writer of a script may query. This applies to conditions
 * that the script has written, and to existing conditions whose meaning it changes, for example because a relationship on a path gets another target.
 * @param usable the part of `whole` that the writer may use (`usableBy`)
 * @param script the pieces that it has written, and the offset of its last statement
 * @throws SvcError 403 `forbidden` for the first other condition
 */
export function requireSameConditions(
  context: ModelContext,
  usable: Graph,
  { before, whole }: { readonly before: Graph | undefined; readonly whole: Graph },
  { pieces, last }: { readonly pieces: Iterable<{ readonly kind: string; readonly name: string; readonly offset: number }>; readonly last: number },
): void {
  if (usable === whole) return;
  const require = (name: string, offset: number): void => {
    if (!meansTheSame(context, usable, whole, name)) throw lacks('QUERY', `ALL ontology.${whole.ontology}`, offset);
  };
  for (const { kind, name, offset } of pieces) if (kind === 'logic') require(name, offset);
  for (const name of before === undefined ? [] : changedConditions(context, before, whole)) require(name, last);
}

/**
 * Checks that views which would read something else read no more in the whole model than the writer of the script may query.
 * @param usable the part of `after` that the writer may use (`usableBy`)
 * @throws SvcError 403 `forbidden`
 */
export function requireSameViews(context: ModelContext, usable: Graph, before: Graph, after: Graph, offset: number | undefined): void {
  if (usable === after) return;
  const closed = changedViews(context, before, after).some((name) => !showsTheSame(context, usable, after, name));
  if (closed) throw lacks('QUERY', `ALL ontology.${after.ontology}`, offset);
}

/**
 * The data of tables that a concept exposes: its conditions, and for each mapping the exposed cells. For a mapping of rows, these are properties; for a mapping of
 * values or links, the mappings whose rows have them.
 */
interface Shown {
  readonly conditions: readonly string[];
  readonly cells: ReadonlyMap<MappingDef, ReadonlySet<string>>;
}

/**
 * Checks that properties and measures of concepts which the writer may not query keep their meaning. Each statement is checked against the model that it finds, in which the
 * script may have removed the property from its concepts.
 * @throws SvcError 403 `forbidden`
 */
function requireSameElements(usable: Graph, before: Graph, after: Graph, offset: number | undefined): void {
  const meaning = (def: PropertyDef | MeasureDef | undefined): string | undefined => def && JSON.stringify({ ...def, description: null, tags: {} });
  for (const c of before.concepts) {
    const seen = usable.concept(c.name);
    if (seen?.readable === true) continue;
    const isOther = (def: PropertyDef | MeasureDef, now: PropertyDef | MeasureDef | undefined): boolean =>
      now !== undefined && now !== def && meaning(now) !== meaning(def);
    const isChanged =
      [...c.properties, ...c.multi].some(({ def }) => isOther(def, after.property(def.name))) ||
      c.measures.some(({ def }) => isOther(def, after.measure(def.name)));
    if (isChanged) throw seen === undefined ? lacks('QUERY', `ALL ontology.${after.ontology}`, offset) : lacksQuery(after.ontology, c.name, offset);
  }
}

/**
 * Checks that no concept newly exposes rows, values or links that the writer may not query. A concept without mappings exposes rows of its ancestors, and a
 * concept that lists a property of a descendant exposes its values. A property that only descendants list does not count, because readers get its values only
 * in rows of a concept with the property that they may read (`propertyFor` in planner/sources.ts).
 * @param usable the part of `before` that the writer may use (`usableBy`)
 * @param columnsOf the names of columns in an expression
 * @throws SvcError 403 `forbidden`
 */
export function requireUsableRows(
  before: Graph,
  usable: Graph,
  after: Graph,
  columnsOf: (expression: string) => readonly string[],
  offset: number | undefined,
): void {
  if (usable === before) return;
  requireSameElements(usable, before, after, offset);
  const readable = usable.concepts
    .filter((c) => c.readable)
    .map((c) =>
      shownBy(
        c.whole,
        () => [],
        (target) => usable.concept(target.name)?.readable === true,
      ),
    );
  const isWithin = (shown: Shown, { name }: MappingDef, property: string, conditions: readonly string[]): boolean => {
    const mapping = before.mapping(name);
    return mapping !== undefined && shown.cells.get(mapping)?.has(property) === true && shown.conditions.every((c) => conditions.includes(c));
  };
  for (const concept of after.concepts) {
    const old = before.concept(concept.name);
    // a measure exposes values of a descendant's property only in rows where the property is readable, so check with and without measures
    for (const measured of [() => [], columnsOf]) {
      const had = old && shownBy(old, measured);
      const { conditions, cells } = shownBy(concept, measured);
      for (const [mapping, properties] of cells) {
        if (before.mapping(mapping.name) === undefined) continue;
        for (const property of properties) {
          if (had !== undefined && isWithin(had, mapping, property, conditions)) continue;
          if (readable.some((shown) => isWithin(shown, mapping, property, conditions))) continue;
          const of = usable.concept(mapping.concept ?? mapping.link?.back.concept ?? '');
          throw of === undefined || of.readable ? lacks('QUERY', `ALL ontology.${after.ontology}`, offset) : lacksQuery(after.ontology, of.name, offset);
        }
      }
    }
  }
}

/**
 * Checks that links and values of multi-value properties are not joined to other rows if they belong to rows that the writer may not read. These are rows that
 * a mapping excludes (without QUERY on the datasource), and rows of a concept that it may not query.
 * @param usable the part of `before` that the writer may use (`usableBy`)
 * @throws SvcError 403 `forbidden`
 */
export function requireSameJoins(holder: Holder, context: ModelContext, before: Graph, usable: Graph, after: Graph, offset: number | undefined): void {
  const tables = (datasource: string): boolean => can(holder, 'query', ['datasource', datasource]);
  const concept = (name: string): boolean => usable === before || usable.concept(name)?.readable === true;
  const joined = joinedOtherwise(context, before, after, { tables, concept });
  if (joined === undefined) return;
  const owners = [joined.concept, joined.link?.forward.concept, joined.link?.back.concept].filter((c) => c != null);
  if (!owners.every(concept)) throw lacks('QUERY', `ALL ontology.${after.ontology}`, offset);
  throw lacksTables(holder, joined.datasource, offset);
}

/** Mappings, and views on raw tables, need QUERY on the datasource (docs/design/rights-and-visibility.md#editing). @throws SvcError 403 `forbidden` */
export function requireTables(caller: Caller, statement: ModelStatement, model: Model): void {
  if (statement.kind !== 'create_mapping' && statement.kind !== 'create_view') return;
  const list: readonly { readonly name: string; readonly datasource: string | null }[] = statement.kind === 'create_mapping' ? model.mappings : model.views;
  const datasource = find(list, statement.name.text)?.datasource ?? null;
  if (datasource === null || can(caller.principal, 'query', ['datasource', datasource])) return;
  const named = statement.datasource;
  if (named !== null) datasourceInStatement(caller, named);
  throw lacksTables(caller.principal, datasource, named?.offset ?? statement.name.offset);
}

const lacksTables = (holder: Holder, datasource: string, offset: number | undefined): Error =>
  lacks('QUERY', canSee(holder, ['datasource', datasource]) ? `datasource.${datasource}` : 'the datasource', offset);

/** Represents the rows themselves among the exposed properties. */
const ROW = '';

function addCells(cells: Map<MappingDef, Set<string>>, mapping: MappingDef, names: readonly string[]): void {
  const known = cells.get(mapping) ?? new Set([ROW]);
  for (const name of names) known.add(name);
  cells.set(mapping, known);
}

/** Returns what a concept exposes. @param isOpen whether links to a target count */
function shownBy(concept: Concept, columnsOf: (expression: string) => readonly string[], isOpen: (target: Concept) => boolean = () => true): Shown {
  const { graph } = concept;
  const { mappings, when } = sourcesOf(concept);
  const conditions = when.map(({ rows }) => (rows.kind === 'logic' ? JSON.stringify([rows.schema, rows.source.name, rows.condition]) : ''));
  const own = new Set([...plain(concept), ...measured(concept, columnsOf)]);
  const cells = new Map<MappingDef, Set<string>>();
  for (const mapping of mappings) {
    const there = new Set(plain(graph.concept(mapping.concept ?? '')));
    const given = mapping.columns.map((c) => fold(c.name)).filter((name) => there.has(name) && own.has(name));
    cells.set(mapping, new Set([ROW, ...given]));
  }
  const rows = [...mappings].map((m) => fold(m.name));
  if (concept.key !== null) for (const { def } of concept.multi) for (const mapping of multiMappings(graph, concept, def)) addCells(cells, mapping, rows);
  for (const r of concept.relationships) {
    if (!isOpen(r.target) || r.links.length === 0) continue;
    const ends = [...rows.map((name) => `from ${name}`), ...[...sourcesOf(r.target).mappings].map((m) => `to ${fold(m.name)}`)];
    for (const { mapping } of r.links) addCells(cells, mapping, ends);
  }
  return { conditions, cells };
}

/** The folded names of the properties that are columns. A calculated property never exposes a column that has its name. */
const plain = (concept: Concept | undefined): readonly string[] =>
  (concept?.properties ?? []).flatMap((p) => (p.def.expression === null ? [fold(p.def.name)] : []));

/** Folded names of the properties that the measures of a concept read, directly or through other definitions. */
function measured(concept: Concept, columnsOf: (expression: string) => readonly string[]): ReadonlySet<string> {
  const { graph } = concept;
  const found = new Set<string>();
  const read = (expressions: readonly (string | null | undefined)[]): void => {
    for (const name of expressions.flatMap((e) => (e == null ? [] : columnsOf(e))).map(fold)) {
      if (found.has(name)) continue;
      found.add(name);
      const measure = graph.measure(name);
      read([graph.property(name)?.expression, measure?.expression, measure?.filter]);
    }
  };
  for (const { def } of concept.measures) read([def.expression, def.filter]);
  return found;
}

/**
 * Checks that the caller of a rollback may query the tables that only the older version reads, because the rollback writes its mappings and views again. A datasource that
 * was removed from the ontology since would be read again, which needs the right to add it.
 * @param attached the keys of the datasources of the ontology
 * @throws SvcError 403 `forbidden` without QUERY on a datasource, or without EDIT on one that was removed
 */
export function requireOldSources(holder: Holder, now: Model, older: Model, attached: readonly string[], offset: number): void {
  const known = new Set([...now.mappings, ...now.views].map(sourceText));
  const read = [...older.mappings, ...older.views.filter(isRaw)].filter((def) => !known.has(sourceText(def)));
  const names = new Set(read.map((def) => def.datasource ?? ''));
  for (const name of names) {
    if (!can(holder, 'query', ['datasource', name])) throw lacksTables(holder, name, offset);
    if (!attached.includes(fold(name)) && !can(holder, 'edit', ['datasource', name])) throw lacks('EDIT', `datasource.${name}`, offset);
  }
}

/**
 * Checks that a rollback restores no text that tests for a role and reads with the rights of another user. A role cannot be created while a text tests for it, but after the
 * text was dropped, also by another user than the caller of the rollback.
 * @param now the version in force. What it has is not restored: statements before the rollback in the script do not count
 * @throws SvcError 403 `forbidden`
 */
export function requireOldRoles(userId: string, context: ModelContext, now: Model, older: Model, offset: number): void {
  const known = new Set([...now.views, ...now.concepts].map((def) => JSON.stringify(def)));
  const isRestored = (def: Model['views'][number] | Model['concepts'][number], definer: string | undefined): boolean =>
    definer !== userId && !known.has(JSON.stringify(def));
  const views = older.views.filter((v) => isRestored(v, v.definer));
  const concepts = older.concepts.filter((c) => c.logic !== null && isRestored(c, c.logic.definer));
  const { names, patterns, any } = rolesInTexts(context, { views, concepts, properties: [], measures: [] });
  if (names.size + patterns.size === 0 && !any) return;
  throw forbidden('forbidden', 'A view or condition of that version, which another user wrote, tests for a role', {
    offset,
    hint: 'Ask a user who may create policies to restore the version',
  });
}

/** A text that identifies what a mapping or view reads, and its target; for a view, also its definer. */
const sourceText = (def: Model['mappings'][number] | Model['views'][number]): string =>
  JSON.stringify([fold(def.name), def.datasource, def.sql, 'kind' in def ? [def.kind, def.concept, def.property, def.link] : (def.definer ?? null)]);

/** The model of an older version, for rollbacks and their plans. @param offset where an error is placed @throws SvcError 400 `unknown_version`; as `readModel` */
export async function modelOf(runtime: Runtime, { id, name }: Pick<OntologyRow, 'id' | 'name'>, version: string, offset: number): Promise<Model> {
  const model = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(version) ? await readModel(runtime, id, version.toLowerCase()) : undefined;
  if (model === undefined)
    throw badRequest('unknown_version', `the ontology ${quoted(name)} has no version ${quoted(version)}`, { offset, hint: 'SHOW VERSIONS lists them' });
  return model;
}
