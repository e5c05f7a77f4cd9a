/** Statistics of the values of mappings and views: how many are distinct and NULL, the smallest, the largest and the most frequent. */
import type { FrequentValue, MeasuredKind, PropertyStatistics } from '../catalog/statistics.ts';
import { quoteDouble } from '../language/quote.ts';
import type { Graph } from '../ontology/graph.ts';
import type { ColumnDef, MappingDef, PropertyDef, ViewDef } from '../ontology/model.ts';
import { sameName } from '../ontology/names.ts';
import { findType, type TypeFamily } from '../ontology/types.ts';
import { groupsOf, guarded } from './checks.ts';
import { type DataReader, type Finding, ROWS } from './reader.ts';

/** The number of frequent values that are stored of a column. */
const FREQUENT = 20;
/** Columns with few distinct values are listed even if no value occurs twice. */
const FEW = 20;
/** Longer values are not stored. */
const LONGEST = 200;
const ORDERED: ReadonlySet<TypeFamily | undefined> = new Set(['text', 'number', 'date', 'time']);

/** What is counted at once: the rows of a mapping or view. */
interface Target {
  readonly kind: MeasuredKind;
  readonly name: string;
  readonly from: string;
  readonly graph: Graph;
  readonly columns: readonly Column[];
}

interface Column {
  readonly name: string;
  /** The value in the type of the property. */
  readonly value: string;
  /** The value in a type that has an equality. */
  readonly comparable: string;
  readonly isOrdered: boolean;
}

function columnOf(name: string, type: string | undefined): Column {
  const found = type === undefined ? undefined : findType(type);
  const quoted = quoteDouble(name);
  const value = found ? `CAST(${quoted} AS ${found.sql})` : quoted;
  return { name, value, comparable: found && found.family !== 'json' ? value : `CAST(${quoted} AS text)`, isOrdered: ORDERED.has(found?.family) };
}

/** The property that a mapping's column gives; undefined for a column of a link. */
function propertyOf(graph: Graph, mapping: MappingDef, column: ColumnDef): PropertyDef | undefined {
  const concept = mapping.link === null ? graph.concept(mapping.concept ?? '') : undefined;
  return [...(concept?.properties ?? []), ...(concept?.multi ?? [])].find((p) => sameName(p.def.name, column.name))?.def;
}

/** The columns of one statement. */
const COLUMNS = 10;

/** Without columns that have the name of a calculated property: queries do not read them. */
function targetOfMapping(reader: DataReader, mapping: MappingDef, group: readonly ColumnDef[]): Target {
  const columns = group.flatMap((c) => {
    const property = propertyOf(reader.context.graph, mapping, c);
    return typeof property?.expression === 'string' ? [] : [columnOf(c.name, property?.type ?? c.type)];
  });
  return { kind: 'mapping', name: mapping.name, from: `vsvc.${quoteDouble(ROWS)}`, graph: reader.over(mapping), columns };
}

function targetOfView(reader: DataReader, view: ViewDef, group: readonly ColumnDef[]): Target {
  const columns = group.map((c) => columnOf(c.name, c.type));
  // a sub-query, because a cube has rows only where its dimensions are selected
  const from = `(SELECT ${view.columns.map((c) => quoteDouble(c.name)).join(', ')} FROM vsvc.${quoteDouble(view.name)}) AS q`;
  return { kind: 'view', name: view.name, from, graph: reader.context.graph, columns };
}

/** The text of the smallest or largest value; NULL if it is longer than what is stored. */
const extreme = (aggregate: 'min' | 'max', { value, isOrdered }: Column): string =>
  isOrdered ? `left(CAST(${aggregate}(${value}) AS text), ${LONGEST + 1})` : 'CAST(NULL AS text)';

const short = (value: unknown): string | null => (typeof value === 'string' && value.length <= LONGEST ? value : null);

/** Counts one target. A text that depends on the caller has other values for each caller, so it has no statistics. @throws SvcError */
async function measured(reader: DataReader, { kind, name, from, graph, columns }: Target): Promise<PropertyStatistics[]> {
  const parts = columns.flatMap((c, i) => [
    `count(${c.comparable}) AS n${i}`,
    `count(DISTINCT ${c.comparable}) AS d${i}`,
    `${extreme('min', c)} AS a${i}`,
    `${extreme('max', c)} AS z${i}`,
  ]);
  const sql = `SELECT count(*) AS n, ${parts.join(', ')} FROM ${from}`;
  if (columns.length === 0 || reader.plan(sql, graph).readsCaller) return [];
  const row = await reader.first(sql, graph);
  const found: PropertyStatistics[] = [];
  for (const [i, column] of columns.entries()) {
    const [notNull, distinct] = [Number(row[`n${i}`]), Number(row[`d${i}`])];
    const frequent = distinct > 0 && (distinct <= FEW || distinct < notNull) ? await frequentValues(reader, column, from, graph) : [];
    const nulls = Number(row.n) - notNull;
    found.push({ kind, name, property: column.name, distinct, nulls, notNull, min: short(row[`a${i}`]), max: short(row[`z${i}`]), frequent });
  }
  return found;
}

async function frequentValues(reader: DataReader, { comparable }: Column, from: string, graph: Graph): Promise<FrequentValue[]> {
  const sql = `SELECT v, n FROM (SELECT CAST(${comparable} AS text) AS v, count(*) AS n FROM ${from} GROUP BY 1) AS f
    WHERE v IS NOT NULL AND length(v) <= ${LONGEST} ORDER BY n DESC, v LIMIT ${FREQUENT}`;
  return (await reader.all(sql, graph)).map((r) => ({ value: String(r.v), count: Number(r.n) }));
}

/** The statistics of the values of a mapping or view, and what could not be counted. */
export interface Measured {
  readonly statistics: readonly PropertyStatistics[];
  readonly findings: readonly Finding[];
}

/** What cannot be counted is a warning. */
async function counted(reader: DataReader, object: string, known: readonly Finding[], target: () => Target): Promise<Measured> {
  const statistics: PropertyStatistics[] = [];
  if (known.some((f) => f.code === 'not_checked' && f.object === object)) return { statistics, findings: [] };
  const findings = await guarded(object, async () => {
    statistics.push(...(await measured(reader, target())));
    return [];
  });
  return { statistics, findings };
}

/** Counts the values of some columns, unless the rows could not be counted. @param known findings so far */
export type Measure = (known: readonly Finding[]) => Promise<Measured>;

export const measuresOfMapping = (reader: DataReader, m: MappingDef): readonly Measure[] =>
  groupsOf(m.columns, COLUMNS).map((group) => (known) => counted(reader, `mapping ${m.name}`, known, () => targetOfMapping(reader, m, group)));

export const measuresOfView = (reader: DataReader, v: ViewDef): readonly Measure[] =>
  groupsOf(v.columns, COLUMNS).map((group) => (known) => counted(reader, `view ${v.name}`, known, () => targetOfView(reader, v, group)));
