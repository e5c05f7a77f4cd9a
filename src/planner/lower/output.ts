/** The outermost SELECT: each row of a query as one JSON object (docs/design/rows-and-json.md#rows). */
import type { WindowDef } from '@pgsql/types';
import { badRequest } from '../../errors.ts';
import { isLikeOurs } from '../../language/prepare.ts';
import { utf8Length } from '../../language/split.ts';
import { isMulti, levelOf, nestedOrder, type Shape } from '../../ontology/shape.ts';
import { shapeOf } from '../bind/meaning.ts';
import type { OutColumn } from '../bind/relations.ts';
import { and, call, cast, coalesce, column, integer, isNull, type Node, operator, or, type SelectStmt, select, subselect, target, text } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import type { Parsed } from '../read/texts.ts';
import { type Sortable, sortable } from './row-order.ts';

const MAX_NAME_BYTES = 63;

/** Options of the outermost SELECT. */
export interface OutputOptions {
  /** The maximum number of rows, or of root objects if rows are nested. */
  readonly limit?: number;
  /** The number of rows or root objects to skip. */
  readonly offset?: number;
  /** True to nest rows if their columns allow it. */
  readonly nested?: boolean;
}

interface Output {
  readonly query: SelectStmt;
  readonly keys: string[];
  readonly shape: Shape;
  readonly nested: boolean;
}

/**
 * Wraps a query so that it yields one json column.
 * @throws SvcError 400 `duplicate_column`
 */
export function jsonRows(state: PlanState, parsed: Parsed, columns: readonly OutColumn[], options: OutputOptions): Output {
  const keys = rowKeys(columns, parsed);
  const shape = shapeOf(columns, keys);
  if (options.nested && shape.nests) return { keys, shape, nested: true, query: nestedRows(state, sortable(state, parsed.stmt, columns), shape, options) };
  const alias = state.alias();
  // PostgreSQL truncates names to 63 bytes, and row_to_json uses the names as keys.
  // The planner makes names for other columns, and for the row.
  const short = keys.every((k) => k !== '' && !isLikeOurs(k) && utf8Length(k) <= MAX_NAME_BYTES);
  const names = short ? keys : keys.map((_, i) => `c${i}`);
  const { stmt, added, sortOf } = sortable(state, parsed.stmt, columns);
  const row = short
    ? objectOf(state, alias, names, added.length === 0 ? undefined : names)
    : objectText(
        keys,
        names.map((name) => column(alias, name)),
      );
  const { limit, offset } = options;
  return {
    keys,
    shape,
    nested: false,
    query: select({
      targetList: [target(row, 'row')],
      fromClause: [subselect(stmt, alias, { columns: [...names, ...added] })],
      ...sortedBy(sortOf(alias, names)),
      ...(offset === undefined ? {} : { limitOffset: integer(String(offset)), limitOption: 'LIMIT_OPTION_COUNT' as const }),
      ...(limit === undefined ? {} : { limitCount: integer(String(limit)), limitOption: 'LIMIT_OPTION_COUNT' as const }),
    }),
  };
}

/** Rows for nesting: the columns of each level next to each other, under short names. With a limit or an offset, only the rows of the selected roots. */
function nestedRows(state: PlanState, { stmt, added, sortOf }: Sortable, shape: Shape, { limit, offset = 0 }: OutputOptions): SelectStmt {
  const order = nestedOrder(shape);
  const names = order.map((_, i) => `c${i}`);
  const own = state.alias();
  const isOrdered = order.every((from, i) => from === i);
  const ownNames = isOrdered ? names : shape.columns.map((_, i) => `q${i}`);
  const query = subselect(stmt, own, { columns: [...ownNames, ...added] });
  const sorts = sortOf(own, ownNames);
  const sources = order.map((from) => ownNames[from] as string);
  const columns = isOrdered && added.length === 0 ? undefined : sources;
  if (limit === undefined && offset === 0)
    return select({ targetList: [target(objectOf(state, own, names, columns), 'row')], fromClause: [query], ...sortedBy(sorts) });
  const wanted = sources.map((source, i) => target(column(own, source), names[i] as string));

  // Roots are numbered in the order of their first rows. As in nesting, two rows belong to the same root if the texts of its values are equal and its id is not
  // NULL.
  const isRoot = (i: number): boolean => levelOf(shape.columns[order[i] as number] as Shape['columns'][number]).length === 0;
  const root = names.filter((_, i) => isRoot(i) && !isMulti(shape.columns[order[i] as number] as Shape['columns'][number]));
  const ids = names.filter((_, i) => {
    const c = shape.columns[order[i] as number] as Shape['columns'][number];
    return c.ofRoot && c.kind === 'id' && c.hops.length === 0;
  });
  const [numbered, first, ranked] = [state.alias(), state.alias(), state.alias()];
  const kept = (from: string): Node[] => [...names, 'n'].map((name) => target(column(from, name), name));
  const withoutId: Node = { CaseExpr: { args: [{ CaseWhen: { expr: or(ids.map((id) => isNull(column(numbered, id)))), result: column(numbered, 'n') } }] } };
  const counted = select({
    targetList: [...wanted, target(over(call('row_number', []), sorts.length > 0 ? { orderClause: sorts } : {}), 'n')],
    fromClause: [query],
  });
  const firsts = select({
    targetList: [
      ...kept(numbered),
      target(
        over(call('min', [column(numbered, 'n')]), {
          partitionClause: [...root.map((name) => cast(call('to_json', [column(numbered, name)]), 'text')), withoutId],
        }),
        'f',
      ),
    ],
    fromClause: [subselect(counted, numbered)],
  });
  const ranks = select({
    targetList: [...kept(first), target(over(call('dense_rank', []), { orderClause: [sortBy(column(first, 'f'))] }), 'r')],
    fromClause: [subselect(firsts, first)],
  });
  const rank = column(ranked, 'r');
  const window = [
    operator('>', rank, integer(String(offset))),
    ...(limit === undefined ? [] : [operator('<=', rank, integer(String(BigInt(offset) + BigInt(limit))))]),
  ];
  return select({
    targetList: [target(objectOf(state, ranked, names, names), 'row')],
    fromClause: [subselect(ranks, ranked)],
    whereClause: and(window) as Node,
    ...sortedBy([sortBy(column(ranked, 'n'))]),
  });
}

