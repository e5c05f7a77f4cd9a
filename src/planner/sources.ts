/**
 * The rows of a concept as a SELECT (decisions 5, Rows of a concept): a UNION ALL over mappings with just the columns that are wanted,
 * each cast to its declared type so that PostgreSQL flattens the union (sql-shapes.md).
 */
import { badRequest } from '../errors.ts';
import type { Concept } from '../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import { logicSource } from './logic.ts';
import type { MappedRows } from './mapped.ts';
import { branchCondition, type RowFilter } from './narrow.ts';
import {
  and,
  boolean,
  call,
  cast,
  clone,
  coalesce,
  fieldsOf,
  isNotNull,
  type Node,
  nullValue,
  operator,
  rewrite,
  type SelectStmt,
  select,
  target,
  text,
  unionAll,
} from './tree.ts';
import type { Work } from './work.ts';

/** A column that a source is asked for. */
export type Wanted =
  | { readonly kind: 'property'; readonly def: PropertyDef }
  /** The property's column as the table has it, for joins by index; only where `rawType` gave a type. */
  | { readonly kind: 'raw'; readonly def: PropertyDef; readonly type: string }
  | { readonly kind: 'entity_id' | 'entity_type' | 'entity_label' }
  /** The name of the row's mapping. */
  | { readonly kind: 'mapping' }
  /** Whether the row is an instance of the concept by its mapping alone. */
  | { readonly kind: 'mapped_in'; readonly mappings: ReadonlySet<MappingDef> };

export type WantedColumns = ReadonlyMap<string, Wanted>;

const declaredType = (def: PropertyDef): string => parseType(def.type).sql;

/** The SQL type of what is wanted. */
export function typeOf(wanted: Wanted): string {
  if (wanted.kind === 'property') return declaredType(wanted.def);
  if (wanted.kind === 'raw') return wanted.type;
  return wanted.kind === 'mapped_in' ? 'boolean' : 'text';
}

/**
 * A SELECT of `wanted` (name -> column) over the rows of `concept`. `reader` is the concept through which the rows are
 * read, where that is another one (a logic concept over its source): its own calculated properties apply too.
 * `filter` narrows the rows to those that a WHERE asks for.
 */
export function conceptSource(work: Work, concept: Concept, wanted: WantedColumns, reader: Concept = concept, filter?: RowFilter): SelectStmt {
  const rows = concept.rows;
  if (rows.kind === 'logic') return logicSource(work, concept, rows, wanted, reader, filter);
  const branches: SelectStmt[] = [];
  for (const { mapping, target: mapped } of rows.sources) {
    const branch = new Branch(work, mapping, mapped, reader);
    const narrowed = filter ? branchCondition(branch, filter) : [];
    if (narrowed === false) continue;
    const condition = and([...branch.rows.where(), ...narrowed]);
    branches.push(
      select({
        targetList: [...wanted].map(([name, w]) => target(branch.column(w), name)),
        fromClause: branch.rows.from(),
        ...(condition ? { whereClause: condition } : {}),
      }),
    );
  }
  const [first, ...others] = branches;
  if (!first) return emptySource(wanted);
  return others.reduce(unionAll, first);
}

/** A source without rows. */
const emptySource = (wanted: WantedColumns): SelectStmt =>
  select({ targetList: [...wanted].map(([name, w]) => target(cast(nullValue(), typeOf(w)), name)), whereClause: boolean(false) });

/** One mapping as a part of a concept's rows. */
export class Branch {
  readonly work: Work;
  readonly mapping: MappingDef;
  /** The concept that the mapping maps INTO: T of decisions 5. */
  readonly mapped: Concept;
  readonly reader: Concept;
  readonly rows: MappedRows;

  constructor(work: Work, mapping: MappingDef, mapped: Concept, reader: Concept) {
    this.work = work;
    this.mapping = mapping;
    this.mapped = mapped;
    this.reader = reader;
    this.rows = work.mapping(mapping);
  }

  column(wanted: Wanted): Node {
    switch (wanted.kind) {
      case 'property':
        return this.property(wanted.def);
      case 'raw': {
        const given = this.given(wanted.def);
        return given ? this.rows.column(given.name) : cast(nullValue(), wanted.type);
      }
      case 'entity_id':
        return this.entityId();
      case 'entity_type':
        return cast(text(this.mapped.name), 'text');
      case 'entity_label':
        return this.label();
      case 'mapping':
        return cast(text(this.mapping.name), 'text');
      case 'mapped_in':
        return boolean(wanted.mappings.has(this.mapping));
    }
  }

