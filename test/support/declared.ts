/** The declarations of a plan for the verifier, read from the texts of the model's mappings and raw views without the planner. */
import type { SqlParser } from '../../src/language/parser.ts';
import { prepareSelect } from '../../src/language/prepare.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { isRaw } from '../../src/ontology/model.ts';
import type { Declared, DeclaredTable } from '../../src/planner/verify/index.ts';

type Tables = Map<string, DeclaredTable & { readonly columns: Set<string>; isWhole: boolean }>;

/** The names in one text. */
interface Named {
  readonly tables: Set<readonly [schema: string, name: string]>;
  readonly aliases: Set<string>;
  readonly columns: Set<string>;
  isWhole: boolean;
}

/** Tables and columns of the whole model; `functions`: those that the ontology allows. */
export function declaredOf(graph: Graph, parser: SqlParser, params: number, functions: ReadonlySet<string> = new Set()): Declared {
  let known = KNOWN.get(graph.model);
  if (!known) {
    const tables: Tables = new Map();
    for (const { sql, columns: given } of [...graph.model.mappings, ...graph.model.views.filter(isRaw)]) {
      const named: Named = { tables: new Set(), aliases: new Set(), columns: new Set(), isWhole: false };
      read(parser.parse(prepareSelect({ text: sql, offset: 0 }).text).stmts, named, new Set());
      for (const { name } of given) named.columns.add(name);
      const isWhole = named.isWhole || [...named.aliases].some((alias) => named.columns.has(alias));
      for (const [schema, name] of named.tables) {
        const key = `${schema}.${name}`;
        const table = tables.get(key) ?? { schema, name, columns: new Set<string>(), isWhole: false };
        tables.set(key, table);
        for (const column of named.columns) table.columns.add(column);
        table.isWhole ||= isWhole;
      }
    }
    known = [...tables.values()];
    KNOWN.set(graph.model, known);
  }
  return { tables: known, functions, params };
}
const KNOWN = new WeakMap<object, readonly DeclaredTable[]>();

/** Every table that is not a common table expression, the last word of every column reference, and stars. */
function read(value: unknown, named: Named, ctes: ReadonlySet<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const v of value) read(v, named, ctes);
    return;
  }
  const node = value as Record<string, Record<string, unknown>>;
  let known = ctes;
  const withClause = (node.SelectStmt?.withClause ?? node.withClause) as { ctes?: { CommonTableExpr: { ctename: string } }[] } | undefined;
  if (withClause) known = new Set([...ctes, ...(withClause.ctes ?? []).map((c) => c.CommonTableExpr.ctename)]);
  if (node.RangeVar) {
    const { schemaname = 'public', relname } = node.RangeVar as { schemaname?: string; relname: string };
    if (node.RangeVar.schemaname !== undefined || !known.has(relname)) {
      named.tables.add([schemaname, relname]);
      named.aliases.add((node.RangeVar.alias as { aliasname: string } | undefined)?.aliasname ?? relname);
    }
  }
  const fields = node.ColumnRef?.fields as { String?: { sval?: string }; A_Star?: object }[] | undefined;
  const last = fields?.at(-1)?.String?.sval;
  if (last !== undefined) named.columns.add(last);
  if (fields?.at(-1)?.A_Star || node.JoinExpr?.isNatural) named.isWhole = true;
  for (const using of (node.JoinExpr?.usingClause ?? []) as { String: { sval: string } }[]) named.columns.add(using.String.sval);
  for (const v of Object.values(value)) read(v, named, known);
}
