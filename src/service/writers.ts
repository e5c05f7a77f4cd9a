/** What the writer of a script may use: to read a concept or view in a definition needs the right to query it. */
import { can, canAll, canSee, type Holder } from '../auth/grants.ts';
import type { ModelStatement, Name } from '../language/statements.ts';
import { keyOf, type Places } from '../ontology/apply/context.ts';
import { compile } from '../ontology/compile.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import { isRaw, type MappingDef, type Model } from '../ontology/model.ts';
import { fold, sameName, THING } from '../ontology/names.ts';
import { changedConditions, meansTheSame } from '../planner/enforcement/conditions.ts';
import { joinedOtherwise, type ModelContext } from '../planner/enforcement/index.ts';
import { multiMappings } from '../planner/joins.ts';
import { sourcesOf } from '../planner/policies.ts';
import { lacks } from './lookup.ts';

/** What the script has made so far: folded names. Its writer may use it. */
export interface Made {
  readonly concept: Set<string>;
  readonly view: Set<string>;
}

const mayQuery = (holder: Holder, ontology: string, made: Made, concept: string): boolean =>
  fold(concept) === THING || made.concept.has(fold(concept)) || can(holder, 'query', ['ontology', ontology, 'concept', concept]);

const lacksQuery = (ontology: string, concept: string, offset: number | undefined): Error => lacks('QUERY', `ontology.${ontology}.concept.${concept}`, offset);

/**
 * The concepts that a statement reads, or whose rows and values it changes, as far as the model has them: parents and source of a concept, the
 * concepts that a mapping gives rows, and those that have or inherit a property or a measure. Concepts that the writer does not see are left to the statement's own
 * refusal, but for those that share a property with one that it sees.
 * @throws SvcError 403 `forbidden` at the first that its writer may not query
 */
export function requireUsable(holder: Holder, statement: ModelStatement, model: Model, made: Made, ontology: string): void {
  if (canAll(holder, 'query', ['ontology', ontology])) return;
  const require = (name: Name): void => {
    const found = model.concepts.find((c) => sameName(c.name, name.text));
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
      for (const c of compile(model, ontology).concepts) {
        const elements = statement.kind === 'create_measure' ? c.measures : [...c.properties, ...c.multi];
        if (!elements.some(({ def }) => sameName(def.name, name.text)) || mayQuery(holder, ontology, made, c.name)) continue;
        throw sees(holder, ontology, c.name) ? lacksQuery(ontology, c.name, name.offset) : all(name.offset);
      }
      return;
    }
    case 'alter_ontology':
      // how far walks go is a part of every definition that walks
      if (fold(statement.key.text) === 'default_transitivity') throw all(statement.key.offset);
      return;
    default:
      return;
  }
}

const sees = (holder: Holder, ontology: string, concept: string): boolean => can(holder, 'access', ['ontology', ontology, 'concept', concept]);

/** The concepts of a mapping of that name. */
function mappedBy(model: Model, name: string): readonly string[] {
  const mapping = model.mappings.find((m) => sameName(m.name, name));
  return [mapping?.concept, mapping?.link?.forward.concept, mapping?.link?.back.concept].filter((c) => c != null);
}

/**
 * That calculated properties and measures which the script wrote name properties of concepts that their writer may query.
 * @param usable `whole` as the writer may use it (sight.ts)
 * @throws SvcError 403 `forbidden` at the first other name
 */
export function requireReadableNames(usable: Graph, whole: Graph, pieces: Iterable<{ readonly kind: string; readonly name: string }>, places: Places): void {
  if (usable === whole) return;
  for (const { kind, name } of pieces) {
    if (kind !== 'property' && kind !== 'measure') continue;
    for (const ref of places.references.get(keyOf([kind, name])) ?? []) {
      const def = whole.property(ref.name);
      const holders = def === undefined ? [] : usable.concepts.filter((c) => [...c.properties, ...c.multi].some((p) => p.def.name === def.name));
      const [first] = holders;
      if (first !== undefined && !holders.some((c) => c.readable)) throw lacksQuery(whole.ontology, first.name, ref.offset);
    }
  }
}

