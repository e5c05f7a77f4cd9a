/** Compares what policies enforce in two versions of a model. */
import { badRequest, SvcError } from '../../errors.ts';
import { compile } from '../../ontology/compile.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import { EMPTY_MODEL, isRaw, type MappingDef, type Model } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import type { Piece } from '../check.ts';
import { walk } from '../plan/tree.ts';
import { RoleTests, type TestedRoles } from '../read/tested-roles.ts';
import { sourcesOf } from '../secure/policies.ts';
import { Affected } from '../touched/affected.ts';
import { differences, type Enforced, enforcedOn, type PolicyRules, type Subject } from './enforced.ts';
import { Joins } from './joined.ts';
import { accessFor, leavesOut, type ModelContext, ModelState } from './model-state.ts';
import { asMapped, uncovered } from './unmapped.ts';

export { namesRole, type TestedRoles } from '../read/tested-roles.ts';
export type { PolicyRules, Subject } from './enforced.ts';
export type { ModelContext } from './model-state.ts';

/** Rows or values that a policy protects in one version of a model and that the next version protects less. */
export interface Weakened extends Subject {
  /** `enforced`: rows or values that a policy covers. `joined`: what joins reveal of them. */
  readonly by: 'enforced' | 'joined';
}

/**
 * Finds rows or values that policies protect in `before` and that `after` protects in another way or no longer. New rows, policies on more rows, and parts of
 * the model that the policies do not read make no difference.
 * @returns undefined if all are protected as before
 * @throws SvcError 400 `too_complex` if the SQL of a policy on a concept without rows is too complex to be compared
 */
export function weakened(context: ModelContext, before: Graph, after: Graph, rules: PolicyRules): Weakened | undefined {
  if (rules.rows.length + rules.masks.length === 0 || isSame(before, after)) return undefined;
  const [old, now] = [untyped(before), untyped(after)];
  const found = weakenedBetween(context, old, now, rules);
  if (found !== undefined) return found;
  const lost = uncovered(old, now, rules);
  if (lost !== undefined) return { by: 'enforced', ...lost };
  const mapped = asMapped(old, now, rules);
  return mapped && weakenedBetween({ ...context, onTooComplex: refuseTooComplex }, ...mapped, rules, true);
}

/** Without rows, a policy whose SQL has no plan enforces nothing. This does not follow if the SQL is only too complex, so the change is refused. */
function refuseTooComplex(): never {
  throw badRequest('too_complex', 'the SQL of a policy on a concept without mappings is too complex to be compared with the version before the script', {
    hint: 'Map the concept first. Users who may make policies may also make this change',
  });
}

/** @param isTrial whether the models have made-up mappings, so that some parts may have no plan */
function weakenedBetween(context: ModelContext, before: Graph, after: Graph, rules: PolicyRules, isTrial = false): Weakened | undefined {
  const affected = new Affected(before, after, rules);
  const enforced = (graph: Graph): Enforced => enforcedOn(context, graph, rules, affected);
  const [first] = differences(enforced(before), enforced(after), isTrial);
  if (first !== undefined) return { by: 'enforced', ...first.subject };
  const joins = (graph: Graph): Joins => new Joins(context, graph, rules, affected);
  const joined = joins(after).reveals(joins(before));
  return joined && { by: 'joined', ...joined };
}

/** Policies that enforce something else in one version of a model than in another: the folded names of the concepts of row policies, and of masks. */
export interface Concerned {
  readonly concepts: ReadonlySet<string>;
  readonly masks: ReadonlySet<string>;
}

/** Finds the policies whose effect a change of the model changes. */
export function concerned(context: ModelContext, before: Graph, after: Graph, rules: PolicyRules): Concerned {
  const found = { concepts: new Set<string>(), masks: new Set<string>() };
  if (rules.rows.length + rules.masks.length === 0 || isSame(before, after)) return found;
  const [old, now] = [untyped(before), untyped(after)];
  const affected = new Affected(old, now, rules);
  const enforced = (graph: Graph): Enforced => enforcedOn(context, graph, rules, affected);
  for (const { policy, subject } of differences(enforced(old), enforced(now))) {
    const [kind, name] = policy ?? [];
    if (name !== undefined) (kind === 'rows' ? found.concepts : found.masks).add(name);
    else for (const mask of rules.masks) if (sameName(mask.property, subject.property ?? '')) found.masks.add(fold(mask.policy));
  }
  return found;
}

