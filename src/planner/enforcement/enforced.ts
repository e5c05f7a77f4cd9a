/**
 * What row policies and masks enforce on the rows of a model's mappings, as texts: the SQL by which the planner asks a policy's condition,
 * or puts a mask in the place of a value. Equal texts enforce the same, whatever statements lie between two versions of a model.
 */
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { MaskRule, RowRule } from '../access.ts';
import { Policies } from '../policies.ts';
import { has } from '../shown.ts';
import { Branch } from '../sources.ts';
import { Questions } from './asked.ts';
import { accessFor, definitionOf, type ModelContext, planned } from './work.ts';

/** The row policies and masks of an ontology, for whomever they are. */
export interface PolicyRules {
  readonly rows: readonly RowRule[];
  readonly masks: readonly MaskRule[];
}

/** What a part of an enforcement is about: rows or values of a concept. */
export interface Subject {
  readonly concept: string | null;
  readonly property: string | null;
}

export interface Part {
  /** The same texts enforce the same; null: it cannot be planned. */
  readonly texts: readonly string[] | null;
  readonly subject: Subject;
  /** The mapping's folded name. */
  readonly mapping: string;
  /** Whether the enforcement depends on values of the row: it then reveals something about them, even if they are masked. */
  readonly isTelling: boolean;
}

export interface Enforced {
  /** By policy and mapping: what is enforced on the rows of the mapping, and the mapping itself. */
  readonly parts: ReadonlyMap<string, Part>;
  /** The folded names of all mappings. */
  readonly mappings: ReadonlySet<string>;
  /** By mapping with a masked column: the columns of it that a property shows. */
  readonly shown: ReadonlyMap<string, { readonly columns: ReadonlySet<string>; readonly subject: Subject }>;
}

/** What the policies enforce on the rows of concepts. Never fails. */
export function enforcedOn(context: ModelContext, graph: Graph, { rows, masks }: PolicyRules): Enforced {
  const parts = new Map<string, Part>();
  const shown = new Map<string, { columns: Set<string>; subject: Subject }>();
  const mappings = graph.model.mappings.filter((m) => m.kind === 'concept' && graph.concept(m.concept ?? '') !== undefined);
  const add = (policy: readonly unknown[], mapping: MappingDef, sql: readonly string[] | null, subject: Subject, isTelling: boolean): void => {
    const name = fold(mapping.name);
    parts.set(JSON.stringify([...policy, name]), { texts: sql && [definitionOf(mapping), ...sql], subject, mapping: name, isTelling });
  };
  for (const rule of rows) {
    const access = accessFor({ rows: [rule] });
    const policies = Policies.of(access, graph);
    const questions = new Questions(context, graph, access);
    for (const mapping of mappings) {
      const [applied] = policies.rowRules(mapping);
      if (applied !== undefined) add(['rows', fold(rule.concept)], mapping, questions.of(applied, mapping), { concept: mapping.concept, property: null }, true);
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
      const sql = planned(context, graph, access, (work) => {
        const mapped = graph.concept(mapping.concept as string) ?? graph.thing;
        return new Branch(work, mapping, mapped, mapped).select(new Map([['v', { kind: 'property', def }]]), []);
      });
      add(
        ['values', fold(mask.policy)],
        mapping,
        sql === null ? null : [sql],
        subject,
        mask.mask.kind === 'with' || policies.maskedWhen(mask, mapping).length > 0,
      );
      if (def.expression === null && !shown.has(fold(mapping.name))) shown.set(fold(mapping.name), { columns: shownColumns(graph, mapping), subject });
    }
  }
  return { parts, shown, mappings: new Set(graph.model.mappings.map((m) => fold(m.name))) };
}

/** Whether rows of the mapping have a value of the property: given by a column, or calculated. */
function givesValue(graph: Graph, mapping: MappingDef, def: PropertyDef): boolean {
  const mapped = graph.concept(mapping.concept ?? '');
  if (mapped === undefined || !has(mapped, def)) return false;
  return def.expression !== null || mapping.columns.some((c) => fold(c.name) === fold(def.name));
}

/** The mapping's columns that are properties of its concept, folded. */
function shownColumns(graph: Graph, mapping: MappingDef): Set<string> {
  const properties = graph.concept(mapping.concept ?? '')?.properties ?? [];
  const names = new Set(properties.filter((p) => p.def.expression === null).map((p) => fold(p.def.name)));
  return new Set(mapping.columns.map((c) => fold(c.name)).filter((name) => names.has(name)));
}

/**
 * What of `before` is enforced otherwise in `after`; undefined: nothing. What is mapped since may be covered, and so may what was there before where
 * that tells nothing of its values.
 */
export function difference(before: Enforced, after: Enforced): Subject | undefined {
  for (const [key, { texts, subject }] of before.parts) {
    const now = after.parts.get(key)?.texts ?? null;
    if (texts === null || now === null || now.length !== texts.length || now.some((text, i) => text !== texts[i])) return subject;
  }
  for (const [key, { subject, mapping, isTelling }] of after.parts) if (isTelling && before.mappings.has(mapping) && !before.parts.has(key)) return subject;
  for (const [mapping, { columns, subject }] of before.shown) {
    const now = after.shown.get(mapping)?.columns;
    if (now === undefined || [...now].some((name) => !columns.has(name))) return subject;
  }
  return undefined;
}
