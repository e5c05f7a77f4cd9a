/** The subjects of a URL filter on a concept: columns, relationship paths, relationships without a path, multi-value properties (docs/design/filters.md#subjects). */
import { badRequest, didYouMean, nearest, type SvcError } from '../../errors.ts';
import type { ValueType } from '../../language/filters-values.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { ENTITY_COLUMNS, fold } from '../../ontology/names.ts';
import { columnsOfLinks } from '../../ontology/parts.ts';
import { findType, postgresFamily } from '../../ontology/types.ts';
import { isPath, type PathEnd, parsePath } from '../bind/path.ts';
import { propertyOf } from '../plan/concept-columns.ts';
import { declaredType } from '../plan/wanted.ts';

/** The column that a name in a filter means. */
export interface Subject {
  /** The column in SQL, as declared. */
  readonly column: string;
  /** The type; undefined if only PostgreSQL knows it. */
  readonly type: ValueType | undefined;
  /** True if only the schema `dsvc` has the column. */
  readonly inDsvc: boolean;
  /** The columns that a query with this filter returns in addition to those of the concept. */
  readonly addedColumns: readonly string[];
  /** True for a measure of a cube. */
  readonly isMeasure: boolean;
}

const TEXT: ValueType = { name: 'string', sql: 'text', family: 'text' };
const INTEGER: ValueType = { name: 'integer', sql: 'integer', family: 'number' };

const REAL: ValueType = { name: 'real', sql: 'real', family: 'number' };

/** The type of a property's values. */
function valueType(concept: Concept, def: PropertyDef): ValueType | undefined {
  return declaredType(concept.graph, def) === 'real' ? REAL : typeNamed(def.type);
}

/** A declared type by its name. */
export function typeNamed(name: string): ValueType | undefined {
  const found = findType(name);
  if (found === undefined) return undefined;
  const decimal = /^numeric\((\d+)(?:,(\d+))?\)$/.exec(found.sql);
  if (decimal === null) return found;
  return { name: found.name, sql: 'numeric', family: 'number', digits: Number(decimal[1]) - Number(decimal[2] ?? 0) };
}

/** PostgreSQL's internal names of the types whose values are checked. `json` cannot be compared, and `bpchar` is compared in its own way. */
const POSTGRES: Readonly<Record<string, string>> = {
  text: 'text',
  varchar: 'text',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
  numeric: 'numeric',
  bool: 'boolean',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  jsonb: 'jsonb',
  uuid: 'uuid',
};

/** The type of a column by PostgreSQL's internal name (`int8`). */
export function postgresType(name: string | undefined): ValueType | undefined {
  const sql = name !== undefined && Object.hasOwn(POSTGRES, name) ? POSTGRES[name] : undefined;
  const family = sql === undefined ? undefined : postgresFamily(name as string);
  return sql === undefined || family === undefined ? undefined : { name: sql, sql, family };
}

/**
 * Looks up a name on a concept.
 * @throws SvcError 400 `unknown_property`, `ambiguous_relationship`, and the errors of `parsePath`
 */
export function conceptSubject(concept: Concept, name: string): Subject {
  const lower = fold(name);
  const own = { inDsvc: false, addedColumns: [], isMeasure: false };
  if (ENTITY_COLUMNS.includes(lower)) return { ...own, column: lower, type: TEXT };
  const property = propertyOf(concept, lower, false);
  if (property) return { ...own, column: property.name, type: valueType(concept, property) };
  const multi = concept.multi.find((m) => fold(m.def.name) === lower)?.def;
  if (multi) return { ...own, column: multi.name, type: typeNamed(multi.type), inDsvc: true, addedColumns: [multi.name] };
  if (isPath(name)) return pathSubject(name, parsePath(concept, name));
  const [relationship, another] = concept.relationship(name);
  if (relationship === undefined) throw unknown(concept, name);
  if (another !== undefined) {
    throw badRequest('ambiguous_relationship', `\`${name}\` leads to several concepts`, { hint: `write "${name}[${relationship.target.name}].entity_id"` });
  }
  return pathSubject(name, parsePath(concept, `${name}[${relationship.target.name}].entity_id`));
}

/** The column of a wildcard `rel[c].*` in a select list, as declared. */
export function wildcard(concept: Concept, name: string): string | undefined {
  if (!isPath(name) || !name.endsWith('].*')) return undefined;
  const end = parsePath(concept, name);
  return end.kind === 'star' ? `${labelOf(end)}.*` : undefined;
}

const labelOf = (end: PathEnd): string => end.hops.map((h) => h.label).join('.');

function pathSubject(path: string, end: PathEnd): Subject {
  const label = labelOf(end);
  const all = `${label}.*`;
  const made = (column: string, type: ValueType | undefined, isOwn = false): Subject => ({
    column,
    type,
    inDsvc: true,
    addedColumns: isOwn ? [all, column] : [all],
    isMeasure: false,
  });
  const last = end.hops.at(-1);
  if (last === undefined || end.kind === 'star') throw badRequest('bad_path', `the wildcard \`${path}\` can only be selected`);
  if (end.kind === 'level') return made(`${label}_transitivity_level`, INTEGER, true);
  if (end.kind === 'link') {
    const columns = columnsOfLinks({ links: last.relationship.links, parts: last.parts });
    const column = columns.find((c) => fold(c.name) === fold(end.name));
    const near = nearest(
      end.name,
      columns.map((c) => c.name),
    );
    if (column === undefined) {
      throw badRequest('unknown_property', `the link of \`${path}\` has no column \`${end.name}\`${didYouMean(near)}`);
    }
    return made(`${label}_${column.name}`, postgresType(column.type), true);
  }
  const lower = fold(end.name);
  if (ENTITY_COLUMNS.includes(lower)) return made(`${label}.${lower}`, TEXT);
  const property = propertyOf(last.columns, lower, last.derived);
  if (property) return made(`${label}.${property.name}`, valueType(last.columns, property));
  const multi = last.columns.multi.find((m) => fold(m.def.name) === lower)?.def;
  if (multi) return made(`${label}.${multi.name}`, typeNamed(multi.type), true);
  throw unknown(last.columns, end.name, ` in the path \`${path}\``);
}

function unknown(concept: Concept, name: string, where = ''): SvcError {
  const derived = propertyOf(concept, fold(name), true);
  if (derived && where === '') {
    return badRequest('unknown_property', `\`${derived.name}\` is a property of descendants of \`${concept.name}\`, not of \`${concept.name}\` itself`, {
      hint: 'Filter the descendant, or query the schema with the prefix e',
    });
  }
  const near = nearest(name, [
    ...ENTITY_COLUMNS,
    ...concept.properties.map((p) => p.def.name),
    ...concept.multi.map((m) => m.def.name),
    ...concept.relationships.map((r) => r.name),
  ]);
  const said = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  return badRequest('unknown_property', `unknown property \`${said}\` of concept \`${concept.name}\`${where}${didYouMean(near)}`);
}
