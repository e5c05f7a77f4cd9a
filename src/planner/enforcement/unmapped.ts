/**
 * Concepts without rows. A policy on one has nothing to enforce yet, but it must not be weakened before the first mapping is there. So two versions of a model are
 * compared once more as if each concept without a mapping had one, with a column for each of its properties.
 */
import { quoteDouble } from '../../language/quote.ts';
import { compile } from '../../ontology/compile.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { baseOf } from '../secure/policies.ts';
import type { PolicyRules, Subject } from './enforced.ts';

/** The prefix of the names of these mappings. No other mapping has such a name. */
const PREFIX = '\u0000';

/** True if a concept has no mapping, and so the rows of its ancestors or none. Logic concepts have rows of other concepts. */
const isUnmapped = ({ rows }: Concept): boolean => rows.kind === 'mappings' && (rows.sources.length === 0 || rows.fromAncestors);

const columnsOf = (concept: Concept): readonly string[] => concept.properties.filter((p) => p.def.expression === null).map((p) => p.def.name);

function mappingInto(name: string, columns: readonly string[], datasource: string): MappingDef {
  const sql = `SELECT ${columns.map((c) => `t.${quoteDouble(c)}`).join(', ')} FROM unmapped.${quoteDouble(name)} t`;
  return { name: PREFIX + name, kind: 'concept', concept: name, property: null, link: null, datasource, sql, columns: columns.map((c) => ({ name: c })) };
}

/** The concepts that have no mapping in `before` and that both versions have. */
const unmappedIn = (before: Graph, after: Graph): readonly (readonly [old: Concept, now: Concept])[] =>
  before.concepts.flatMap((old) => {
    const now = after.concept(old.name);
    return isUnmapped(old) && now?.rows.kind === 'mappings' ? [[old, now] as const] : [];
  });

const hasSameAncestors = (a: Concept, b: Concept): boolean => {
  const names = new Set(a.ancestors.map((c) => c.name));
  return names.size === b.ancestors.length && b.ancestors.every((c) => names.has(c.name));
};

/** Finds a concept without a mapping that a policy covers in `before` and no longer in `after`, because it has other ancestors. */
export function uncovered(before: Graph, after: Graph, { rows, masks }: PolicyRules): Subject | undefined {
  const isIn = (concept: Concept, graph: Graph, name: string): boolean => {
    const of = graph.concept(name);
    return of !== undefined && concept.isA(baseOf(of).base);
  };
  for (const [old, now] of unmappedIn(before, after)) {
    if (hasSameAncestors(old, now)) continue;
    const isLost = (name: string): boolean => isIn(old, before, name) && !isIn(now, after, name);
    if (rows.some((r) => isLost(r.concept))) return { concept: now.name, property: null };
    const mask = masks.find((m) => m.concept !== null && isLost(m.concept) && now.properties.some((p) => sameName(p.def.name, m.property)));
    if (mask !== undefined) return { concept: now.name, property: mask.property };
  }
  return undefined;
}

/**
 * Adds a mapping for each concept that has none in `before`, and that both versions have below the same concepts: below another one, its rows would change what a policy
 * reads there.
 * @returns undefined if there is no such concept
 */
export function asMapped(before: Graph, after: Graph): readonly [before: Graph, after: Graph] | undefined {
  const datasource = before.model.mappings[0]?.datasource ?? after.model.mappings[0]?.datasource ?? 'main';
  const added = unmappedIn(before, after).flatMap(([old, now]): readonly MappingDef[] => {
    if (!hasSameAncestors(old, now)) return [];
    const columns = [...new Set([...columnsOf(old), ...columnsOf(now)])].sort();
    return columns.length === 0 ? [] : [mappingInto(old.name, columns, datasource)];
  });
  if (added.length === 0) return undefined;
  const withAdded = ({ model, ontology }: Graph): Graph => compile({ ...model, mappings: [...model.mappings, ...added] }, ontology);
  return [withAdded(before), withAdded(after)];
}