/** What a writer may read of the rows that own links and values of multi-value properties. */
export interface Readable {
  /** True if the writer may query the tables of a datasource. */
  tables(datasource: string): boolean;
  concept(name: string): boolean;
}

/**
 * Finds a mapping of links or of a multi-value property that `after` joins to other rows than `before`, although the writer may not read all rows that own the
 * links or values. That is so if a mapping leaves some of them out, or the writer may not query their concept.
 * @returns undefined if the model has no such mapping
 */
export function joinedOtherwise(context: ModelContext, before: Graph, after: Graph, readable: Readable): MappingDef | undefined {
  if (isSame(before, after)) return undefined;
  const [old, now] = [untyped(before), untyped(after)];
  const hides = (owner: Concept): boolean =>
    !readable.concept(owner.name) || [...sourcesOf(owner).mappings].some((m) => !readable.tables(m.datasource) && leavesOut(context, old, m));
  const restricted = new Map<string, readonly Concept[]>();
  for (const m of old.model.mappings) {
    if (m.kind === 'concept' || readable.tables(m.datasource)) continue;
    const owners = [m.concept, m.link?.forward.concept, m.link?.back.concept].flatMap((name) => old.concept(name ?? '') ?? []);
    if (owners.some(hides)) restricted.set(m.name, owners);
  }
  if (restricted.size === 0) return undefined;
  const concepts = new Set([...restricted.values()].flat().map((c) => c.name));
  const rules = { rows: [...concepts].map((concept) => ({ concept, conditions: [] })), masks: [] };
  const affected = new Affected(old, now, rules);
  const joins = (graph: Graph): Joins => new Joins(context, graph, rules, affected);
  return joins(now).added(joins(old), (m) => restricted.has(m.name));
}

/**
 * The roles that policies pass to `svc_has_role`, including calls in calculated properties, logic concepts and views that they read, also for rows that are mapped later
 * and for links and multi-valued properties.
 */
export function rolesAskedBy(context: ModelContext, graph: Graph, rules: PolicyRules): TestedRoles {
  const tested = new RoleTests();
  const onCallerFunctions = (tree: unknown): void => tested.add(tree, context.product);
  const onTooComplex = (): void => {
    tested.any = true;
  };
  const collecting = { ...context, onCallerFunctions, onTooComplex };
  const [mapped] = asMapped(graph, graph, rules) ?? [];
  for (const of of mapped === undefined ? [graph] : [graph, mapped]) enforcedOn(collecting, of, rules);
  const { texts } = new ModelState(context, graph, accessFor({}));
  for (const text of textsOf(rules)) {
    try {
      onCallerFunctions(texts.expression({}, text).node);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      // the text is not valid any more: it may test for any role
      tested.any = true;
    }
  }
  return tested;
}

/** The conditions of row policies, and the expressions of masks. */
const textsOf = ({ rows, masks }: PolicyRules): readonly string[] => [
  ...rows.flatMap((r) => r.conditions.map((c) => c.condition)),
  ...masks.flatMap(({ mask }) => (mask.kind === 'with' ? [mask.expression] : [])),
];

/**
 * The roles for which views, conditions of logic concepts, calculated properties and measures call `svc_has_role`. If a call computes the whole name, all
 * texts in the same definition count, but not the values of rows.
 */
export const rolesInTexts = (context: ModelContext, model: TextsOfModel): TestedRoles => rolesIn(context, selectsOf(model));

