/** What a plan over a model declares to the verifier, read from the texts of the model's mappings and raw views without the planner. */
import type { SqlParser } from '../../src/language/parser.ts';
import { prepareSelect } from '../../src/language/prepare.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { isRaw } from '../../src/ontology/model.ts';
import type { Declared } from '../../src/planner/verify/index.ts';

type Tables = Map<string, readonly [string, string]>;

/** Tables and columns of the whole model; `functions`: those that the ontology allows. */
export function declaredOf(graph: Graph, parser: SqlParser, params: number, functions: ReadonlySet<string> = new Set()): Declared {
  let known = KNOWN.get(graph.model);
  if (!known) {
    const tables: Tables = new Map();
    const columns = new Set<string>();
    for (const { sql, columns: given } of [...graph.model.mappings, ...graph.model.views.filter(isRaw)]) {
      read(parser.parse(prepareSelect({ text: sql, offset: 0 }).text).stmts, tables, columns, new Set());
      for (const { name } of given) columns.add(name);
    }
    known = { tables: [...tables.values()], columns };
    KNOWN.set(graph.model, known);
  }
  return { ...known, functions, params };
}
const KNOWN = new WeakMap<object, Pick<Declared, 'tables' | 'columns'>>();

/** Every table that is no common table expression, and the last word of every column reference. */
function read(value: unknown, tables: Tables, columns: Set<string>, ctes: ReadonlySet<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const v of value) read(v, tables, columns, ctes);
    return;
  }
  const node = value as Record<string, Record<string, unknown>>;
  let known = ctes;
  const withClause = (node.SelectStmt?.withClause ?? node.withClause) as { ctes?: { CommonTableExpr: { ctename: string } }[] } | undefined;
  if (withClause) known = new Set([...ctes, ...(withClause.ctes ?? []).map((c) => c.CommonTableExpr.ctename)]);
  if (node.RangeVar) {
    const { schemaname = 'public', relname } = node.RangeVar as { schemaname?: string; relname: string };
    if (node.RangeVar.schemaname !== undefined || !known.has(relname)) tables.set(`${schemaname}.${relname}`, [schemaname, relname]);
  }
  const last = (node.ColumnRef?.fields as { String?: { sval?: string } }[] | undefined)?.at(-1)?.String?.sval;
  if (last !== undefined) columns.add(last);
  for (const using of (node.JoinExpr?.usingClause ?? []) as { String: { sval: string } }[]) columns.add(using.String.sval);
  for (const v of Object.values(value)) read(v, tables, columns, known);
}
