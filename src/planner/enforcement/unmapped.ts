/**
 * Concepts without rows, and relationships and multi-valued properties without mappings. A policy on one has nothing to enforce yet, or reads nothing yet, but it must not be
 * weakened before the first mapping is there. So two versions of a model are compared once more as if each concept without a mapping, or without a column for one of its properties,
 * had one with all of them, and as if each relationship had links, and each multi-valued property values.
 */
import { quoteDouble } from '../../language/quote.ts';
import { compile } from '../../ontology/compile.ts';
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import type { ConceptDef, LinkEnd, MappingDef } from '../../ontology/model.ts';
import { fold, otherWay, sameName } from '../../ontology/names.ts';
import { multiMappings } from '../lower/joins.ts';
import { baseOf } from '../secure/policies.ts';
import type { PolicyRules, Subject } from './enforced.ts';

/** The prefix of the names that are made up here. Other names have no control characters, and SQL does not have the first one. */
const PREFIX = '\u0001';

/** True if a concept has no mapping, and so the rows of its ancestors or none. Logic concepts have rows of other concepts. */
const isUnmapped = ({ rows }: Concept): boolean => rows.kind === 'mappings' && (rows.sources.length === 0 || rows.fromAncestors);

const columnsOf = (concept: Concept): readonly string[] => concept.properties.filter((p) => p.def.expression === null).map((p) => p.def.name);

function mappingInto(name: string, columns: readonly string[], datasource: string): MappingDef {
  return { ...made(name, columns, datasource), kind: 'concept', concept: name };
}

/** A mapping of columns with these names. */
function made(name: string, columns: readonly string[], datasource: string): Omit<MappingDef, 'kind'> {
  const sql = `SELECT ${columns.map((c) => `t.${quoteDouble(c)}`).join(', ') || '1 AS one'} FROM unmapped.${quoteDouble(name)} t`;
  return { name: PREFIX + name, concept: null, property: null, link: null, datasource, sql, columns: columns.map((c) => ({ name: c })) };
}

/** The names of the properties by which links and values are joined with the rows of a concept: its key, or its first column. */
const joinedBy = (concept: Concept): readonly string[] => concept.key?.properties.map((p) => p.name) ?? columnsOf(concept).slice(0, 1);

/** Links of a relationship between the rows of two concepts. */
function linksOf({ name, inverseName }: Relationship, [from, target]: readonly [Concept, Concept], datasource: string): MappingDef {
  const end = (relationship: string, concept: Concept, side: string): LinkEnd => {
    const references = joinedBy(concept);
    return { relationship, columns: references.map((_, i) => `${PREFIX}${side}${i}`), concept: concept.name, references };
  };
  const [forward, back] = [end(name, target, 'far'), end(inverseName ?? otherWay(name), from, 'near')];
  const columns = [...back.columns, ...forward.columns];
  return { ...made(JSON.stringify(['link', from.name, name]), columns, datasource), kind: 'link', link: { forward, back } };
}

/** Values of a multi-valued property. */
function valuesOf(concept: Concept, property: string, datasource: string): MappingDef {
  const columns = [...joinedBy(concept).filter((name) => !sameName(name, property)), property];
  return { ...made(JSON.stringify(['values', concept.name, property]), columns, datasource), kind: 'multi', concept: concept.name, property };
}

/** True for a relationship that has link mappings, but none yet. */
const isUnlinked = (r: Relationship): boolean => r.kind === 'mtm' && !r.isInverse && r.links.length === 0;

/** For each relationship and multi-valued property without a mapping in `before`: a mapping for `before`, and one for `after`, which may have other keys. */
function betweenRows(before: Graph, after: Graph, datasource: string): readonly (readonly [old: MappingDef, now: MappingDef])[] {
  const found: (readonly [MappingDef, MappingDef])[] = [];
  for (const old of before.concepts) {
    const now = after.concept(old.name);
    if (old.def === null || now === undefined) continue;
    for (const r of old.relationships.filter((o) => o.declaredBy === old && isUnlinked(o))) {
      // an ancestor may declare it now
      const [other, target] = [now.relationship(r.name).find(isUnlinked), after.concept(r.target.name)];
      if (other !== undefined && target !== undefined && [old, r.target, now, target].every((c) => joinedBy(c).length > 0))
        found.push([linksOf(r, [old, r.target], datasource), linksOf(other, [now, target], datasource)]);
    }
    for (const name of old.def.multi) {
      const [is, stays] = (
        [
          [before, old],
          [after, now],
        ] as const
      ).map(([graph, c]) => {
        const own = c.multi.find(({ def }) => sameName(def.name, name));
        return c.key !== null && own !== undefined && multiMappings(graph, c, own.def).length === 0;
      });
      if (is && stays) found.push([valuesOf(old, name, datasource), valuesOf(now, name, datasource)]);
    }
  }
  return found;
}

