/** Derives the parts of a starting model from the tables of a database. The result is meant to be edited. Pure. */
import type { ConceptDef, MappingDef, PropertyDef, RelationshipDef, TypeName } from '../ontology/model.ts';
import { fold, sameName, THING } from '../ontology/names.ts';
import { postgresTypeName } from '../ontology/types.ts';
import { identifier } from '../planner/print/lexical.ts';
import { allowed, compound, firstFree, labelColumns, NameSet, roleOf, sharedPrefix, shortened, singular } from './introspect-names.ts';
import type { DbColumn, DbForeignKey, DbTable } from './introspect-read.ts';

/** What a model has of a table already. */
export interface KnownTable {
  /** The concept of the table's rows; null if the table is read in another way, so that nothing is added for it. */
  readonly concept: string | null;
  /** The property of each column that has one. */
  readonly properties: ReadonlyMap<string, PropertyDef>;
  /** Columns that the mapping reads, for a property or otherwise. */
  readonly columns: ReadonlySet<string>;
  /** Names of the concept's properties and relationships. */
  readonly names: readonly string[];
  /** True if the concept has a relationship over these properties to another concept. */
  readonly relates: (source: readonly string[], target: string) => boolean;
}

/** A model to which the tables of a database are added. */
export interface KnownModel {
  readonly concepts: readonly string[];
  readonly mappings: readonly string[];
  readonly properties: readonly PropertyDef[];
  readonly tables: ReadonlyMap<DbTable, KnownTable>;
}

/** What is added to a concept of a known table. */
export interface Addition {
  readonly table: DbTable;
  readonly concept: string;
  readonly properties: readonly PropertyDef[];
  /** Items of a SELECT for the properties. */
  readonly items: readonly string[];
  readonly relationships: readonly RelationshipDef[];
}

export interface StartingModel {
  readonly properties: readonly PropertyDef[];
  readonly concepts: readonly ConceptDef[];
  readonly mappings: readonly MappingDef[];
  /** What was omitted or guessed, as sentences. */
  readonly notes: readonly string[];
  readonly additions: readonly Addition[];
}

/** A link table has at most this many columns in addition to its two foreign keys. One with more becomes a concept. */
const MAX_LINK_COLUMNS = 2;

/** A lookup table has at most this many columns in addition to its key: a text, and one such as a position. */
const MAX_LOOKUP_COLUMNS = 2;

function typeOf({ type, precision, scale }: DbColumn): TypeName | undefined {
  if (type !== 'numeric') return postgresTypeName(type);
  return precision === null || scale === null || scale < 0 || scale > precision ? 'decimal' : `decimal(${precision},${scale})`;
}

/** A concept under construction, with its table. */
interface Draft {
  readonly table: DbTable;
  readonly concept: string;
  /** The property of each column that became one. */
  readonly properties: Map<string, PropertyDef>;
  readonly key: readonly string[];
  readonly relationships: RelationshipDef[];
  /** Names of its properties, and of its relationships in both directions. */
  readonly used: NameSet;
  readonly known?: KnownTable;
}

const NOTHING_KNOWN: KnownModel = { concepts: [], mappings: [], properties: [], tables: new Map() };

/**
 * Derives a concept from each table, relationships from foreign keys, and many-to-many relationships from link tables.
 *
 * @param tables all tables to include. Foreign keys to other tables are omitted
 * @param known a model: the result has only what it does not have
 */
export function startingModel(tables: readonly DbTable[], datasource: string, known: KnownModel = NOTHING_KNOWN): StartingModel {
  return new Start(tables, datasource, known).make();
}

class Start {
  readonly #datasource: string;
  readonly #drafts = new Map<DbTable, Draft>();
  readonly #links: DbTable[];
  readonly #tables: readonly DbTable[];
  readonly #concepts = new NameSet();
  readonly #mappings = new NameSet();
  readonly #properties = new Map<string, { def: PropertyDef; comments: { text: string; isKey: boolean }[] }>();
  readonly #linkMappings: MappingDef[] = [];
  readonly #notes: string[] = [];
  readonly #prefix: string;
  readonly #known: KnownModel;