function rolesIn(context: ModelContext, selects: readonly string[]): TestedRoles {
  const all = new RoleTests();
  // an identifier may have escapes
  const calling = selects.filter((text) => /has_role|u&"/i.test(text));
  if (calling.length === 0) return all;
  const { texts } = new ModelState(context, compile(EMPTY_MODEL, ''), accessFor({}));
  for (const text of calling) {
    try {
      const { stmt } = texts.parse(text, undefined);
      const tested = new RoleTests();
      tested.add(stmt, context.product);
      if (tested.any) tested.addComposed(stmt);
      for (const name of tested.names) all.names.add(name);
      for (const [key, pattern] of tested.patterns) if (pattern.join('').length >= LEAST_KNOWN) all.patterns.set(key, pattern);
      all.any ||= tested.any;
      all.isComputed ||= tested.isComputed;
      if (tested.any)
        walk(stmt, (n) => {
          if ('A_Const' in n && n.A_Const.sval) all.names.add(fold(n.A_Const.sval.sval ?? ''));
          return undefined;
        });
    } catch (error) {
      // a text that is no longer valid cannot be read
      if (!(error instanceof SvcError)) throw error;
    }
  }
  return all;
}

/**
 * Checks that no piece of a script computes the name of a role only from constants, unless it is known which name: the role would not be protected from users who may
 * create roles. @throws SvcError 400 `bad_call`
 */
export function requireKnownRoles(context: ModelContext, graph: Graph, pieces: Iterable<Piece>): void {
  const textsOf = ({ kind, name }: Piece): readonly string[] => {
    const view = kind === 'view' ? graph.view(name) : undefined;
    const property = kind === 'property' ? graph.property(name) : undefined;
    const measure = kind === 'measure' ? graph.measure(name) : undefined;
    const concept = kind === 'logic' ? graph.concept(name)?.def : undefined;
    const some = <T>(def: T | null | undefined): T[] => (def ? [def] : []);
    return selectsOf({ views: some(view), properties: some(property), measures: some(measure), concepts: some(concept) });
  };
  for (const piece of pieces) {
    if (!rolesIn(context, textsOf(piece)).isComputed) continue;
    const hint = 'Write the name of the role as a text.';
    throw badRequest('bad_call', `\`${context.product}_has_role\` computes the name of the role from constants`, { offset: piece.offset, hint });
  }
}

/** The number of characters of a name that a text must state. Anybody who edits an ontology can write one, which must not prevent most new roles. */
const LEAST_KNOWN = 3;

/** The definitions of a model with texts that may call functions of the caller. */
export type TextsOfModel = Pick<Model, 'properties' | 'measures' | 'concepts' | 'views'>;

/** The texts that may call functions of the caller, as SELECTs. */
const selectsOf = ({ properties, measures, concepts, views }: TextsOfModel): readonly string[] => [
  ...views.flatMap((v) => (isRaw(v) ? [] : [v.sql])),
  ...[...properties.map((p) => p.expression), ...measures.flatMap((m) => [m.expression, m.filter]), ...concepts.map((c) => c.logic?.condition ?? null)].flatMap(
    (text) => (text === null ? [] : [`SELECT ${text}`]),
  ),
];

/** True for the parts of a model that SQL depends on. The type requires an entry for each part. */
const AFFECTS_SQL: Readonly<Record<keyof Model, boolean>> = {
  format: false,
  description: false,
  config: true,
  properties: true,
  measures: true,
  concepts: true,
  mappings: true,
  views: true,
  madeBy: false,
};

/** True if all parts of the model that SQL depends on are equal. */
const isSame = (a: Graph, b: Graph): boolean =>
  (Object.keys(AFFECTS_SQL) as (keyof Model)[]).every((part) => !AFFECTS_SQL[part] || a.model[part] === b.model[part]);

const UNTYPED = new WeakMap<MappingDef, MappingDef>();

/**
 * The same model without the types of the columns of its tables, which only shorten the SQL. `real` stays: a property whose columns all have that type keeps it, so
 * that another mapping changes what a text reads (`declaredType` in plan/wanted.ts).
 */
function untyped({ model, ontology }: Graph): Graph {
  const mappings = model.mappings.map((m) => {
    const known = UNTYPED.get(m) ?? { ...m, columns: m.columns.map(({ name, type }) => (type === 'float4' ? { name, type } : { name })) };
    UNTYPED.set(m, known);
    return known;
  });
  return compile({ ...model, mappings }, ontology);
}
