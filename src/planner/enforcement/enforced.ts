/**
 * What row policies and masks enforce on the rows of a model's mappings, as texts: the SQL of a policy's condition, or of a masked value. Equal texts enforce
 * the same, regardless of the statements that lead from one version of a model to another.
 */
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { Branch } from '../lower/branch.ts';
import { has } from '../plan/wanted.ts';
import type { Access, MaskRule, RowRule } from '../secure/access.ts';
import { Policies } from '../secure/policies.ts';
import type { Affected } from '../touched/affected.ts';
import { accessFor, definitionOf, type ModelContext, planned } from './model-state.ts';
import { RuleTexts } from './rules.ts';

/** The row policies and masks of an ontology, for all grantees. */
export interface PolicyRules {
  readonly rows: readonly RowRule[];
  readonly masks: readonly MaskRule[];
}

/** The rows of a concept, or the values of its property, that a difference is about. */
export interface Subject {
  readonly concept: string | null;
  readonly property: string | null;
}

/** What one policy enforces on the rows of one mapping. */
export interface Part {
  /** Equal texts enforce the same. null if the SQL cannot be planned. */
  readonly texts: readonly string[] | null;
  readonly subject: Subject;
  /** The folded name of the mapping. */
  readonly mapping: string;
  /** True if the SQL depends on values of the row. Adding it then reveals something about these values, even if they are masked. */
  readonly dependsOnRow: boolean;
}

/** What the policies of an ontology enforce in one version of its model. */
export interface Enforced {
  /** What is enforced on the rows of each mapping, and the definition of the mapping, by policy and mapping. */
  readonly parts: ReadonlyMap<string, Part>;
  /** The folded names of all mappings. */
  readonly mappings: ReadonlySet<string>;
  /** The columns of each mapping with a masked column that properties show, by mapping. */
  readonly shown: ReadonlyMap<string, { readonly columns: ReadonlySet<string>; readonly subject: Subject }>;
}

/**
 * What the policies enforce on the rows of concepts. Does not throw.
 * @param affected what a comparison with another version needs. Without it, all SQL is planned
 */
export function enforcedOn(context: ModelContext, graph: Graph, { rows, masks }: PolicyRules, affected?: Affected): Enforced {
  const parts = new Map<string, Part>();
  const shown = new Map<string, { columns: Set<string>; subject: Subject }>();
  const mappings = graph.model.mappings.filter((m) => m.kind === 'concept' && graph.concept(m.concept ?? '') !== undefined);
  const add = (policy: readonly unknown[], mapping: MappingDef, sql: readonly string[] | null, subject: Subject, dependsOnRow: boolean): void => {
    const name = fold(mapping.name);
    parts.set(JSON.stringify([...policy, name]), { texts: sql && [definitionOf(mapping), ...sql], subject, mapping: name, dependsOnRow });
  };
  for (const rule of rows) {
    const access = accessFor({ rows: [rule] });
    const policies = Policies.of(access, graph);
    const texts = new Map<RowRule, RuleTexts>();
    for (const mapping of mappings) {
      const [applied] = policies.rowRules(mapping);
      if (applied === undefined) continue;
      const part = affected === undefined ? rule : affected.rule(rule, mapping);
      if (part !== undefined && !texts.has(part)) texts.set(part, new RuleTexts(context, graph, access));
      const sql = part === undefined ? SAME : (texts.get(part)?.of({ ...applied, rule: part }, mapping) ?? null);
      add(['rows', fold(rule.concept)], mapping, sql, { concept: mapping.concept, property: null }, true);
    }
  }
  for (const mask of masks) {
    const access = accessFor({ masks: [mask] });
    const policies = Policies.of(access, graph);
    const def = graph.property(mask.property);
    if (def === undefined || def.multi) continue;
    for (const mapping of mappings) {
      if (policies.masks(mapping, def.name).length === 0 || !givesValue(graph, mapping, def)) continue;
      const subject = { concept: mapping.concept, property: def.name };
      const sql = affected?.mask(mask, mapping) === false ? SAME : valueIn(context, graph, access, mapping, def);
      add(['values', fold(mask.policy)], mapping, sql, subject, mask.mask.kind === 'with' || policies.maskedWhen(mask, mapping).length > 0);
      if (def.expression === null && !shown.has(fold(mapping.name))) shown.set(fold(mapping.name), { columns: shownColumns(graph, mapping), subject });
    }
  }
  return { parts, shown, mappings: new Set(graph.model.mappings.map((m) => fold(m.name))) };
}

/** In place of SQL that is the same in both versions. */
const SAME: readonly string[] = [];

/** The SQL of a property's value in the rows of a mapping; null if it cannot be planned. */
function valueIn(context: ModelContext, graph: Graph, access: Access, mapping: MappingDef, def: PropertyDef): readonly string[] | null {
  const sql = planned(context, graph, access, (state) => {
    const mapped = graph.concept(mapping.concept as string) ?? graph.thing;
    return new Branch(state, mapping, mapped, mapped).select(new Map([['v', { kind: 'property', def }]]), []);
  });
  return sql === null ? null : [sql];
}

/** True if rows of the mapping have a value of the property: a column gives it, or it is calculated. */
function givesValue(graph: Graph, mapping: MappingDef, def: PropertyDef): boolean {
  const mapped = graph.concept(mapping.concept ?? '');
  if (mapped === undefined || !has(mapped, def)) return false;
  return def.expression !== null || mapping.columns.some((c) => fold(c.name) === fold(def.name));
}

/** The mapping's columns that are properties of its concept, as folded names. */
function shownColumns(graph: Graph, mapping: MappingDef): Set<string> {
  const properties = graph.concept(mapping.concept ?? '')?.properties ?? [];
  const names = new Set(properties.filter((p) => p.def.expression === null).map((p) => fold(p.def.name)));
  return new Set(mapping.columns.map((c) => fold(c.name)).filter((name) => names.has(name)));
}

/** A difference between what is enforced in two versions: the key of the policy and the mapping, or undefined if a masked column is shown otherwise. */
export interface Difference {
  readonly policy: readonly string[] | undefined;
  readonly subject: Subject;
}

/**
 * The parts of `before` that `after` enforces differently. Policies may cover new mappings, and also mappings that existed
 * before if the SQL does not depend on their values.
 * @param isTrial whether only parts of `before` that can be planned are compared
 */
export function* differences(before: Enforced, after: Enforced, isTrial = false): Iterable<Difference> {
  const policyOf = (key: string): readonly string[] => (JSON.parse(key) as string[]).slice(0, -1);
  for (const [key, { texts, subject }] of before.parts) {
    const now = after.parts.get(key)?.texts ?? null;
    if (isTrial && texts === null) continue;
    if (texts === null || now === null || now.length !== texts.length || now.some((text, i) => text !== texts[i])) yield { policy: policyOf(key), subject };
  }
  if (isTrial) return;
  for (const [key, { subject, mapping, dependsOnRow }] of after.parts)
    if (dependsOnRow && before.mappings.has(mapping) && !before.parts.has(key)) yield { policy: policyOf(key), subject };
  for (const [mapping, { columns, subject }] of before.shown) {
    const now = after.shown.get(mapping)?.columns;
    if (now === undefined || [...now].some((name) => !columns.has(name))) yield { policy: undefined, subject };
  }
}
