/** Warnings about a model that is valid, but probably not what its author wants. */
import { visited } from '../budget.ts';
import { quoted } from '../errors.ts';
import type { Places } from './apply/context.ts';
import { firstPlace } from './apply/finish-concepts.ts';
import { folded } from './apply/lists.ts';
import type { Concept, Graph, Rows } from './graph.ts';
import type { MappingDef } from './model.ts';
import { fold, sameName } from './names.ts';
import { comparable, findType, postgresFamily } from './types.ts';

export interface Warning {
  readonly code: 'unmapped_property' | 'incomparable_types' | 'duplicate_mapping' | 'unused_column' | 'rows_outside_parent' | 'integer_division' | 'translated';
  readonly message: string;
  /** The object that the warning is about, e.g. `concept item`. */
  readonly object: string;
  /** 0-based offset in the script that created the object; absent if an earlier script did. */
  readonly offset?: number;
}

/**
 * All warnings about a valid model.
 *
 * @param places the offsets of the current script's objects; warnings without an offset may then be missing
 */
export function validate(graph: Graph, places?: Places): Warning[] {
  return [
    ...unmappedProperties(graph, places),
    ...incomparableTypes(graph, places),
    ...duplicateMappings(graph, places),
    ...unusedColumns(graph, places),
    ...rowsOutsideParents(graph, places),
  ];
}

function warning(code: Warning['code'], object: string, message: string, offset: number | undefined): Warning {
  return offset === undefined ? { code, object, message } : { code, object, message, offset };
}

/** The mappings that produce a concept's rows. For a logic concept, those of its source. */
function sourceMappings(rows: Rows): readonly { readonly mapping: MappingDef; readonly target: Concept }[] {
  const seen = new Set<Rows>();
  let at = rows;
  while (at.kind === 'logic' && !seen.has(at)) {
    seen.add(at);
    at = at.source.rows;
  }
  return at.kind === 'mappings' ? at.sources : [];
}

/** Properties (not calculated) that a concept with rows declares and none of its mappings provides: they are always NULL. */
function unmappedProperties(graph: Graph, places?: Places): Warning[] {
  const found: Warning[] = [];
  for (const c of graph.concepts) {
    // this lists the properties of every concept, so that the budget limits them in a model that is stored
    const declared = c.properties.filter((p) => p.owner === c && p.def.expression === null);
    if (declared.length === 0) continue;
    const sources = sourceMappings(c.rows);
    // a concept that the script has neither written nor mapped has no warning with a position
    if (places && places.near('concept', c.name) === undefined && sources.every((s) => places.get('mapping', s.mapping.name) === undefined)) continue;
    if (sources.length === 0 || sources.some((s) => s.mapping.columns.length === 0)) continue;
    visited(declared.length + sources.reduce((sum, s) => sum + s.mapping.columns.length, 0));
    const provided = folded(sources.flatMap((s) => s.mapping.columns.map((column) => column.name)));
    const lacking = declared.filter((p) => !provided.has(fold(p.def.name)));
    if (lacking.length === 0) continue;
    // a property that is listed again was already reported for the concept that declares it first
    const listedAbove = folded(c.ancestors.flatMap((a) => a.def?.properties ?? []));
    visited(listedAbove.size);
    for (const { def } of lacking) {
      if (listedAbove.has(fold(def.name))) continue;
      const offset = places?.near('concept', c.name, 'property', def.name) ?? firstPlace(sources.map((s) => places?.get('mapping', s.mapping.name)));
      found.push(
        warning(
          'unmapped_property',
          `property ${def.name}`,
          `no mapping provides the property ${quoted(def.name)} of concept ${quoted(c.name)}: it is always NULL`,
          offset,
        ),
      );
    }
  }
  return found;
}

/** Relationships, and their link mappings, over types that PostgreSQL cannot compare. */
function incomparableTypes(graph: Graph, places?: Places): Warning[] {
  const found: Warning[] = [];
  for (const c of graph.concepts) {
    for (const r of c.def?.relationships ?? []) {
      r.source.forEach((name, i) => {
        const a = graph.property(name);
        const b = graph.property(r.references[i] ?? '');
        if (!a || !b || comparable(a.type, b.type)) return;
        const offset = places?.near('concept', c.name, 'relationship', r.name) ?? places?.get('property', a.name) ?? places?.get('property', b.name);
        const message = `the relationship ${quoted(r.name)} of ${quoted(c.name)} compares ${quoted(a.name)} (${a.type}) with ${quoted(b.name)} (${b.type}) of ${quoted(r.target)}`;
        found.push(warning('incomparable_types', `relationship ${r.name}`, message, offset));
      });
    }
  }
  for (const m of graph.model.mappings) {
    for (const end of m.link ? [m.link.forward, m.link.back] : []) {
      end.columns.forEach((name, i) => {
        const type = m.columns.find((column) => sameName(column.name, name))?.type;
        const family = type === undefined ? undefined : postgresFamily(type);
        const property = graph.property(end.references[i] ?? '');
        if (!family || !property || (findType(property.type)?.family ?? family) === family) return;
        const message = `the mapping ${quoted(m.name)} of the relationship ${quoted(end.relationship)} compares its column ${quoted(name)} (${type}) with ${quoted(property.name)} (${property.type})`;
        found.push(warning('incomparable_types', `mapping ${m.name}`, message, places?.get('mapping', m.name)));
      });
    }
  }
  return found;
}

