/** The sizes of the values of SQL/JSON. */
import type { JsonAggConstructor, JsonTable } from '@pgsql/types';
import { type Node, type SelectStmt, walk } from '../plan/tree.ts';
import { stepsOfTypes } from './casts.ts';
import { paddingIn, sizeOfCall } from './results.ts';
import { type Measured, rowsOfAggregate, type Scope } from './scope.ts';
import { ofBytes, plus, type Size, SMALL, sum, withNumbers } from './sizes.ts';
import type { Spent } from './spent.ts';
import { collected, stepsOf } from './steps.ts';

/** Measures the parts of an expression. */
interface Parts {
  all(value: unknown, scope: Scope): Size;
}

/** What the nodes that make a document have in common. */
interface JsonConstructor extends Pick<JsonAggConstructor, 'output' | 'location'> {
  readonly query?: Node;
  readonly constructor: JsonAggConstructor;
}

/** SQL/JSON that makes a document, like json_build_array and json_agg. */
export function sizeOfJsonConstructor(
  parts: Parts,
  spent: Spent,
  queryOf: (stmt: SelectStmt, scope: Scope) => Measured,
  type: string,
  body: JsonConstructor,
  scope: Scope,
): Size {
  const { query, constructor: made } = body;
  const { output, location } = Object.hasOwn(body, 'constructor') && made ? made : body;
  const isQuery = query !== undefined && 'SelectStmt' in query;
  const { columns, rows } = isQuery ? queryOf(query.SelectStmt, scope) : { columns: undefined, rows: 1 };
  const size = columns ? sum([...columns.values()]) : parts.all(body, scope);
  let document = sizeOfCall('json_build_array', [], [size]);
  if (isQuery || type.endsWith('Agg')) document = collected('json_agg', [size], isQuery ? rows : rowsOfAggregate([{ [type]: body } as unknown as Node], scope));
  else spent.steps(stepsOf('json_build_array', [], [size]), 'JSON', location);
  const padding = ofBytes(paddingIn(output));
  spent.text(padding, 'JSON', location);
  // RETURNING may be a text, or a document with other numbers
  return plus(output ? withNumbers(document, false) : document, padding);
}

/** JSON_QUERY, JSON_VALUE and JSON_EXISTS. */
export function sizeOfJsonCall(parts: Parts, spent: Spent, node: Extract<Node, { JsonFuncExpr: unknown }>, scope: Scope): Size {
  const { JsonFuncExpr: call } = node;
  const inner = parts.all(call, scope);
  spent.steps(stepsOf('@?', [node, call.pathspec ?? node], [inner, SMALL]), 'JSON_QUERY', call.location);
  spent.steps(stepsOfTypes(call.output, inner), 'JSON_QUERY', call.location);
  return plus(withNumbers(inner, false), ofBytes(paddingIn(node)));
}

/** JSON_TABLE evaluates several paths over one document: one for its rows and one for each column. */
export function sizeOfJsonTable(parts: Parts, spent: Spent, table: JsonTable, scope: Scope): Size {
  const document = parts.all(table.context_item, scope);
  spent.steps(stepsOfTypes(table.columns, document), 'JSON_TABLE', table.location);
  walk(table, (n) => {
    if ('JsonTablePathSpec' in n) spent.steps(stepsOf('@?', [n, n.JsonTablePathSpec.string ?? n], [document, SMALL]), 'JSON_TABLE', table.location);
    return true;
  });
  return sum([document, parts.all([table.passing, table.columns], scope), ofBytes(paddingIn({ JsonTable: table }))]);
}