  constructor(tables: readonly DbTable[], datasource: string, known: KnownModel) {
    this.#tables = tables;
    this.#datasource = datasource;
    this.#known = known;
    this.#prefix = sharedPrefix(tables.map((t) => t.name));
    this.#links = tables.filter((t) => !known.tables.has(t) && this.#linkOf(t) !== undefined);
    for (const name of [THING, ...known.concepts]) this.#concepts.add(name);
    for (const name of known.mappings) this.#mappings.add(name);
    for (const def of known.properties) this.#properties.set(fold(def.name), { def, comments: [] });
  }

  make(): StartingModel {
    for (const [table, known] of this.#known.tables) this.#adopt(table, known);
    const own = this.#tables.filter((t) => !this.#known.tables.has(t) && !this.#links.includes(t));
    for (const table of own) this.#draft(table);
    for (const draft of this.#drafts.values()) this.#foreignKeys(draft);
    for (const table of this.#links) this.#link(table);
    const drafts = [...this.#drafts.values()].filter((d) => d.properties.size > 0 && d.known === undefined);
    const named = new Set(this.#known.properties.map((p) => fold(p.name)));
    const lookups = new Set(drafts.filter((d) => isLookup(d.table, this.#tables)));
    return {
      properties: [...this.#properties.values()]
        .filter(({ def }) => !named.has(fold(def.name)))
        .map(({ def, comments }) => ({ ...def, description: descriptionOf(comments) })),
      concepts: drafts.map((d) => conceptOf(d, lookups.has(d))),
      mappings: [...drafts.map((d) => this.#mapping(d)), ...this.#linkMappings],
      notes: [...this.#notes, ...[...lookups].map((d) => `${title(d.table)}: ${d.concept} is a lookup table`)],
      additions: [...this.#drafts.values()].flatMap((d) => this.#addition(d)),
    };
  }

  /** A draft for a table that the model has: its new columns become properties. */
  #adopt(table: DbTable, known: KnownTable): void {
    if (known.concept === null) return;
    const draft: Draft = {
      table,
      concept: known.concept,
      properties: new Map(known.properties),
      key: keyOf(table),
      relationships: [],
      used: new NameSet(),
      known,
    };
    for (const name of known.names) draft.used.add(name);
    this.#drafts.set(table, draft);
    for (const column of table.columns) if (!known.columns.has(column.name)) this.#property(draft, column);
  }

  /** What is new of a table that the model has. */
  #addition({ table, concept, properties, relationships, known }: Draft): Addition[] {
    if (known === undefined) return [];
    const columns = table.columns.flatMap((c) => {
      const property = known.columns.has(c.name) ? undefined : properties.get(c.name);
      return property ? [{ property, item: item(c, property.name) }] : [];
    });
    if (columns.length === 0 && relationships.length === 0) return [];
    return [{ table, concept, properties: columns.map((c) => c.property), items: columns.map((c) => c.item), relationships }];
  }

  #find(schema: string, name: string): DbTable | undefined {
    return this.#tables.find((t) => t.schema === schema && t.name === name);
  }

  /**
   * The two foreign keys of a link table, otherwise undefined. Together they are a key of it, or a number of its own is and it has nothing else; they refer to
   * tables of the model, and no table refers to it.
   */
  #linkOf(table: DbTable): readonly [DbForeignKey, DbForeignKey] | undefined {
    const [back, forward, ...more] = table.foreignKeys;
    if (!back || !forward || more.length > 0 || table.isView) return undefined;
    const columns = [...back.columns, ...forward.columns];
    const others = table.columns.filter((c) => !columns.includes(c.name));
    const isKey = (key: readonly string[]) => key.length === columns.length && key.every((c) => columns.includes(c));
    const isReferred = this.#tables.some((t) => t.foreignKeys.some((f) => f.targetSchema === table.schema && f.target === table.name));
    const reach = [back, forward].every((f) => {
      const end = this.#find(f.targetSchema, f.target);
      return end !== undefined && this.#known.tables.get(end)?.concept !== null;
    });
    if (new Set(columns).size < columns.length || others.length > MAX_LINK_COLUMNS || isReferred || !reach) return undefined;
    const [only] = table.primaryKey;
    const isNumbered = table.primaryKey.length === 1 && others.length === 1 && others[0]?.name === only && notNull(table, columns);
    return isNumbered || [table.primaryKey, ...table.uniques.filter((key) => notNull(table, key))].some(isKey) ? [back, forward] : undefined;
  }

  #conceptName(table: DbTable): string {
    const bare = allowed(singular(table.name.slice(this.#prefix.length)));
    return bare === bare.toUpperCase() ? bare.toLowerCase() : bare;
  }

  #draft(table: DbTable): void {
    const name = this.#conceptName(table);
    const concept = this.#concepts.add(firstFree([name, allowed(table.name), `${allowed(table.schema)}_${name}`], (n) => !this.#concepts.has(n)));
    const draft: Draft = { table, concept, properties: new Map(), key: keyOf(table), relationships: [], used: new NameSet() };
    this.#drafts.set(table, draft);
    for (const column of table.columns) this.#property(draft, column);
    if (draft.properties.size === 0) this.#notes.push(`${title(table)}: no concept, because no column can be a property`);
    else if (draft.key.length === 0) this.#notes.push(`${title(table)}: no key found; give ${concept} a PRIMARY KEY if some columns identify its rows`);
  }

  /** Properties are global, with one type each. If a later column has the same name and another type, its property is prefixed by the concept. */
  #property(draft: Draft, column: DbColumn): void {
    if (column.type === 'bytea') {
      if (draft.known !== undefined) return;
      this.#notes.push(`${title(draft.table)}: the column ${column.name} is omitted, because its type is bytea`);
      return;
    }
    const type = typeOf(column) ?? (column.type.startsWith('_') ? 'json' : 'string');
    const name = firstFree(
      [shortened(allowed(column.name)), shortened(allowed(compound(draft.concept, column.name))), shortened(allowed(`${column.name}_value`))],
      (n) => {
        if (draft.used.has(n) || ['entity_id', 'entity_type', 'entity_label'].includes(fold(n))) return false;
        if (n !== column.name && draft.table.columns.some((c) => c !== column && sameName(c.name, n))) return false;
        const known = this.#properties.get(fold(n));
        return known === undefined || known.def.type === type;
      },
    );
    let entry = this.#properties.get(fold(name));
    if (entry === undefined) {
      entry = { def: { name, type, multi: false, description: null, tags: {}, expression: null }, comments: [] };
      this.#properties.set(fold(name), entry);
    }
    const text = [column.comment, valuesOf(column)].filter((t) => t !== null && t !== '').join('. ');
    if (text !== '') entry.comments.push({ text, isKey: draft.key.length === 1 && draft.key[0] === column.name });
    draft.used.add(name);
    draft.properties.set(column.name, entry.def);
  }

  #foreignKeys(draft: Draft): void {
    for (const key of draft.table.foreignKeys) {
      const table = this.#find(key.targetSchema, key.target);
      const target = table && this.#drafts.get(table);
      const source = key.columns.map((c) => draft.properties.get(c)?.name);
      const references = key.references.map((c) => target?.properties.get(c)?.name);
      if (!target || ![...source, ...references].every((p) => p !== undefined)) {
        if (draft.known !== undefined) continue;
        this.#notes.push(
          `${title(draft.table)}: the foreign key ${key.name} to ${key.targetSchema}.${key.target} is omitted, because that table is not a concept here`,
        );
        continue;
      }
      // each row refers to itself
      if (target === draft && key.columns.every((c, i) => c === key.references[i])) continue;
      if (draft.known?.relates(source as string[], target.concept)) continue;
      const [column = ''] = key.columns;
      const role = key.columns.length === 1 ? roleOf(column) : undefined;
      const named = role === undefined || sameName(role, target.concept) || sameName(role, target.table.name) ? target.concept : allowed(role);
      const free = (n: string) => !draft.used.has(n);
      const name = draft.used.add(firstFree([named, compound(target.concept, column), `has_${target.concept}`].map(allowed), free));
      const plain = name === `has_${target.concept}` || (named === target.concept && name === named);
      const inverses = plain ? [`has_${draft.concept}`] : [`${name}_of`, `${name}_of_${draft.concept}`];
      if (draft === target && plain) inverses.unshift(`${name}_of`);
      const inverse = target.used.add(firstFree([...inverses, `has_${draft.concept}_${name}`].map(allowed), (n) => !target.used.has(n)));
      draft.relationships.push({
        name,
        kind: 'fk',
        target: target.concept,
        source: source as string[],
        references: references as string[],
        inverse,
        transitive: draft === target ? 'default' : null,
        description: key.comment,
      });
    }
  }

  #link(table: DbTable): void {
    const [back, forward] = this.#linkOf(table) as readonly [DbForeignKey, DbForeignKey];
    const end = (key: DbForeignKey): Draft => this.#drafts.get(this.#find(key.targetSchema, key.target) as DbTable) as Draft;
    const [owner, target] = [end(back), end(forward)];
    const own = this.#conceptName(table);
    const names = owner === target ? [own, compound(own, forward.columns[0] ?? '')] : [`has_${target.concept}`, compound(own, target.concept)];
    const name = owner.used.add(firstFree(names.map(allowed), (n) => !owner.used.has(n)));
    const inverses = owner === target ? [`${name}_of`] : [`has_${owner.concept}`, compound(own, owner.concept), `${own}_of`];
    const inverse = target.used.add(firstFree(inverses.map(allowed), (n) => !target.used.has(n) && !sameName(n, name)));
    owner.relationships.push({
      name,
      kind: 'mtm',
      target: target.concept,
      source: [],
      references: [],
      inverse,
      transitive: owner === target ? 'default' : null,
      description: table.comment,
    });
    const columns = new Map(table.columns.map((c) => [c.name, allowed(c.name)]));
    const linkEnd = (key: DbForeignKey, relationship: string, to: Draft) => ({
      relationship,
      columns: key.columns.map((c) => columns.get(c) as string),
      concept: to.concept,
      references: key.references.map((c) => (to.properties.get(c) as PropertyDef).name),
    });
    const used = table.columns.filter((c) => c.type !== 'bytea' || [...back.columns, ...forward.columns].includes(c.name));
    this.#linkMappings.push({
      ...this.#emptyMapping(own),
      kind: 'link',
      link: { forward: linkEnd(forward, name, target), back: linkEnd(back, inverse, owner) },
      sql: select(
        table,
        used.map((c) => item(c, columns.get(c.name) as string)),
      ),
    });
  }

  #mapping({ table, concept, properties }: Draft): MappingDef {
    const items = table.columns.flatMap((c) => {
      const property = properties.get(c.name);
      return property ? [item(c, property.name)] : [];
    });
    return { ...this.#emptyMapping(concept), kind: 'concept', concept, sql: select(table, items) };
  }

  #emptyMapping(about: string): MappingDef {
    const name = this.#mappings.add(firstFree([`map_${about}`], (n) => !this.#mappings.has(n)));
    return { name, kind: 'concept', concept: null, property: null, link: null, datasource: this.#datasource, sql: '', columns: [] };
  }
}

/** The maximum number of values that a description lists. */
const MAX_VALUES = 30;

/** The values that an enumeration type or a check constraint allows, as a sentence. */
function valuesOf({ values, check }: DbColumn): string | null {
  // PostgreSQL writes `status IN ('a', 'b')` as `status = ANY (ARRAY['a'::text, 'b'::text])`
  const listed = /^CHECK \(\(+[^=]+ = ANY \(+ARRAY\[(.+)\]\)/s.exec(check ?? '')?.[1];
  const found = values ?? (listed === undefined ? [] : [...listed.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = '']) => value.replaceAll("''", "'")));
  return found.length === 0 || found.length > MAX_VALUES ? null : `Values: ${found.join(', ')}`;
}

/** True for a table of a key and one text that other tables refer to: the names of codes. */
function isLookup(table: DbTable, tables: readonly DbTable[]): boolean {
  const key = keyOf(table);
  const others = table.columns.filter((c) => !key.includes(c.name));
  const isTextOrPosition = (c: DbColumn): boolean => ['string', 'integer', 'smallint', 'boolean'].includes(typeOf(c) ?? '');
  if (key.length !== 1 || table.foreignKeys.length > 0 || others.length === 0 || others.length > MAX_LOOKUP_COLUMNS) return false;
  const isReferred = tables.some((t) => t !== table && t.foreignKeys.some((f) => f.targetSchema === table.schema && f.target === table.name));
  return isReferred && others.every(isTextOrPosition) && others.filter((c) => typeOf(c) === 'string').length === 1;
}

const title = (table: DbTable): string => `${table.schema}.${table.name}`;

const notNull = (table: DbTable, columns: readonly string[]): boolean => columns.every((name) => table.columns.find((c) => c.name === name)?.notNull);

/** The primary key, or else the shortest other key without NULLs. A key must consist of properties. */
function keyOf(table: DbTable): readonly string[] {
  const usable = (key: readonly string[]) => key.length > 0 && key.every((name) => table.columns.some((c) => c.name === name && c.type !== 'bytea'));
  if (usable(table.primaryKey)) return table.primaryKey;
  return table.uniques.find((key) => usable(key) && notNull(table, key)) ?? [];
}

function conceptOf({ table, concept, properties, key, relationships }: Draft, isLookup: boolean): ConceptDef {
  const names = (columns: readonly string[]) => columns.map((c) => (properties.get(c) as PropertyDef).name);
  const foreign = new Set(table.foreignKeys.flatMap((f) => f.columns));
  const texts = table.columns.filter((c) => properties.get(c.name)?.type === 'string' && !foreign.has(c.name)).map((c) => c.name);
  const named = labelColumns(texts, concept);
  // a text that is unique, but not the key, is what people call the row
  const unique = table.uniques.find(([column = '', ...more]) => more.length === 0 && texts.includes(column) && !key.includes(column));
  return {
    name: concept,
    parents: [],
    properties: [...properties.values()].map((p) => p.name),
    multi: [],
    measures: [],
    primaryKey: names(key),
    label: names(named.length > 0 ? named : (unique ?? (isLookup ? texts.filter((c) => !key.includes(c)) : []))),
    relationships,
    description: table.comment,
    tags: isLookup ? { lookup: 'yes' } : {},
    logic: null,
  };
}

/** The comment for columns that share a property: that of the table whose key it is, or else all distinct ones. */
function descriptionOf(comments: readonly { readonly text: string; readonly isKey: boolean }[]): string | null {
  const key = comments.find((c) => c.isKey);
  if (key) return key.text;
  return comments.length === 0 ? null : [...new Set(comments.map((c) => c.text))].join('; ');
}

/** A select item for a column as the property `name`. Types that the language lacks become text, arrays become JSON. */
function item(column: DbColumn, name: string): string {
  const own = identifier(column.name);
  const known = typeOf(column) !== undefined;
  const expression = known ? own : column.type.startsWith('_') ? `to_jsonb(${own})` : `${own}::text`;
  return known && column.name === name ? own : `${expression} AS ${identifier(name)}`;
}

const select = (table: DbTable, items: readonly string[]): string => `SELECT ${items.join(', ')} FROM ${identifier(table.schema)}.${identifier(table.name)}`;
