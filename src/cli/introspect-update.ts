/** `kg introspect --update FILE`: adds what is new in a database to a model file. All that the file has stays, byte for byte. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { printRelationship } from '../language/print.ts';
import { quoteBack } from '../language/quote.ts';
import type { Graph } from '../ontology/graph.ts';
import type { MappingDef } from '../ontology/model.ts';
import { fold, sameName } from '../ontology/names.ts';
import { modelOfScripts } from './exchange/script-model.ts';
import { Failure, printable } from './failure.ts';
import { type Selection, selectedTables } from './introspect.ts';
import { edited, ignoredIn, Script } from './introspect-edit.ts';
import { type Reading, readingOf } from './introspect-mapping.ts';
import { type Addition, type KnownModel, type KnownTable, startingModel } from './introspect-model.ts';
import type { DbTable } from './introspect-read.ts';
import { comment, statementsOf } from './introspect-script.ts';
import { loadNodeParser } from './node-parser.ts';
import { readScript } from './script-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A table that mappings read. */
interface Read {
  readonly mappings: readonly { readonly def: MappingDef; readonly reading: Reading }[];
  readonly known: KnownTable;
  /** New columns that are not added, because several mappings could have them. */
  readonly left: readonly string[];
}

/**
 * Adds new tables, columns and foreign keys of a datasource to a model file. A comment `-- introspect: ignore schema.table` or `schema.table.column` in the file
 * leaves something out.
 * @returns lines that say what was added, and what could not be
 * @throws Failure
 */
export async function updateFromDatabase(datasource: string, selection: Selection, path: string, env: Env): Promise<string[]> {
  const parser = await loadNodeParser();
  const file = await readScript(path, env);
  const { graph } = modelOfScripts([file], 'ontology', parser, env.PRODUCT_NAME?.trim() || 'svc');
  const tables = withoutIgnored(await selectedTables(datasource, selection, env), ignoredIn(file.text));
  const mappings = graph.model.mappings.filter((m) => sameName(m.datasource, datasource)).map((def) => ({ def, reading: readingOf(def.sql, parser) }));
  const read = new Map(tables.flatMap((t) => readOf(t, mappings, graph)));
  const known: KnownModel = {
    concepts: [...graph.model.concepts, ...graph.model.views].map((c) => c.name),
    mappings: graph.model.mappings.map((m) => m.name),
    properties: graph.model.properties,
    tables: new Map([...read].map(([table, { known: found }]) => [table, found])),
  };
  const starting = startingModel(tables, datasource, known);
  const script = new Script(file.text);
  const lines = starting.additions.flatMap((a) => add(a, script, read.get(a.table)?.mappings ?? []));
  for (const [table, { left, known: found }] of read) {
    if (left.length > 0)
      lines.push(`${table.schema}.${table.name}: several mappings of ${found.concept} read the table, so these columns are not added: ${left.join(', ')}`);
  }
  const statements = statementsOf(starting, graph.model.properties);
  const notes = starting.concepts.length === 0 ? [] : starting.notes;
  const appended = statements.length === 0 ? '' : [...(notes.length === 0 ? [] : [notes.map(comment).join('\n')]), ...statements].join('\n\n');
  const text = edited(script, appended);
  lines.push(...starting.concepts.map((c) => `+ concept ${c.name}`), ...starting.mappings.filter((m) => m.kind === 'link').map((m) => `+ mapping ${m.name}`));
  if (text === file.text) return [...lines, `${file.path}: nothing is new`].map(printable);
  try {
    modelOfScripts([{ path: file.path, text }], 'ontology', parser, env.PRODUCT_NAME?.trim() || 'svc');
  } catch (e) {
    throw e instanceof Failure ? new Failure(`what is new does not fit the model, so the file was not changed: ${e.message}`) : e;
  }
  if (path === '-') return [text.trimEnd()];
  await writeFile(resolve(env.INIT_CWD ?? '.', path), text);
  return lines.map(printable);
}

