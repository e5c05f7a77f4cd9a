/** Answers the ontology's questions about the SQL inside modelling statements, from PostgreSQL's own syntax tree. */
import { stepsOfPiece, visited } from '../budget.ts';
import { badRequest } from '../errors.ts';
import { neutralSchema, type Reference, type RelationReference, type SqlReader } from '../ontology/apply/context.ts';
import type { ColumnDef } from '../ontology/model.ts';
import { isObject, type Json, outputColumns } from './columns.ts';
import { tokenize } from './lexer.ts';
import type { SqlParser } from './parser.ts';
import { parsePrepared, prepareSelect } from './prepare.ts';
import type { SqlText } from './statements.ts';

type Kind = 'expression' | 'select';

/** A parsed piece of SQL, with functions that map locations and stand-ins back to the caller's text. */
interface Parsed {
  /** The SelectStmt; for an expression, the single node of its select list. */
  readonly root: Json;
  /** Maps a location to the UTF-16 offset in the caller's whole text. */
  readonly at: (location: unknown) => number;
  /** Maps an identifier to the name as the caller wrote it. */
  readonly name: (identifier: string) => string;
}

const SELECT = 'SELECT ';

/** Data-modifying statements, which PostgreSQL allows in CTEs. */
const WRITES: ReadonlySet<string> = new Set(['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);
/** Clauses of a SELECT that create a table or lock rows. */
const INTO_OR_LOCKING: ReadonlySet<string> = new Set(['intoClause', 'lockingClause']);

/** Creates the reader for one request. @param product the setting PRODUCT_NAME */
export function createSqlReader(parser: SqlParser, product: string): SqlReader {
  // a statement asks about the same piece several times in a row
  let last: { readonly sql: SqlText; readonly kind: Kind; readonly parsed: Parsed } | undefined;
  const piece = (sql: SqlText, kind: Kind): Parsed => {
    if (last?.sql !== sql || last.kind !== kind) last = { sql, kind, parsed: parse(parser, sql, kind) };
    return last.parsed;
  };
  return {
    columnsOf: (sql) => guarded(sql, () => columnsIn(piece(sql, 'select'))),
    referencesOf: (sql, kind) => guarded(sql, () => referencesIn(piece(sql, kind), kind)),
    relationsOf: (sql) => guarded(sql, () => relationsIn(piece(sql, 'select'))),
    textOf: (sql, kind) => guarded(sql, () => neutralText(piece(sql, kind), sql, product)),
  };
}

/** Converts a stack overflow into an error: the walk is recursive, and a tree that the grammar accepts may still be too deep for it. */
function guarded<T>(sql: SqlText, walkTree: () => T): T {
  try {
    return walkTree();
  } catch (e) {
    if (!(e instanceof RangeError)) throw e;
    throw badRequest('too_complex', 'the statement is nested too deeply', { offset: sql.offset, cause: e });
  }
}

/** The columns of a SELECT, named as PostgreSQL names them; null if its text does not determine them. */
function columnsIn({ root, name }: Parsed): ColumnDef[] | null {
  return outputColumns(root)?.map((column) => ({ name: name(column) })) ?? null;
}

/**
 * The columns that an expression refers to, in order of their positions.
 *
 * @throws SvcError 400 `syntax_error`
 */
export const expressionReferences = (parser: SqlParser, expression: SqlText): Reference[] =>
  referencesIn(parse(parser, expression, 'expression'), 'expression');

function referencesIn({ root, at, name }: Parsed, kind: Kind): Reference[] {
  const found: Reference[] = [];
  walk(root, kind === 'select' ? -1 : 0, (type, node, depth) => {
    if (type !== 'ColumnRef') return;
    const fields = fieldsOf(node);
    const last = fields.at(-1);
    if (last == null) return;
    found.push({ name: name(last), qualifier: fields.at(-2) == null ? null : name(fields.at(-2) ?? ''), nested: depth > 0, offset: at(node.location) });
  });
  return found.sort((a, b) => a.offset - b.offset);
}

/** The relations that a SELECT reads, without its own CTEs. */
function relationsIn({ root, at, name }: Parsed): RelationReference[] {
  const found: RelationReference[] = [];
  const visit = (value: unknown, ctes: ReadonlySet<string>): void => {
    if (Array.isArray(value)) for (const v of value) visit(v, ctes);
    if (!isObject(value)) return;
    const range = value.RangeVar;
    if (isObject(range) && typeof range.relname === 'string') {
      const schema = typeof range.schemaname === 'string' ? name(range.schemaname) : null;
      if (schema !== null || !ctes.has(range.relname)) found.push({ schema, name: name(range.relname), offset: at(range.location) });
      return;
    }
    let scope = ctes;
    const clause = value.withClause;
    if (isObject(clause) && Array.isArray(clause.ctes)) {
      const named = clause.ctes.map((c) => (isObject(c) && isObject(c.CommonTableExpr) ? c.CommonTableExpr : {}));
      const inner = new Set(ctes);
      if (clause.recursive) for (const c of named) inner.add(String(c.ctename));
      for (const c of named) {
        visit(c.ctequery, new Set(inner));
        inner.add(String(c.ctename));
      }
      scope = inner;
    }
    for (const [key, v] of Object.entries(value)) if (key !== 'withClause') visit(v, scope);
  };
  visit(root, new Set());
  return found;
}

/** The text to store: trimmed, with the product's schemas and functions under their neutral names (docs/design/statements-and-versions.md#names-of-the-product). */
const neutralText = (parsed: Parsed, sql: SqlText, product: string): string =>
  renamed(parsed, sql, product, (schema) => neutralSchema(schema, product), `${product}_`, 'svc_');

/**
 * The inverse: a stored piece of SQL with schemas and functions under the product's names, as in everything that the service prints
 * (docs/design/statements-and-versions.md#names-of-the-product).
 */
export function productText(parser: SqlParser, sql: string, kind: 'expression' | 'select', product: string): string {
  const source = { text: sql, offset: 0 };
  const schemaOf = (schema: string): string | null => {
    const neutral = neutralSchema(schema, 'svc');
    return neutral === null ? null : neutral.replace(/svc$/, () => product);
  };
  return product === 'svc' || !/svc/i.test(sql)
    ? sql
    : guarded(source, () => renamed(parse(parser, source, kind), source, product, schemaOf, 'svc_', `${product}_`));
}

/** Renames the virtual schemas and the service's functions in a text, and trims it. Everything else stays unchanged. */
function renamed({ root, at }: Parsed, sql: SqlText, product: string, schemaOf: (schema: string) => string | null, from: string, to: string): string {
  if (product === 'svc') return sql.text.trim();
  const names = new Map<number, string>();
  walk(root, 0, (type, node) => {
    if (type === 'RangeVar' && typeof node.schemaname === 'string') {
      const schema = schemaOf(node.schemaname);
      if (schema) names.set(at(node.location), schema);
    } else if (type === 'ColumnRef') {
      const fields = fieldsOf(node);
      const schema = fields.length > 2 && fields[0] != null ? schemaOf(fields[0]) : null;
      if (schema) names.set(at(node.location), schema);
    } else if (type === 'FuncCall' && Array.isArray(node.funcname) && node.funcname.length === 1) {
      const called = textOf(node.funcname[0]) ?? '';
      for (const fn of ['username', 'has_role', 'claim']) if (called === from + fn) names.set(at(node.location), to + fn);
    }
  });
  let text = '';
  let copied = 0;
  for (const token of tokenize(sql.text)) {
    const written = names.get(sql.offset + token.start);
    if (written === undefined) continue;
    text += sql.text.slice(copied, token.start) + written;
    copied = token.end;
  }
  return (text + sql.text.slice(copied)).trim();
}

function parse(parser: SqlParser, sql: SqlText, kind: Kind): Parsed {
  visited(stepsOfPiece(sql.text.length));
  const before = kind === 'expression' ? SELECT : '';
  const prepared = prepareSelect({ text: before + sql.text, offset: sql.offset - before.length });
  const at = (location: unknown): number => Math.max(sql.offset, prepared.toSource(typeof location === 'number' ? location : 0));
  const fail = (code: string, message: string, offset = sql.offset): never => {
    throw badRequest(code, message, { offset });
  };
  const { stmts } = parsePrepared(parser, prepared);
  const name = (identifier: string): string => prepared.standIns.get(identifier) ?? identifier;
  const statement: unknown = stmts[0]?.stmt;
  const select = isObject(statement) && isObject(statement.SelectStmt) ? statement.SelectStmt : undefined;
  if (stmts.length !== 1 || !select)
    return fail(kind === 'select' ? 'not_select' : 'syntax_error', kind === 'select' ? 'expected a single SELECT' : 'expected an expression');
  if (kind === 'select') {
    if (hasMember(select, WRITES)) fail('not_select', 'data-modifying statements are not allowed here');
    if (hasMember(select, INTO_OR_LOCKING)) fail('not_select', 'INTO and locking clauses are not allowed here');
    return { root: select, at, name };
  }
  const [target, ...more] = Array.isArray(select.targetList) ? select.targetList : [];
  const one = isObject(target) && isObject(target.ResTarget) ? target.ResTarget : undefined;
  const clauses = Object.keys(select).filter((key) => !['targetList', 'limitOption', 'op'].includes(key));
  if (!one || more.length > 0 || clauses.length > 0 || select.op !== 'SETOP_NONE') return fail('syntax_error', 'expected a single expression');
  if (typeof one.name === 'string') return fail('syntax_error', `an alias (${name(one.name)}) is not allowed after the expression`, at(one.location));
  return { root: isObject(one.val) ? one.val : {}, at, name };
}

/** Whether a tree has one of these members at any depth. */
function hasMember(value: unknown, members: ReadonlySet<string>): boolean {
  if (Array.isArray(value)) return value.some((v) => hasMember(v, members));
  return isObject(value) && Object.entries(value).some(([key, v]) => members.has(key) || hasMember(v, members));
}

/** Calls `visit` for each typed node below `value`. `depth` counts the enclosing SELECTs. */
function walk(value: unknown, depth: number, visit: (type: string, node: Json, depth: number) => void): void {
  if (Array.isArray(value)) {
    for (const v of value) walk(v, depth, visit);
    return;
  }
  if (!isObject(value)) return;
  for (const [key, v] of Object.entries(value)) {
    if (isObject(v) && /^[A-Z]/.test(key)) visit(key, v, depth);
    walk(v, key === 'SelectStmt' ? depth + 1 : depth, visit);
  }
}

const textOf = (value: unknown): string | null =>
  isObject(value) && isObject(value.String) && typeof value.String.sval === 'string' ? value.String.sval : null;

/** The names of a ColumnRef; null for a star. */
const fieldsOf = (node: Json): (string | null)[] => (Array.isArray(node.fields) ? node.fields : []).map(textOf);
