/** The columns of a function in FROM. */
import type { FuncCall, Node, RangeFunction } from '@pgsql/types';
import type { OutColumn } from '../bind/relations.ts';
import { namesOf } from '../plan/tree.ts';
import { columnName } from './names.ts';

/** Functions that name their result columns. Every other allowed function returns one column. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  json_each: ['key', 'value'],
  jsonb_each: ['key', 'value'],
  json_each_text: ['key', 'value'],
  jsonb_each_text: ['key', 'value'],
  json_array_elements: ['value'],
  jsonb_array_elements: ['value'],
  json_array_elements_text: ['value'],
  jsonb_array_elements_text: ['value'],
  ts_parse: ['tokid', 'token'],
};
/** Functions whose only column keeps its name if the relation has an alias. */
const KEEP_NAME = new Set(['json_array_elements', 'jsonb_array_elements', 'json_array_elements_text', 'jsonb_array_elements_text']);

/** Functions that return the columns of the type of an argument. */
const OF_ARGUMENT = /^jsonb?_populate_record(set|_valid)?$/;

/** The alias and the columns of a function in FROM. */
export interface FunctionColumns {
  readonly alias: string;
  /** The columns before the alias's column list renames them. */
  readonly columns: readonly OutColumn[];
  /** True if the whole row is the only column. */
  readonly scalar: boolean;
  /** False if the function may return other columns: a function of the datasource, or one that returns the columns of an argument. */
  readonly isKnown: boolean;
}

/** The alias and the columns of an item of FROM that calls functions. */
export function functionColumns(range: RangeFunction): FunctionColumns {
  const columns: string[] = [];
  let isKnown = true;
  const calls = range.functions ?? [];
  for (const f of calls) {
    const [call, definitions] = 'List' in f ? (f.List.items ?? []) : [];
    const defined = definitions && 'List' in definitions ? definitions.List.items : calls.length === 1 ? range.coldeflist : undefined;
    if (defined?.length) columns.push(...defined.map((d) => ('ColumnDef' in d ? (d.ColumnDef.colname ?? '') : '')));
    else if (call) {
      isKnown &&= hasKnownColumns(call);
      columns.push(...columnsOf(call, calls.length === 1 ? range.alias?.aliasname : undefined));
    }
  }
  if (range.ordinality) columns.push('ordinality');
  const first = calls[0] && 'List' in calls[0] ? calls[0].List.items?.[0] : undefined;
  return {
    alias: range.alias?.aliasname ?? (first ? columnName(first) : 'function'),
    columns: columns.map((name) => ({ name, key: name })),
    scalar: columns.length === 1 && !range.coldeflist?.length,
    isKnown,
  };
}

function hasKnownColumns(call: Node): boolean {
  const path = 'FuncCall' in call ? namesOf(call.FuncCall.funcname) : [];
  return (path.length < 2 || path[0] === 'pg_catalog') && !OF_ARGUMENT.test(path.at(-1) ?? '');
}

function columnsOf(call: Node, alias: string | undefined): readonly string[] {
  const name = columnName(call);
  const args = 'FuncCall' in call ? ((call.FuncCall as FuncCall).args ?? []).length : 0;
  if (name === 'unnest' && args > 1) return Array.from({ length: args }, () => 'unnest');
  const known = Object.hasOwn(COLUMNS, name) ? COLUMNS[name] : undefined;
  if (!known) return [alias ?? name];
  return alias && known.length === 1 && !KEEP_NAME.has(name) ? [alias] : known;
}
