/**
 * References that a foreign key of the database enforces (docs/design/sql-shapes.md#enforced-references): the row that they refer to exists and is read, so a query that
 * reads nothing else of it does not join it.
 */
import type { Concept, Relationship } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { parseType } from '../../ontology/types.ts';
import { enforcedKey } from '../plan/context.ts';
import type { PathNode } from '../plan/path-node.ts';
import { cast, fieldsOf, type Node, select, subselect, target } from '../plan/tree.ts';
import { columnNamed, typeOf } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';

/** For declared types, the column types whose values stay different in them, and equal if and only if they are the same. */
const EXACT: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'varchar'],
  smallint: ['int2'],
  integer: ['int2', 'int4'],
  bigint: ['int2', 'int4', 'int8'],
};

/** Columns of a mapping with the values of properties. */
interface Referring {
  readonly mapping: MappingDef;
  readonly columns: readonly string[];
}

/**
 * True if each value of the columns, unless one of them is NULL, is that of exactly one row of the concept, and the database enforces it. False if anything may hide
 * rows of the concept: policies, grants, a condition of its mapping or of a logic concept; and for a concept with several mappings.
 */
function isEnforced(state: PlanState, { mapping, columns }: Referring, concept: Concept, references: readonly PropertyDef[]): boolean {
  const { enforces } = state.context;
  const { rows } = concept;
  if (enforces === undefined || state.policies !== undefined || state.seen !== state.graph || rows.kind !== 'mappings') return false;
  const [source, ...others] = rows.sources;
  if (source === undefined || others.length > 0 || source.mapping.datasource !== mapping.datasource) return false;
  if (state.texts.mapping(source.mapping).leavesOut) return false;
  const from = tableColumns(state, mapping, columns, references);
  const to = tableColumns(
    state,
    source.mapping,
    references.map((def) => def.name),
    references,
  );
  if (from === undefined || to === undefined) return false;
  const key = enforcedKey(
    from.table,
    to.table,
    from.columns.map((c, i) => [c, to.columns[i] as string]),
  );
  if (!enforces(mapping.datasource, key)) return false;
  state.trusted.add(key);
  return true;
}

/** The table of a mapping that reads one table, and its columns of which some columns of the mapping are the values; undefined if they are anything else. */
function tableColumns(state: PlanState, mapping: MappingDef, names: readonly string[], defs: readonly PropertyDef[]) {
  const { from, column: columnOf } = state.texts.mapping(mapping);
  const [item, ...others] = from();
  // an alias may rename columns
  if (item === undefined || !('RangeVar' in item) || others.length > 0 || item.RangeVar.alias?.colnames) return undefined;
  const columns = names.flatMap((name, i) => {
    const given = columnNamed(mapping, name.toLowerCase());
    const { expression, type } = defs[i] as PropertyDef;
    if (given?.type === undefined || expression !== null || !EXACT[parseType(type).sql]?.includes(given.type)) return [];
    const value = columnOf(given.name);
    return 'ColumnRef' in value ? [fieldsOf(value.ColumnRef).at(-1) as string] : [];
  });
  const { schemaname = '', relname = '' } = item.RangeVar;
  return columns.length === names.length && columns.length > 0 ? { table: [schemaname, relname] as const, columns } : undefined;
}

/** True if the mappings of a concept give it references to another concept that the database enforces. */
export function isEnforcedFrom(state: PlanState, from: Concept, source: readonly PropertyDef[], to: Concept, references: readonly PropertyDef[]): boolean {
  if (state.context.enforces === undefined) return false;
  let { rows } = from;
  while (rows.kind === 'logic') rows = rows.source.rows;
  const columns = source.map((def) => def.name);
  return (
    rows.sources.length > 0 &&
    source.every((s) => s.expression === null) &&
    rows.sources.every(({ mapping }) => isEnforced(state, { mapping, columns }, to, references))
  );
}

/** True if one end of links refers to rows of a concept by these properties, and the database enforces it. */
export const areEnforced = (
  state: PlanState,
  links: Relationship['links'],
  side: 'near' | 'far',
  concept: Concept,
  references: readonly PropertyDef[],
): boolean =>
  state.context.enforces !== undefined &&
  links.length > 0 &&
  links.every(({ mapping, [side]: end }) => {
    const columns = references.flatMap(({ name }) => end.columns[end.references.findIndex((r) => sameName(r, name))] ?? []);
    return columns.length === references.length && columns.length === end.columns.length && isEnforced(state, { mapping, columns }, concept, references);
  });

/** True if all that is read of the rows of a node are the properties by which they are found. */
export const readsOnly = (node: PathNode, references: readonly PropertyDef[]): boolean =>
  [...node.columns.values()].every(
    ({ wanted }) => (wanted.kind === 'property' || wanted.kind === 'raw') && references.some((r) => sameName(r.name, wanted.def.name)),
  );

/** In place of the rows of a node that are not read, because a row with these values exists: one row with the values, as an item of FROM. */
export function referred(node: PathNode, references: readonly PropertyDef[], values: readonly Node[]): Node {
  const columns = [...node.columns.values()].map(({ name, wanted }) => {
    const at = references.findIndex((r) => 'def' in wanted && sameName(r.name, wanted.def.name));
    return target(cast(values[at] as Node, typeOf(node.state.graph, wanted)), name);
  });
  return subselect(select({ targetList: columns }), node.alias, { lateral: true });
}
