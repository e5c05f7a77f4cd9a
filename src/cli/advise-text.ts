/** The proposal of `kg advise` as an SQL script: statements, and comments with the reasons. */
import { identifier } from '../planner/print/lexical.ts';
import { isLocal, type Layout, type LayoutTable, type Placing, type TableJoin } from './advise-layout.ts';

const counted = (n: number, what: string): string => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const columns = (names: readonly string[]): string => names.map(identifier).join(', ');

/** The name of a table in SQL. */
function sqlName(key: string): string {
  const dot = key.indexOf('.');
  return `${identifier(key.slice(0, dot))}.${identifier(key.slice(dot + 1))}`;
}

/** The lines of a proposal. A comment is before the statements that it explains. */
export function layoutLines(tables: readonly LayoutTable[], joins: readonly TableJoin[], layout: Layout): string[] {
  const { placings, without } = layout;
  const distributed = placings.filter((p) => p.kind === 'distributed');
  const references = placings.filter((p) => p.kind === 'reference');
  const groups = new Set(distributed.map((p) => p.group));
  const table = (key: string): LayoutTable => tables.find((t) => t.key === key) as LayoutTable;
  // a group starts with the table that the others name
  const ordered = [...groups].flatMap((g) => distributed.filter((p) => p.group === g).sort((a, b) => Number(b.key === g) - Number(a.key === g)));
  return [
    `-- ${counted(distributed.length, 'distributed table')} in ${counted(groups.size, 'group')}, ${counted(references.length, 'reference table')}`,
    ...enough(tables, layout),
    ...distributed.flatMap((p) => obstacles(table(p.key), p, placings)),
    ...references.flatMap((p) => obstacles(table(p.key), p, placings)),
    ...references.flatMap((p) => [
      `-- ${p.key}: ${counted(table(p.key).rows, 'row')}, so each worker gets a copy and joins it without a request`,
      ...moves(table(p.key), p, tables),
    ]),
    ...ordered.flatMap((p) => [`-- ${p.key}: ${counted(table(p.key).rows, 'row')}, ${reason(p)}`, ...moves(table(p.key), p, tables)]),
    ...without.map((key) => `-- ${key}: ${counted(table(key).rows, 'row')}, but no key and no relationship says by which column: it stays as it is`),
    ...notes(joins, placings),
  ];
}

/** A remark if no table is large. */
function enough(tables: readonly LayoutTable[], { isSmall }: Layout): string[] {
  const largest = Math.max(0, ...tables.map((t) => t.rows));
  return isSmall ? [`-- the largest table has ${counted(largest, 'row')}: one server is enough, unless many more rows or queries come`] : [];
}

function reason({ join, key, column, group }: Placing): string {
  if (!join) return `distributed by ${column}: no relationship leads to another large table by a single column that is still free`;
  const other = join.from === key ? join.to : join.from;
  return `distributed by ${column}: ${join.by} joins it with ${other}${group === key ? '' : `, in the group of ${group}`}, on the same worker`;
}

/** Constraints that Citus does not accept with the layout. */
function obstacles(table: LayoutTable, placing: Placing, placings: readonly Placing[]): string[] {
  if (table.now && table.now.kind === placing.kind && table.now.column === placing.column) return [];
  const { key, uniques, foreignKeys } = table;
  const lines = foreignKeys.flatMap(({ name, target, columns: own, references }) => {
    const to = placings.find((p) => p.key === target);
    const pairs = own.map((c, i) => [c, references[i] as string] as const);
    const isAccepted =
      to?.kind === 'reference' || (placing.kind === 'distributed' && to && isLocal({ from: key, to: target, pairs, by: '', isWalk: false }, [placing, to]));
    return isAccepted
      ? []
      : [`-- ${key}: Citus has no foreign key to ${target} in this layout`, `ALTER TABLE ${sqlName(key)} DROP CONSTRAINT ${identifier(name)};`];
  });
  const { column } = placing;
  if (column === null) return lines;
  const refused = uniques.filter((u) => !u.includes(column));
  return [
    ...lines,
    ...refused.map((u) => `-- ${key}: drop the unique key (${columns(u)}) or add ${column} to it first, because Citus checks uniqueness on one worker`),
  ];
}

/** The statements that make a table as proposed; none if it is. */
function moves({ now, key }: LayoutTable, { kind, column, group }: Placing, tables: readonly LayoutTable[]): string[] {
  const name = literal(sqlName(key));
  const together = group === key ? '' : `, colocate_with => ${literal(sqlName(group))}`;
  if (kind === 'reference') {
    if (now?.kind === 'reference') return ['-- it is a reference table now'];
    return [...(now ? [`SELECT undistribute_table(${name});`] : []), `SELECT create_reference_table(${name});`];
  }
  if (now?.kind === 'distributed') {
    const first = tables.find((t) => t.key === group)?.now;
    if (now.column === column && (group === key || first?.group === now.group)) return ['-- it is distributed so now'];
    return [`SELECT alter_distributed_table(${name}, distribution_column => ${literal(column ?? '')}${together});`];
  }
  return [...(now ? [`SELECT undistribute_table(${name});`] : []), `SELECT create_distributed_table(${name}, ${literal(column ?? '')}${together});`];
}

/** What remains slow in the layout. */
function notes(joins: readonly TableJoin[], placings: readonly Placing[]): string[] {
  const isDistributed = (key: string): boolean => placings.some((p) => p.key === key && p.kind === 'distributed');
  const far = joins.filter((j) => isDistributed(j.from) && isDistributed(j.to) && !isLocal(j, placings));
  const walks = joins.filter((j) => j.isWalk && (isDistributed(j.from) || isDistributed(j.to)));
  const listed = (found: readonly TableJoin[]): string => [...new Set(found.map((j) => j.by))].join(', ');
  return [
    ...(far.length === 0 ? [] : [`-- Citus moves rows between workers for ${listed(far)}`]),
    ...(walks.length === 0
      ? []
      : [`-- walks by ${listed(walks)} read distributed tables, once for each step: compare the start or the end with constants in WHERE`]),
  ];
}
