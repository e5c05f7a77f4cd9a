/**
 * Which column or relation a name means, as PostgreSQL finds it (transformColumnRef of parse_expr.c, parse_relation.c). Only what is certainly
 * a column passes: where `a` has no column `f`, PostgreSQL reads `a.f` as the call f(a).
 */
import type { DeclaredTable } from './declared.ts';
import { ROW_FUNCTIONS } from './fields.ts';
import type { Level, Relation } from './level.ts';
import { refuse } from './refusal.ts';
import { Row } from './row.ts';

/**
 * A name alone: a column of the innermost level that has it, else the whole row of a relation. Gives the fields of its value where it is
 * certainly a row. A table in scope may have a column of any name, which PostgreSQL takes before a column further out, a name of the select
 * list inside of an expression, and a whole row: so the name must be one that the table declares.
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

/** Whether a name that passes as a column is also that of a table which is declared as a whole: without such a column it means the row. */
export const mayBeRow = (level: Level, name: string): boolean => relation(level, name)?.whole?.tables.some((table) => table.isWhole) ?? false;

/** A column of USING: each side of the join has it. */
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

/** The field `name` of a row: one that is known, or a column of a table that the texts of the model name. Gives the field's own fields. */
export function fieldOf(row: Row, name: string): Row | undefined {
  if (row.has(name)) return row.field(name);
  if (row.declares(name) && !ROW_FUNCTIONS.has(name)) return undefined;
  return refuse('field', name);
}

/** `a.f`: a column of a relation. */
export function qualified(level: Level, path: readonly string[]): Row | undefined {
  return fieldOf(relationOf(level, path.slice(0, -1)).columns, path.at(-1) as string);
}

/** A table as a relation. */
export function table(declared: DeclaredTable, alias: string | undefined, names: readonly string[]): Relation {
  const { schema, name } = declared;
  const columns = new Row([], [], 0, [declared]).renamed(names);
  return { alias: alias ?? name, ...(alias === undefined ? { schema } : {}), columns, whole: columns };
}