const sortedBy = (sorts: Node[]): Pick<SelectStmt, 'sortClause'> => (sorts.length > 0 ? { sortClause: sorts } : {});

const sortBy = (node: Node): Node => ({ SortBy: { node, sortby_dir: 'SORTBY_DEFAULT', sortby_nulls: 'SORTBY_NULLS_DEFAULT' } });

/** frameOptions of a window without a frame clause: RANGE UNBOUNDED PRECEDING. */
const FRAME = 1058;

function over(node: Node, window: WindowDef): Node {
  const found = (node as { FuncCall: object }).FuncCall;
  return { FuncCall: { ...found, over: { ...window, frameOptions: FRAME } } } as Node;
}

/**
 * `row_to_json` of a row with named columns. A whole-row reference to a derived table is used only if the datasource is known to keep the names of its columns: a
 * distributed planner may flatten the table and lose them.
 * @param names the keys
 * @param columns the columns of `alias` with their values, in the same order. undefined: the keys are all columns of `alias`, in order
 */
function objectOf(state: PlanState, alias: string, names: readonly string[], columns?: readonly string[]): Node {
  if (columns === undefined && names.length > 0 && state.keepsNames) return call('row_to_json', [column(alias)]);
  const row = state.alias();
  const named = select({ targetList: names.map((name, i) => target(column(alias, columns?.[i] ?? name), name)) });
  const object = select({ targetList: [target(call('row_to_json', [column(row)]))], fromClause: [subselect(named, row)] });
  return { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: object } } };
}

/** `{"key":value,...}` built from text: for keys that are empty, that PostgreSQL would truncate, or that are like names of the planner, and for values that are no columns. */
export function objectText(keys: readonly string[], values: readonly Node[]): Node {
  const parts = keys.flatMap((key, i) => [
    text(`${i === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    coalesce(cast(call('to_json', [values[i] as Node]), 'text'), text('null')),
  ]);
  return cast(
    operator(
      '||',
      parts.reduce((a, b) => operator('||', a, b)),
      text('}'),
    ),
    'json',
  );
}

/**
 * The keys of a row. A column that comes from a star gets its relation's alias as a prefix if its key is ambiguous.
 * @throws SvcError 400 `duplicate_column` if two written columns have the same key
 */
function rowKeys(columns: readonly OutColumn[], parsed: Parsed): string[] {
  const written = new Set<string>();
  const starred = new Map<string, number>();
  for (const [i, c] of columns.entries()) {
    if (c.star !== undefined) {
      starred.set(c.key, (starred.get(c.key) ?? 0) + 1);
      continue;
    }
    if (written.has(c.key)) {
      throw badRequest('duplicate_column', `two columns have the name \`${c.key}\``, {
        hint: 'Give each column an alias of its own.',
        offset: parsed.offsetOf(columns.length === parsed.locations.length ? parsed.locations[i] : parsed.locations[0]),
      });
    }
    written.add(c.key);
  }
  const keys = columns.map((c) => (c.star !== undefined && ((starred.get(c.key) ?? 0) > 1 || written.has(c.key)) ? `${c.star}.${c.key}` : c.key));
  const seen = new Set<string>();
  for (const k of keys) {
    if (seen.has(k))
      throw badRequest('duplicate_column', `two columns have the name \`${k}\``, {
        hint: 'Give each column an alias of its own.',
        offset: parsed.offsetOf(parsed.locations[0]),
      });
    seen.add(k);
  }
  return keys;
}
