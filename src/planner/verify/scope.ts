/**
 * Which column or relation a name means, as PostgreSQL finds it (transformColumnRef of parse_expr.c, parse_relation.c). Only what is certainly
 * a column passes: where `a.f` is none, PostgreSQL reads it as the call f(a).
 */
import type { Declared } from './declared.ts';
import { ROW_FUNCTIONS, SYSTEM_COLUMNS } from './fields.ts';
import type { Level, Relation } from './level.ts';
import { refuse } from './refusal.ts';
import { type Row, TABLE } from './row.ts';

/**
 * A name alone: a column of the innermost level that has it, else the whole row of a relation. Gives the fields of its value where it is
 * certainly a row.
 */
export function bare(level: Level, name: string, declared: Declared): Row | undefined {
  // a table further in may have a column of the name that is not known here
  let open = false;
  for (let at: Level | undefined = level; at; at = at.parent) {
    const found = at.column(name);
    if (found) return open ? undefined : found.fields;
    open ||= at.isOpen;
  }
  if (level.outputs?.has(name)) return undefined;
  const named = relation(level, name);
  if (named) return open || named.whole?.isOpen ? undefined : named.whole;
  if (open && isDeclared(name, declared)) return undefined;
  return refuse('column', name);
}

/** A column of USING: each side of the join has it. */
export function columnOf(rows: readonly Row[], name: string, declared: Declared): void {
  const isKnown = rows.some((row) => row.has(name));
  if (!isKnown && !(rows.some((row) => row.isOpen) && isDeclared(name, declared))) refuse('column', name);
}

/** Whether a table may have the column, as far as the model says. */
const isDeclared = (name: string, declared: Declared): boolean => declared.columns.has(name) && !SYSTEM_COLUMNS.has(name);

/** The relation that `alias` or `schema.table` names. */
export function relationOf(level: Level, path: readonly string[]): Relation {
  const [schema, alias] = path.length === 2 ? path : [undefined, path[0]];
  const found = path.length > 2 ? undefined : relation(level, alias as string, schema);
  return found ?? refuse('relation', path.join('.'));
}

function relation(level: Level, alias: string, schema?: string): Relation | undefined {
  for (let at: Level | undefined = level; at; at = at.parent) {
    const found = at.relation(alias, schema);
    if (found) return found;
  }
  return undefined;
}

/** The field `name` of a row: one that is known, or a column of a table that the texts of the model name. Gives the field's own fields. */
export function fieldOf(row: Row, name: string, declared: Declared): Row | undefined {
  if (row.has(name)) return row.field(name);
  if (row.isOpen && isDeclared(name, declared) && !ROW_FUNCTIONS.has(name)) return undefined;
  return refuse('field', name);
}

/** `a.f`: a column of a relation. */
export function qualified(level: Level, path: readonly string[], declared: Declared): Row | undefined {
  return fieldOf(relationOf(level, path.slice(0, -1)).columns, path.at(-1) as string, declared);
}

/** A table as a relation. */
export function table(schema: string, name: string, alias: string | undefined, names: readonly string[]): Relation {
  const columns = TABLE.renamed(names);
  return { alias: alias ?? name, ...(alias === undefined ? { schema } : {}), columns, whole: columns };
}
