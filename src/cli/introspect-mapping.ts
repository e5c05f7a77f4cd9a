/** What a mapping's SELECT reads of the tables of a database. */
import type { SqlParser } from '../language/parser.ts';

/** The tables and columns of a SELECT. */
export interface Reading {
  readonly tables: readonly { readonly schema: string | null; readonly name: string }[];
  /** True for a SELECT from one table, without set operations, grouping and WITH. */
  readonly isPlain: boolean;
  readonly hasStar: boolean;
  /** The output column of each column that is selected as it is, or in an expression of its own. */
  readonly outputs: ReadonlyMap<string, string>;
  /** All columns that the statement names. */
  readonly columns: ReadonlySet<string>;
}

type Tree = Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Calls `visit` for each node of a kind below a value. */
function each(value: unknown, kind: string, visit: (node: Tree) => void): void {
  if (Array.isArray(value)) for (const v of value) each(v, kind, visit);
  if (!isTree(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === kind && isTree(inner)) visit(inner);
    each(inner, kind, visit);
  }
}

/** Reads a SELECT. One that cannot be parsed reads nothing. */
export function readingOf(sql: string, parser: SqlParser): Reading {
  const root = parsed(sql, parser);
  const tables: { schema: string | null; name: string }[] = [];
  each(root, 'RangeVar', ({ schemaname, relname }) => tables.push({ schema: typeof schemaname === 'string' ? schemaname : null, name: String(relname) }));
  const columns = columnsIn(root);
  const select = isTree(root) && isTree(root.SelectStmt) ? root.SelectStmt : {};
  const from = Array.isArray(select.fromClause) ? select.fromClause : [];
  const isPlain =
    tables.length === 1 &&
    from.length === 1 &&
    isTree(from[0]?.RangeVar) &&
    (select.op === undefined || select.op === 'SETOP_NONE') &&
    ['withClause', 'groupClause', 'distinctClause', 'valuesLists'].every((clause) => select[clause] === undefined);
  const outputs = new Map<string, string>();
  let hasStar = false;
  for (const item of Array.isArray(select.targetList) ? select.targetList : []) {
    const { name, val } = isTree(item?.ResTarget) ? item.ResTarget : {};
    each(val, 'A_Star', () => {
      hasStar = true;
    });
    const [column, ...more] = columnsIn(val);
    if (column !== undefined && more.length === 0) outputs.set(column, typeof name === 'string' ? name : column);
  }
  return { tables, isPlain, hasStar, outputs, columns };
}

function parsed(sql: string, parser: SqlParser): unknown {
  try {
    return parser.parse(sql).stmts[0]?.stmt;
  } catch {
    // quoted with back-quotes, or the like
    return undefined;
  }
}

/** The names of the columns in a part of a statement. */
function columnsIn(part: unknown): Set<string> {
  const found = new Set<string>();
  each(part, 'ColumnRef', ({ fields }) => {
    const last = Array.isArray(fields) ? fields.at(-1) : undefined;
    if (isTree(last?.String) && typeof last.String.sval === 'string') found.add(last.String.sval);
  });
  return found;
}