/** Tables without the ignored ones, and without ignored columns. */
function withoutIgnored(tables: readonly DbTable[], ignored: ReadonlySet<string>): DbTable[] {
  const isIgnored = (...names: string[]): boolean => ignored.has(fold(names.join('.')));
  return tables
    .filter((t) => !isIgnored(t.schema, t.name))
    .map((t) => {
      const columns = t.columns.filter((c) => !isIgnored(t.schema, t.name, c.name));
      const stays = (names: readonly string[]): boolean => names.every((name) => columns.some((c) => c.name === name));
      const primaryKey = stays(t.primaryKey) ? t.primaryKey : [];
      return { ...t, columns, primaryKey, uniques: t.uniques.filter(stays), foreignKeys: t.foreignKeys.filter((f) => stays(f.columns)) };
    });
}

/** What the model has of a table; nothing if no mapping reads it. */
function readOf(table: DbTable, mappings: Read['mappings'], graph: Graph): [DbTable, Read][] {
  const reading = mappings.filter(({ reading }) => reading.tables.some((t) => t.name === table.name && (t.schema ?? 'public') === table.schema));
  if (reading.length === 0) return [];
  const plain = reading.filter(({ def, reading }) => def.kind === 'concept' && reading.isPlain);
  const concepts = plain.flatMap(({ def }) => graph.concept(def.concept ?? '') ?? []);
  // of several concepts over one table, the one that all others are kinds of
  const concept = concepts.find((c) => concepts.every((other) => other.isA(c)));
  if (concept === undefined) return [[table, { mappings: reading, left: [], known: NO_CONCEPT }]];
  const properties = new Map(
    plain
      .filter(({ def }) => sameName(def.concept ?? '', concept.name))
      .flatMap(({ reading }) =>
        [...table.columns].flatMap((c) => {
          const output = reading.outputs.get(c.name) ?? (reading.hasStar ? c.name : undefined);
          const property = output === undefined ? undefined : concept.properties.find((p) => sameName(p.def.name, output));
          return property === undefined ? [] : [[c.name, property.def] as const];
        }),
      ),
  );
  const relates = (source: readonly string[], target: string): boolean =>
    concept.relationships.some((r) => {
      const to = graph.concept(target);
      const isSame = r.source.length === source.length && r.source.every((p) => source.some((s) => sameName(s, p.name)));
      return r.kind === 'fk' && isSame && to !== undefined && (r.target.isA(to) || to.isA(r.target));
    });
  const columns = new Set([...properties.keys(), ...plain.flatMap(({ reading }) => [...reading.columns])]);
  const names = [...concept.properties.map((p) => p.def.name), ...concept.multi.map((p) => p.def.name), ...concept.relationships.map((r) => r.name)];
  const own = plain.filter(({ def }) => sameName(def.concept ?? '', concept.name));
  const left = own.length === 1 ? [] : table.columns.filter((c) => !columns.has(c.name) && c.type !== 'bytea').map((c) => c.name);
  for (const name of left) columns.add(name);
  return [[table, { mappings: own, left, known: { concept: concept.name, properties, columns, names, relates } }]];
}

const NO_CONCEPT: KnownTable = { concept: null, properties: new Map(), columns: new Set(), names: [], relates: () => false };

/** Adds to a concept and to its mapping. @returns lines that say so */
function add({ concept, properties, items, relationships }: Addition, script: Script, mappings: Read['mappings']): string[] {
  const [mapping] = mappings;
  const lines: string[] = [];
  const names = properties.map((p) => p.name);
  if (mapping !== undefined && properties.length > 0) {
    script.addProperties(
      concept,
      properties.map((p) => `${quoteBack(p.name)} ${p.type}`),
    );
    if (!mapping.reading.hasStar) script.addItems(mapping.def.name, items);
    lines.push(`~ concept ${concept}: ${names.join(', ')}`);
  }
  if (relationships.length > 0) {
    script.addElements(concept, relationships.map(printRelationship));
    lines.push(`~ concept ${concept}: ${relationships.map((r) => r.name).join(', ')}`);
  }
  return lines;
}
