/** The columns that a query wants of the rows of a concept, and their types. */
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { ColumnDef, MappingDef, PropertyDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import type { PlanState } from '../plan-state.ts';

/** A column that a source must return. */
export type Wanted =
  /**
   * `actual`: the true value even if it is masked for the caller: for joins of the model, and for conditions of policies.
   * `reader`: the concept whose calculated properties apply to the rows, if it is not the concept that the caller reads.
   * `by`: for a calculated property, the model as the reader sees it; undefined: the whole model.
   * `seen`: for a property of descendants, the model as the reader sees it: the reader may not see the values of all rows (shown.ts).
   */
  | { readonly kind: 'property'; readonly def: PropertyDef; readonly actual?: true; readonly reader?: Concept; readonly by?: Graph; readonly seen?: Graph }
  /** The property's column of the table without a cast, for joins that can use an index. Only if `rawType` returns a type. */
  | { readonly kind: 'raw'; readonly def: PropertyDef; readonly type: string; readonly seen?: Graph }
  | { readonly kind: 'entity_id' | 'entity_type' | 'entity_label'; readonly actual?: true }
  /** The name of the row's mapping. */
  | { readonly kind: 'mapping' }
  /** Whether the row comes from one of the mappings. */
  | { readonly kind: 'mapped_in'; readonly mappings: ReadonlySet<MappingDef> };

/** Wanted columns by their names in SQL. */
export type WantedColumns = ReadonlyMap<string, Wanted>;

/**
 * The SQL type of a property's values: its declared type. A property that is declared `float` or `double` keeps the type `real` if all columns that give it have that
 * type: a cast would show digits that the table does not have.
 */
export function declaredType(graph: Graph, def: PropertyDef): string {
  const { sql } = parseType(def.type);
  return sql === 'double precision' && def.expression === null && columnTypes(graph.whole).get(def.name.toLowerCase()) === 'float4' ? 'real' : sql;
}

/** True if the values of a property of type `string` are those of `inet` columns only. */
export const isAddress = (graph: Graph, def: PropertyDef): boolean =>
  def.expression === null && parseType(def.type).sql === 'text' && columnTypes(graph.whole).get(def.name.toLowerCase()) === 'inet';

const TYPES = new WeakMap<Graph, ReadonlyMap<string, string | undefined>>();

/** The type that all columns with a name (in lower case) have in the mappings of a model; undefined if they have several types or an unknown one. */
function columnTypes(graph: Graph): ReadonlyMap<string, string | undefined> {
  const known = TYPES.get(graph);
  if (known !== undefined) return known;
  const found = new Map<string, string | undefined>();
  for (const { columns } of graph.model.mappings) {
    for (const column of columns) {
      const name = column.name.toLowerCase();
      found.set(name, found.has(name) && found.get(name) !== column.type ? undefined : column.type);
    }
  }
  TYPES.set(graph, found);
  return found;
}

/** The true value of a property, for joins of the model. Without policies it is the same column that the caller gets. */
export const actualProperty = (state: PlanState, def: PropertyDef): Wanted =>
  state.policies ? { kind: 'property', def, actual: true } : { kind: 'property', def };

/** The SQL type of a wanted column. */
export function typeOf(graph: Graph, wanted: Wanted): string {
  if (wanted.kind === 'property') return declaredType(graph, wanted.def);
  if (wanted.kind === 'raw') return wanted.type;
  return wanted.kind === 'mapped_in' ? 'boolean' : 'text';
}

/** True if a concept declares or inherits a property. */
export function has(concept: Concept, def: PropertyDef): boolean {
  let names = OWN.get(concept);
  if (!names) {
    names = new Set(concept.properties.map((p) => p.def.name));
    OWN.set(concept, names);
  }
  return names.has(def.name);
}
const OWN = new WeakMap<Concept, Set<string>>();

const COLUMNS = new WeakMap<MappingDef, ReadonlyMap<string, ColumnDef>>();

/** The first column of a mapping with a name, which is in lower case. */
export function columnNamed(mapping: MappingDef, lower: string): ColumnDef | undefined {
  let columns = COLUMNS.get(mapping);
  if (columns === undefined) {
    columns = new Map(mapping.columns.toReversed().map((c) => [c.name.toLowerCase(), c]));
    COLUMNS.set(mapping, columns);
  }
  return columns.get(lower);
}

/** The names in SQL of the integer types of columns. */
export const INTEGER_SQL: Readonly<Record<string, string>> = { int2: 'smallint', int4: 'integer', int8: 'bigint' };

/**
 * The SQL type of a property if all mappings of the concept have the same integer type for it. A join on that type needs no cast, so it can use an index. If
 * undefined, join on the declared type.
 */
export const rawType = (concept: Concept, def: PropertyDef): string | undefined => onlyOf(integerTypes(concept, def));

/** As `rawType`, also for a property that is declared as a text: two such columns may be compared with each other as integers. */
export const storedInteger = (concept: Concept, def: PropertyDef): string | undefined => onlyOf(storedIntegers(concept, def));

function onlyOf(types: ReadonlySet<string>): string | undefined {
  const [type, ...others] = [...types];
  return type && others.length === 0 ? INTEGER_SQL[type] : undefined;
}

/** True if all mappings of the concept have integer types for a property, but not the same one. */
export const isMixedInteger = (concept: Concept, def: PropertyDef): boolean => integerTypes(concept, def).size > 1;

/** The types of the columns of a property that is declared as a number, if all of them are integers. A text of integers is compared and sorted as a text. */
const integerTypes = (concept: Concept, def: PropertyDef): ReadonlySet<string> =>
  parseType(def.type).family === 'number' ? storedIntegers(concept, def) : new Set();

/** The families of types whose values are equal if the integers of their columns are. */
const COMPARED_AS_STORED: ReadonlySet<string> = new Set(['number', 'text']);

function storedIntegers(concept: Concept, def: PropertyDef): ReadonlySet<string> {
  const found = new Set<string>();
  // of a boolean, different integers are equal
  if (def.expression !== null || !COMPARED_AS_STORED.has(parseType(def.type).family)) return found;
  let rows = concept.rows;
  while (rows.kind === 'logic') rows = rows.source.rows;
  const wanted = def.name.toLowerCase();
  for (const { mapping, target: mapped } of rows.sources) {
    if (!has(mapped, def)) continue;
    const given = columnNamed(mapping, wanted);
    if (!given) continue;
    if (!given.type || !Object.hasOwn(INTEGER_SQL, given.type)) return new Set();
    found.add(given.type);
  }
  return found;
}

/** What `make` returns for each wanted column, in order. */
export function mapWanted<T>(wanted: WantedColumns, make: (column: Wanted, name: string) => T): T[] {
  const made: T[] = [];
  wanted.forEach((column, name) => {
    made.push(make(column, name));
  });
  return made;
}