/**
 * That conditions of logic concepts read no more over the whole model than over what the writer of a script may query: those which the script wrote, and those of
 * before, whoever wrote them, that come to read something else. A relationship on a path leads elsewhere then, or a concept gets rows of others.
 * @param usable `whole` as the writer may use it (sight.ts)
 * @param script what it wrote, and where its last statement begins
 * @throws SvcError 403 `forbidden` at the first other one
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
 * What a concept shows of tables: its conditions, and by mapping what it shows of its rows. These are properties; for a mapping of values or links, the
 * mappings whose rows have them.
 */
interface Shown {
  readonly conditions: readonly string[];
  readonly cells: ReadonlyMap<MappingDef, ReadonlySet<string>>;
}

/**
 * That no concept shows rows, values or links that it did not show and that the writer may not query. A concept without mappings shows the rows of
 * those above it, one that lists a property of a concept below shows its values there. A property that only descendants list does not count:
 * readers get its values only in rows that a concept with the property opens to them (`propertyFor` in planner/sources.ts).
 * @param usable `before` as the writer may use it (sight.ts)
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
    // a measure gives values of a property of descendants only in rows that are open with it: it is no reason to list the property
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
 * That links, and values of multi-value properties, are joined to no other rows where they belong to rows that the writer may not read: those that a mapping
 * leaves out, without QUERY on the datasource, or those of a concept.
 * @param usable `before` as the writer may use it (sight.ts)
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

const lacksTables = (holder: Holder, datasource: string, offset: number | undefined): Error =>
  lacks('QUERY', canSee(holder, ['datasource', datasource]) ? `datasource.${datasource}` : 'the datasource', offset);

/** The property under which the rows themselves are shown. */
const ROW = '';

function addCells(cells: Map<MappingDef, Set<string>>, mapping: MappingDef, names: readonly string[]): void {
  const known = cells.get(mapping) ?? new Set([ROW]);
  for (const name of names) known.add(name);
  cells.set(mapping, known);
}

/** `isOpen`: whether links to a target count. */
function shownBy(concept: Concept, columnsOf: (expression: string) => readonly string[], isOpen: (target: Concept) => boolean = () => true): Shown {
  const { graph } = concept;
  const { mappings, when } = sourcesOf(concept);
  const conditions = when.map(({ rows }) => (rows.kind === 'logic' ? JSON.stringify([rows.schema, rows.source.name, rows.condition]) : ''));
  const own = new Set([...concept.properties.map((p) => fold(p.def.name)), ...measured(concept, columnsOf)]);
  const cells = new Map<MappingDef, Set<string>>();
  for (const mapping of mappings) {
    const there = new Set(graph.concept(mapping.concept ?? '')?.properties.map((p) => fold(p.def.name)));
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

/** The folded names of properties that the measures of a concept read, through whatever else they name. */
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
 * That the tables which an older version reads and the present one does not are open to who brings it back: its mappings and raw views are
 * written anew.
 * @throws SvcError 403 `forbidden` without QUERY on a datasource
 */
export function requireOldSources(holder: Holder, now: Model, older: Model, offset: number): void {
  const known = new Set([...now.mappings, ...now.views].map(sourceText));
  const read = [...older.mappings, ...older.views.filter(isRaw)].filter((def) => !known.has(sourceText(def)));
  const closed = read.find((def) => !can(holder, 'query', ['datasource', def.datasource ?? '']))?.datasource;
  if (closed == null) return;
  throw lacksTables(holder, closed, offset);
}

/** What a mapping or view reads, and what it is for; of a view, by whose rights. */
const sourceText = (def: Model['mappings'][number] | Model['views'][number]): string =>
  JSON.stringify([fold(def.name), def.datasource, def.sql, 'kind' in def ? [def.kind, def.concept, def.property, def.link] : (def.definer ?? null)]);