  /** The value of a property, cast to its declared type; NULL where the mapping does not give it or it does not apply. */
  property(def: PropertyDef): Node {
    const type = declaredType(def);
    if (def.expression !== null) {
      if (!has(this.mapped, def) && !has(this.reader, def)) return cast(nullValue(), type);
      return cast(this.calculated(def, def.expression), type);
    }
    const given = this.given(def);
    return cast(given ? this.rows.column(given.name) : nullValue(), type);
  }

  /** The column of the mapping that gives a property of the mapped concept. */
  given(def: PropertyDef): MappingDef['columns'][number] | undefined {
    if (def.expression !== null || !has(this.mapped, def)) return undefined;
    const wanted = def.name.toLowerCase();
    return this.mapping.columns.find((c) => c.name === def.name) ?? this.mapping.columns.find((c) => c.name.toLowerCase() === wanted);
  }

  private calculated(def: PropertyDef, expression: string): Node {
    const { work } = this;
    if (work.expanding.has(def)) throw badRequest('circular_property', `the calculated property \`${def.name}\` depends on itself`);
    work.expanding.add(def);
    const node = work.plainExpression(def, expression);
    const value = rewrite(node, (n) => {
      if (!('ColumnRef' in n)) return undefined;
      const fields = fieldsOf(n.ColumnRef);
      const name = fields.at(-1) ?? '';
      const property = work.graph.property(name);
      if (fields.length !== 1 || !property)
        throw badRequest('unknown_property', `unknown property \`${fields.join('.')}\` in the calculated property \`${def.name}\``);
      return this.property(property);
    });
    work.expanding.delete(def);
    return value as Node;
  }

  /** The key's values as text, joined: `key` of decisions 5; undefined without a primary key. */
  key(): Node | undefined {
    const key = this.mapped.key;
    if (!key) return undefined;
    const parts = key.properties.map((p) => cast(this.property(p), 'text'));
    if (parts.length === 1) return parts[0];
    return parts
      .map((p) => call('replace', [call('replace', [p, text('%'), text('%25')]), text('|'), text('%7C')]))
      .reduce((a, b) => operator('||', operator('||', a, text('|')), b));
  }

  private entityId(): Node {
    const key = this.key();
    const holder = this.mapped.key?.holder;
    return key && holder ? operator('||', text(`${holder.name}:`), key) : cast(nullValue(), 'text');
  }

  private label(): Node {
    const parts = this.mapped.label.map((p) => cast(this.property(p), 'text'));
    if (parts.length === 0) return this.key() ?? cast(nullValue(), 'text');
    if (parts.length === 1) return parts[0] as Node;
    const any = isNotNull(coalesce(...parts.map(clone)));
    return { CaseExpr: { args: [{ CaseWhen: { expr: any, result: call('concat_ws', [text(' '), ...parts]) } }] } };
  }
}

/** Whether a property is the concept's own or inherited one. */
export function has(concept: Concept, def: PropertyDef): boolean {
  let names = OWN.get(concept);
  if (!names) {
    names = new Set(concept.properties.map((p) => p.def.name));
    OWN.set(concept, names);
  }
  return names.has(def.name);
}
const OWN = new WeakMap<Concept, Set<string>>();

const INTEGERS = new Set(['int2', 'int4', 'int8']);
const RAW_SQL: Readonly<Record<string, string>> = { int2: 'smallint', int4: 'integer', int8: 'bigint' };

/**
 * The SQL type in which a property can be joined without a cast that would keep an index out: where all mappings of the
 * concept give it as one integer type. undefined: join on the declared type.
 */
export function rawType(concept: Concept, def: PropertyDef): string | undefined {
  if (def.expression !== null) return undefined;
  let rows = concept.rows;
  while (rows.kind === 'logic') rows = rows.source.rows;
  let found: string | undefined;
  const wanted = def.name.toLowerCase();
  for (const { mapping, target: mapped } of rows.sources) {
    if (!has(mapped, def)) continue;
    const given = mapping.columns.find((c) => c.name.toLowerCase() === wanted);
    if (!given) continue;
    if (!given.type || !INTEGERS.has(given.type) || (found && found !== given.type)) return undefined;
    found = given.type;
  }
  return found && RAW_SQL[found];
}
