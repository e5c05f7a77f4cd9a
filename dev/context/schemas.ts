/** Public question sets in the form of Spider and BIRD, and in that of BEAVER: databases as subjects of a graph, and questions with their SQL. */
import { readFile } from 'node:fs/promises';
import { Failure } from '../../src/cli/failure.ts';
import { compound, firstFree, roleOf } from '../../src/cli/introspect-names.ts';
import type { Subject, SubjectColumn, SubjectRelationship } from '../../src/service.ts';

/** A question, with its SQL over the tables. */
export interface GoldQuestion {
  readonly db: string;
  readonly question: string;
  readonly sql: string;
}

/** A table with its columns, and the columns that refer to another table. */
export interface SourceTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly description: string | null; readonly isKey: boolean }[];
  readonly references: readonly { readonly column: string; readonly table: string }[];
}

type Json = Readonly<Record<string, unknown>>;

async function jsonOf(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch (error) {
    throw new Failure(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** The tables of each database of a file. @throws Failure if it has another form */
export async function readTables(file: string): Promise<ReadonlyMap<string, readonly SourceTable[]>> {
  const json = await jsonOf(file);
  const databases = Array.isArray(json) ? json.map((db) => [String((db as Json).db_id), spiderTables(db as Json)] as const) : beaverTables(json as Json);
  return new Map(databases);
}

function spiderTables(db: Json): readonly SourceTable[] {
  const names = texts(db.table_names_original);
  const columns = db.column_names_original as readonly (readonly [number, string])[];
  const described = db.column_names as readonly (readonly [number, string])[];
  const types = texts(db.column_types);
  const keys = new Set((db.primary_keys as readonly (number | readonly number[])[]).flat());
  const foreign = db.foreign_keys as readonly (readonly [number, number])[];
  return names.map((name, t) => ({
    name,
    columns: columns.flatMap(([table, column], i) => {
      const words = described[i]?.[1] ?? '';
      const isSame = words.toLowerCase() === column.toLowerCase().replaceAll('_', ' ');
      return table === t ? [{ name: column, type: types[i] ?? 'text', description: isSame ? null : words, isKey: keys.has(i) }] : [];
    }),
    references: foreign.flatMap(([from, to]) => {
      const [source, target] = [columns[from], columns[to]];
      return source?.[0] === t && target !== undefined && names[target[0]] !== undefined ? [{ column: source[1], table: names[target[0]] ?? '' }] : [];
    }),
  }));
}

function beaverTables(json: Json): (readonly [string, readonly SourceTable[]])[] {
  const found = new Map<string, SourceTable[]>();
  for (const value of Object.values(json)) {
    const table = value as Json;
    const keys = new Set(texts(table.primary_key));
    const types = texts(table.column_types);
    const references = ((table.foreign_key ?? []) as readonly Json[]).flatMap((key) => {
      const target = String(key.referenced_table_name ?? key.referenced_table ?? '').replace(/^.*#sep#/, '');
      const column = texts([key.column_name ?? key.column ?? []].flat())[0];
      return target === '' || column === undefined ? [] : [{ column, table: target }];
    });
    const columns = texts(table.column_names_original).map((name, i) => ({
      name,
      type: (types[i] ?? 'text').split(/[ (]/)[0] ?? 'text',
      description: null,
      isKey: keys.has(name),
    }));
    const db = String(table.db_id);
    const tables = found.get(db) ?? [];
    found.set(db, tables);
    tables.push({ name: String(table.table_name_original), columns, references });
  }
  return [...found];
}

/**
 * Adds references that another file lists: pairs of `table.column`, in any order and as often as questions need them. Each pair of columns is one reference, to the column
 * that is a key. @throws Failure if it has another form
 */
export async function withJoins(databases: ReadonlyMap<string, readonly SourceTable[]>, file: string): Promise<ReadonlyMap<string, readonly SourceTable[]>> {
  const json = await jsonOf(file);
  if (!Array.isArray(json)) throw new Failure(`${file}: expected an array of pairs`);
  const pairs = new Map<string, readonly string[]>();
  for (const pair of json.map((ends) => texts(ends).slice(0, 2)))
    pairs.set(
      pair
        .map((end) => end.toLowerCase())
        .sort()
        .join(' '),
      pair,
    );
  return new Map([...databases].map(([db, tables]) => [db, withPairs(tables, [...pairs.values()])]));
}

function withPairs(tables: readonly SourceTable[], pairs: readonly (readonly string[])[]): readonly SourceTable[] {
  const more = new Map<SourceTable, SourceTable['references'][number][]>(tables.map((t) => [t, []]));
  const endOf = (text = '') => {
    const [name = '', column = ''] = text.split('.');
    const table = tables.find((t) => t.name.toLowerCase() === name.toLowerCase());
    const known = table?.columns.find((c) => c.name.toLowerCase() === column.toLowerCase());
    return table && { table, column: known?.name ?? column, isKey: known?.isKey ?? false };
  };
  for (const pair of pairs) {
    const [one, other] = pair.map(endOf);
    if (one === undefined || other === undefined || one.table === other.table) continue;
    const [from, to] = one.isKey && !other.isKey ? [other, one] : [one, other];
    more.get(from.table)?.push({ column: from.column, table: to.table.name });
  }
  return tables.map((t) => ({ ...t, references: [...t.references, ...(more.get(t) ?? [])] }));
}

/** The questions of a file. @throws Failure if it has another form */
export async function readQuestions(file: string): Promise<readonly GoldQuestion[]> {
  const json = await jsonOf(file);
  if (!Array.isArray(json)) throw new Failure(`${file}: expected an array of questions`);
  return (json as readonly Json[]).map((q) => {
    const hint = typeof q.evidence === 'string' ? ` ${q.evidence}` : '';
    return { db: String(q.db_id ?? ''), question: `${String(q.question)}${hint}`, sql: String(q.query ?? q.SQL ?? q.sql) };
  });
}

const NO_COLUMN = { tags: {}, isMeasure: false, isMulti: false, isLabel: false, inheritedFrom: null };

/** Each table as a concept, each foreign key as a relationship in both directions, with names as `kg introspect` makes them. */
export function subjectsOfTables(tables: readonly SourceTable[]): readonly Subject[] {
  const relationships = new Map<string, SubjectRelationship[]>(tables.map((t) => [t.name.toLowerCase(), []]));
  const plain = { transitivity: null, inheritedFrom: null, linkColumns: [], description: null };
  for (const { name, references } of tables) {
    for (const { column, table } of references) {
      const target = tables.find((t) => t.name.toLowerCase() === table.toLowerCase())?.name;
      if (target === undefined) continue;
      const [own, its] = [relationships.get(name.toLowerCase()) ?? [], relationships.get(target.toLowerCase()) ?? []];
      const isFree = (of: readonly SubjectRelationship[]) => (wanted: string) => of.every((r) => r.name.toLowerCase() !== wanted.toLowerCase());
      const there = firstFree([roleOf(column) ?? target, compound(target, column)], isFree(own));
      const back = firstFree([`${there}_of`, `${there}_of_${name}`], isFree(its));
      own.push({ ...plain, name: there, target, toMany: false, isInverse: false, inverse: back });
      its.push({ ...plain, name: back, target: name, toMany: true, isInverse: true, inverse: there });
    }
  }
  return tables.map(({ name, columns }) => ({
    kind: 'concept',
    name,
    description: null,
    tags: {},
    parents: [],
    condition: null,
    columns: columns.map((c): SubjectColumn => ({ ...NO_COLUMN, ...c })),
    relationships: relationships.get(name.toLowerCase()) ?? [],
  }));
}

/** The tables that a statement reads, each with the columns of it that the statement names. Texts in single quotes, and in double quotes after a comparison, are values. */
export function namesIn(sql: string, tables: readonly SourceTable[]): ReadonlyMap<SourceTable, ReadonlySet<string>> {
  const code = sql.replace(/'(?:[^']|'')*'/g, "''").replace(/((?:=|<|>|\blike|\bin *\(|,)\s*)"[^"]*"/gi, "$1''");
  const words = new Set(
    [...code.matchAll(/`([^`]+)`|"([^"]+)"|\[([^\]]+)\]|([A-Za-z_][\w$]*)/g)].map((m) => (m[1] ?? m[2] ?? m[3] ?? m[4] ?? '').toLowerCase()),
  );
  const from = new Set([...code.matchAll(/\b(?:from|join|,)\s+[`"[]?([A-Za-z_][\w$ ]*?)[`"\]]?(?=[\s,;)]|$)/gi)].map((m) => (m[1] ?? '').toLowerCase()));
  const read = tables.filter(
    (t) =>
      words.has(t.name.toLowerCase()) &&
      (from.has(t.name.toLowerCase()) || !tables.some((o) => o.columns.some((c) => c.name.toLowerCase() === t.name.toLowerCase()))),
  );
  return new Map(read.map((t) => [t, new Set(t.columns.map((c) => c.name).filter((name) => words.has(name.toLowerCase())))]));
}