/** Mappings with equal SELECTs into the same concept, or into a concept and its descendant: the upper concept has duplicate rows. */
function duplicateMappings(graph: Graph, places?: Places): Warning[] {
  const found: Warning[] = [];
  const groups = Map.groupBy(
    graph.model.mappings.filter((m) => m.kind === 'concept'),
    (m) => JSON.stringify([m.datasource, m.sql.replace(/\s+/g, ' ').trim()]),
  );
  for (const group of groups.values()) {
    for (const [i, m] of group.entries()) {
      visited(i);
      for (const other of group) {
        if (other === m) break;
        const a = graph.concept(other.concept ?? '');
        const b = graph.concept(m.concept ?? '');
        if (!a || !b || !(a.isA(b) || b.isA(a))) continue;
        const upper = a.isA(b) ? b : a;
        const message = `the mappings ${quoted(other.name)} (into ${quoted(a.name)}) and ${quoted(m.name)} (into ${quoted(b.name)}) have the same SELECT: its rows are duplicated in ${quoted(upper.name)}`;
        found.push(warning('duplicate_mapping', `mapping ${m.name}`, message, places?.get('mapping', m.name) ?? places?.get('mapping', other.name)));
        // one warning for each mapping: one for each pair would be too many
        break;
      }
    }
  }
  return found;
}

/** Columns of a mapping that provide no property. Additional columns of a link mapping are its link columns. */
function unusedColumns(graph: Graph, places?: Places): Warning[] {
  const found: Warning[] = [];
  const ofRows = new Map<Concept, ReadonlySet<string>>();
  const usedBy = (m: MappingDef, concept: Concept): ReadonlySet<string> => {
    if (m.kind === 'multi') return folded([...(concept.key?.properties.map((p) => p.name) ?? []), m.property ?? '']);
    const known = ofRows.get(concept) ?? folded(concept.properties.filter((p) => p.def.expression === null).map((p) => p.def.name));
    ofRows.set(concept, known);
    return known;
  };
  for (const m of graph.model.mappings) {
    const concept = m.concept === null ? undefined : graph.concept(m.concept);
    if (!concept || m.columns.length === 0) continue;
    const used = usedBy(m, concept);
    visited(m.columns.length);
    for (const column of m.columns) {
      if (used.has(fold(column.name))) continue;
      const message = `the mapping ${quoted(m.name)} has a column ${quoted(column.name)}, which is not a property that it could provide for ${quoted(concept.name)}`;
      found.push(warning('unused_column', `mapping ${m.name}`, message, places?.get('mapping', m.name)));
    }
  }
  return found;
}

/** Concepts that may have rows which the nearest logic concept above them lacks: mapped ones, and logic ones that are not defined on it. */
function rowsOutsideParents(graph: Graph, places?: Places): Warning[] {
  const found: Warning[] = [];
  if (!graph.concepts.some((c) => c.def?.logic)) return found;
  for (const c of graph.concepts) {
    if (!c.def?.logic && c.mappings.length === 0) continue;
    for (const upper of logicAbove(c)) {
      const why = whyOutside(c, upper, graph);
      if (why === undefined) continue;
      const offset = firstPlace([places?.get('concept', c.name), ...c.mappings.map((m) => places?.get('mapping', m.name)), places?.get('concept', upper.name)]);
      found.push(warning('rows_outside_parent', `concept ${c.name}`, `${quoted(c.name)} inherits from ${quoted(upper.name)}, but ${why}`, offset));
    }
  }
  return found;
}

/** The nearest logic concept on each path upward. */
function logicAbove(c: Concept): readonly Concept[] {
  const seen = new Set<Concept>(c.parents);
  for (const above of seen) {
    visited(above.parents.length);
    if (!above.def?.logic) for (const parent of above.parents) seen.add(parent);
  }
  return [...seen].filter((above) => above.def?.logic);
}

/** Why rows of a concept may not be rows of a logic concept above it; undefined if they always are. */
function whyOutside(c: Concept, upper: Concept, graph: Graph): string | undefined {
  const source = graph.concept(upper.def?.logic?.concept ?? '');
  if (c.def?.logic) {
    if (isDefinedOn(c, upper)) return undefined;
    return `its condition is on ${quoted(c.def.logic.concept)}: rows that do not meet the condition of ${quoted(upper.name)} are not rows of ${quoted(upper.name)}`;
  }
  if (source && !c.isA(source))
    return `it is not a ${quoted(source.name)}, on which ${quoted(upper.name)} is defined: its rows are not rows of ${quoted(upper.name)}`;
  return `its rows that do not meet the condition of ${quoted(upper.name)} are not rows of ${quoted(upper.name)}`;
}

/** Whether a logic concept is defined on `upper`, or on a concept that is. */
function isDefinedOn(c: Concept, upper: Concept): boolean {
  const seen = new Set<Concept>();
  let at = c;
  while (at.rows.kind === 'logic' && !seen.has(at)) {
    seen.add(at);
    if (at.rows.name === upper.name) return true;
    at = at.rows.source;
  }
  return false;
}
