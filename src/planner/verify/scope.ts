/**
 * Looks up columns and relations by name, as PostgreSQL does (transformColumnRef in parse_expr.c, parse_relation.c). A name must certainly be a column: if `a` has no column
 * `f`, PostgreSQL reads `a.f` as the call f(a).
 */
import type { DeclaredTable } from './declared.ts';
import { ROW_FUNCTIONS } from './fields.ts';
import type { Level, Relation } from './level.ts';
import { refuse } from './refusal.ts';
import { Row } from './row.ts';

/**
 * Checks an unqualified name: a column of the innermost level that has one, else the whole row of a relation. A table in scope may have a column of any name. PostgreSQL
 * prefers it to a column of an outer level, to a name of the select list in an expression, and to a whole row. So the name must be a declared column of the table.
 * @returns the fields of its value, if it is certainly a row
 */
export function bare(level: Level, name: string): Row | undefined {
  let open = false;
  let declared = false;
  for (let at: Level | undefined = level; at; at = at.parent) {
    const found = at.column(name);
    if (found && !open) return found.fields;
    if (found) break;
    open ||= at.isOpen;
    declared ||= at.declares(name);
  }
  if (declared || (level.outputs?.has(name) && (level.isItem || !open))) return undefined;
  const named = relation(level, name);
  if (!open && named) return named.whole;
  named?.whole?.whole();
  return refuse('column', name);
}

/** True if an accepted name is also the name of a table that is declared as a whole. If the table has no such column, the name means the row. */
export const mayBeRow = (level: Level, name: string): boolean => relation(level, name)?.whole?.tables.some((table) => table.isWhole) ?? false;

/** Checks a column of USING. */
export function columnOf(rows: readonly Row[], name: string): void {
  const isKnown = rows.some((row) => row.has(name));
  if (!isKnown && !rows.some((row) => row.declares(name))) refuse('column', name);
}

/** The relation that `alias` or `schema.table` names. */
export function relationOf(level: Level, path: readonly string[]): Relation {
  const [schema, alias] = path.length === 2 ? path : [undefined, path[0]];
  const found = path.length > 2 ? undefined : relation(level, alias as string, schema);
  return found ?? refuse('qualifier', path.join('.'));
}

function relation(level: Level, alias: string, schema?: string): Relation | undefined {
  for (let at: Level | undefined = level; at; at = at.parent) {
    const found = at.relation(alias, schema);
    if (found) return found;
  }
  return undefined;
}

/** Checks a field of a row: a known one, or a declared column of a table. @returns the fields of the field */
export function fieldOf(row: Row, name: string): Row | undefined {
  if (row.has(name)) return row.field(name);
  if (row.declares(name) && !ROW_FUNCTIONS.has(name)) return undefined;
  return refuse('field', name);
}

/** Checks a qualified column. @returns the fields of its value, if it is certainly a row */
export function qualified(level: Level, path: readonly string[]): Row | undefined {
  return fieldOf(relationOf(level, path.slice(0, -1)).columns, path.at(-1) as string);
}

/** A table as a relation. */
export function table(declared: DeclaredTable, alias: string | undefined, names: readonly string[]): Relation {
  const { schema, name } = declared;
  const columns = new Row([], [], 0, [declared]).renamed(names);
  return { alias: alias ?? name, ...(alias === undefined ? { schema } : {}), columns, whole: columns };
}