/** True if a property of the concept has no column in a mapping into it, so that it may get values later. What reads it now reads NULL, like what reads another such property. */
function lacksColumn(concept: Concept): boolean {
  const given = new Set(concept.mappings.flatMap((m) => m.columns.map((c) => fold(c.name))));
  return columnsOf(concept).some((name) => !given.has(fold(name)));
}

/** The concepts of `before` without mappings, and their versions in `after`. */
const unmappedIn = (before: Graph, after: Graph): readonly (readonly [old: Concept, now: Concept | undefined])[] =>
  before.concepts.flatMap((old) => (old.def !== null && isUnmapped(old) ? [[old, after.concept(old.name)] as const] : []));

/** Finds a concept without a mapping that a policy covers in `before` and no longer in `after`, because it has other ancestors, or does not exist. */
export function uncovered(before: Graph, after: Graph, { rows, masks }: PolicyRules): Subject | undefined {
  const isIn = (concept: Concept, graph: Graph, name: string): boolean => {
    const of = graph.concept(name);
    return of !== undefined && concept.isA(baseOf(of).base);
  };
  for (const [old, now] of unmappedIn(before, after)) {
    const isLost = (name: string): boolean => isIn(old, before, name) && !(now && isIn(now, after, name));
    if (rows.some((r) => isLost(r.concept))) return { concept: old.name, property: null };
    const listed = (now ?? old).properties;
    const mask = masks.find((m) => m.concept !== null && isLost(m.concept) && listed.some((p) => sameName(p.def.name, m.property)));
    if (mask !== undefined) return { concept: old.name, property: mask.property };
  }
  return undefined;
}

/** A concept that lists all properties of both versions, if a mask WITH is on a property of any concept: another concept may list what the mask reads later. */
function anyConcept(before: Graph, after: Graph, { masks }: PolicyRules): ConceptDef | undefined {
  if (!masks.some((m) => m.concept === null && m.mask.kind === 'with')) return undefined;
  const properties = before.model.properties.filter((p) => !p.multi && after.property(p.name)?.multi === false).map((p) => p.name);
  const nothing = { parents: [], multi: [], measures: [], primaryKey: [], label: [], relationships: [], description: null, tags: {}, logic: null };
  return { ...nothing, name: `${PREFIX}any`, properties };
}

/**
 * Adds a mapping for each concept that has none in `before`, or none with one of its properties, and a concept with a mapping for masks of properties of any concept; also mappings
 * for relationships and multi-valued properties that have none.
 * Their datasource does not matter: what policies enforce is compared as text.
 * @returns undefined if there is no such concept
 */
export function asMapped(before: Graph, after: Graph, rules: PolicyRules): readonly [before: Graph, after: Graph] | undefined {
  const datasource = before.model.mappings[0]?.datasource ?? after.model.mappings[0]?.datasource ?? 'main';
  const rows = before.concepts.flatMap((old): readonly (readonly [name: string, columns: readonly string[]])[] => {
    const now = after.concept(old.name);
    if (now === undefined || old.def === null || old.rows.kind === 'logic' || !(isUnmapped(old) || lacksColumn(old))) return [];
    return [[old.name, [...new Set([...columnsOf(old), ...columnsOf(now)])].sort()]];
  });
  const any = anyConcept(before, after, rules);
  if (any !== undefined)
    rows.push([any.name, any.properties.filter((name) => [before, after].some((graph) => graph.property(name)?.expression === null)).sort()]);
  const between = betweenRows(before, after, datasource);
  if (rows.length + between.length === 0) return undefined;
  const mappings = rows.map(([name, columns]) => mappingInto(name, columns, datasource));
  const withAdded = ({ model, ontology }: Graph, more: readonly MappingDef[]): Graph =>
    compile(
      { ...model, concepts: any === undefined ? model.concepts : [...model.concepts, any], mappings: [...model.mappings, ...mappings, ...more] },
      ontology,
    );
  return [
    withAdded(
      before,
      between.map(([old]) => old),
    ),
    withAdded(
      after,
      between.map(([, now]) => now),
    ),
  ];
}
