/** Expressions: their nodes, functions, operators, types and fields. */
import type { Declared, DeclaredTable } from './declared.ts';
import { isFunction, RESULT_ROWS } from './functions.ts';
import type { Cte, Level } from './level.ts';
import { BETWEEN, CLOCK_VALUES, EXPRESSIONS, type Member, type Members, OPERATOR_KINDS, PARTS, SUB_LINKS } from './nodes.ts';
import { isOperator } from './operators.ts';
import { query } from './query.ts';
import { refuse } from './refusal.ts';
import { Row } from './row.ts';
import { bare, fieldOf, mayBeRow, qualified, relationOf } from './scope.ts';
import { type Body, listOf, nameOf, namesOf, type Tree, typeOf } from './tree.ts';
import { isCollation, isType } from './types.ts';

/**
 * How deep queries, items of FROM and expressions may be nested, counted as the printer does: chains that lean to the left (operators, set
 * operations, joins) are walked in loops and do not count.
 */
const MAX_DEPTH = 600;

/** How many columns stars and column lists may make. PostgreSQL takes 1,664 in one select list. */
const MAX_COLUMNS = 500_000;

/** Schemas whose functions and tables nothing declares. */
const SYSTEM_SCHEMA = /^(pg_|information_schema$|kg_catalog$)/i;

export class Verifier {
  readonly declared: Declared;
  readonly #tables: ReadonlyMap<string, DeclaredTable>;
  /** The name of the first column of each scalar sub-select. */
  readonly firsts = new Map<Body, string>();
  #depth = 0;
  #columns = 0;
  #tableRows = 0;

  /** How many values that are, or may be, rows of tables have been read. */
  get tableRows(): number {
    return this.#tableRows;
  }

  constructor(declared: Declared) {
    this.declared = declared;
    this.#tables = new Map(declared.tables.filter((t) => !SYSTEM_SCHEMA.test(t.schema)).map((t) => [`${t.schema}\0${t.name}`, t]));
  }

  /** The declared table of a name. */
  table(schema: string, name: string): DeclaredTable | undefined {
    return this.#tables.get(`${schema}\0${name}`);
  }

  enter(): void {
    if (++this.#depth > MAX_DEPTH) refuse('too_complex', 'depth');
  }

  leave(): void {
    this.#depth--;
  }

  /** Counts columns that a star or a column list makes: a short text can make any number of them. */
  spend(columns: number): void {
    this.#columns += columns;
    if (this.#columns > MAX_COLUMNS) refuse('too_complex', 'columns');
  }

  /** Checks a query. Gives its columns; `parent`: the relations that it may refer to. */
  query(node: Tree, parent: Level | undefined, ctes: Cte | undefined): Row {
    return query(this, node, parent, ctes);
  }

  /** Checks that each member of a node is known, and what it holds. */
  members(type: string, body: Body, known: Members | undefined, level: Level): void {
    if (!known) refuse('node', type);
    for (const name in body) {
      const member = Object.hasOwn(known, name) ? (known[name] as Member) : undefined;
      const value = body[name];
      switch (member) {
        case undefined:
          refuse('member', `${type}.${name}`);
          break;
        case 'own':
          break;
        case 'plain':
          if (typeof value === 'object') refuse('member', `${type}.${name}`);
          break;
        case 'constant':
          for (const part of Object.values(value as Body)) if (typeof part === 'object') refuse('member', `${type}.${name}`);
          break;
        case 'expression':
          this.expression(value as Tree, level);
          break;
        case 'expressions':
          this.expressions(value, level);
          break;
        case 'type':
          this.#type(value as Body, level);
          break;
        case 'operator':
          this.#operator(namesOf(value));
          break;
        case 'collation':
          this.#collation(namesOf(value));
          break;
        case 'order':
          for (const item of listOf(value)) this.part(item, 'SortBy', level);
          break;
        case 'window':
          this.members('WindowDef', value as Body, PARTS.WindowDef, level);
          break;
        default: {
          const part = member.slice(1);
          this.members(part, value as Body, PARTS[part], level);
        }
      }
    }
  }

  /** A node that must be of one type and is no expression. Gives its members. */
  part(node: Tree, type: string, level: Level): Body {
    if (typeOf(node) !== type) refuse('node', typeOf(node));
    const body = node[type] as Body;
    this.members(type, body, PARTS[type], level);
    return body;
  }

  expressions(list: unknown, level: Level): void {
    for (const node of listOf(list)) this.expression(node, level);
  }

  /** Checks an expression. Gives the fields of its value where it is certainly a row. */
  expression(node: Tree, level: Level): Row | undefined {
    const type = typeOf(node);
    this.enter();
    const row = this.#expression(type, node[type] as Body, level);
    if (row && row.tables.length > 0) this.#tableRows++;
    this.leave();
    return row;
  }

  #expression(type: string, body: Body, level: Level): Row | undefined {
    this.members(type, body, Object.hasOwn(EXPRESSIONS, type) ? EXPRESSIONS[type] : undefined, level);
    switch (type) {
      case 'ColumnRef':
        return this.#column(body, level);
      case 'A_Indirection':
        return this.#fields(body, level);
      case 'FuncCall':
        return this.#call(body);
      case 'RowExpr':
        return this.#row(body, level);
      case 'A_Expr':
        this.#operation(body, level);
        return undefined;
      case 'SubLink':
        this.#subLink(body, level);
        return undefined;
      case 'TypeCast':
        this.#cast(body, level);
        return undefined;
      case 'JsonArrayQueryConstructor':
        this.query(body.query as Tree, level, level.ctes);
        return undefined;
      case 'ParamRef':
        this.#parameter(body.number);
        return undefined;
      case 'SQLValueFunction':
        if (!CLOCK_VALUES.has(String(body.op))) refuse('value', String(body.op));
        return undefined;
      default:
        return undefined;
    }
  }

  /** The columns that an item of a select list or a row gives where it is a star; undefined: it is no star. */
  star(node: Tree, level: Level): Row | undefined {
    const type = typeOf(node);
    const body = node[type] as Body;
    if (type === 'A_Indirection' && 'A_Star' in (listOf(body.indirection).at(-1) ?? {})) return this.expression(node, level) ?? refuse('field', '*');
    if (type !== 'ColumnRef') return undefined;
    const fields = listOf(body.fields);
    if (!('A_Star' in (fields.at(-1) ?? {}))) return undefined;
    this.members(type, body, EXPRESSIONS.ColumnRef, level);
    const path = namesOf(fields.slice(0, -1));
    if (path.length > 0) return relationOf(level, path).columns.whole();
    if (level.rows.length > 1) for (const row of level.rows) this.spend(row.names.length + row.tables.length);
    return Row.of(level.rows).whole();
  }

  #column(body: Body, level: Level): Row | undefined {
    const fields = listOf(body.fields);
    const star = 'A_Star' in (fields.at(-1) ?? {});
    const path = namesOf(star ? fields.slice(0, -1) : fields);
    if (star) return path.length === 0 ? undefined : relationOf(level, path).whole?.whole();
    if (path.length > 1) return qualified(level, path);
    const row = bare(level, path[0] as string);
    if (!row && mayBeRow(level, path[0] as string)) this.#tableRows++;
    return row;
  }

  /**
   * `(value).field`, `(value).*`, `value[1]`. PostgreSQL knows the fields of the whole row of a relation, of a column of a sub-select that is a
   * row, of ROW(...) and of a call with result columns (ParseComplexProjection of parse_func.c). Of anything else a field is a call.
   */
  #fields(body: Body, level: Level): Row | undefined {
    let row = this.expression(body.arg as Tree, level);
    for (const step of listOf(body.indirection)) {
      const name = nameOf(step);
      if (name !== undefined) row = row ? fieldOf(row, name) : refuse('field', name);
      else if ('A_Star' in step) row ??= refuse('field', '*');
      else {
        this.part(step, 'A_Indices', level);
        row = undefined;
      }
    }
    return row;
  }

  #row(body: Body, level: Level): Row | undefined {
    let n = 0;
    let closed = true;
    for (const arg of listOf(body.args)) {
      const star = this.star(arg, level);
      if (star?.isOpen) closed = false;
      if (!star) this.expression(arg, level);
      n += star ? star.names.length : 1;
    }
    this.spend(n);
    return closed ? new Row(Array.from({ length: n }, (_, i) => `f${i + 1}`)) : undefined;
  }

  /** `text`: a cast to text is directly around the call. */
  #call(body: Body, text = false): Row | undefined {
    const path = namesOf(body.funcname);
    const [name, schema] = [path.at(-1) as string, path.length > 1 ? path.slice(0, -1).join('.') : 'pg_catalog'];
    const builtIn = schema === 'pg_catalog' && isFunction(name);
    // next to a regtype, a text becomes a name that is looked up in the catalog
    if (builtIn ? name === 'pg_typeof' && !text : !this.#isDeclared(path)) refuse('function', path.join('.'));
    return builtIn ? RESULT_ROWS.get(name) : undefined;
  }

  #isDeclared(path: readonly string[]): boolean {
    return path.length === 2 && !SYSTEM_SCHEMA.test(path[0] as string) && this.declared.functions.has(path.join('.'));
  }

  #cast(body: Body, level: Level): void {
    const arg = body.arg as Tree;
    const call = arg.FuncCall as Body | undefined;
    const type = body.typeName as Body;
    if (!call || type.arrayBounds !== undefined || namesOf(type.names).at(-1) !== 'text') {
      this.expression(arg, level);
      return;
    }
    this.enter();
    this.members('FuncCall', call, EXPRESSIONS.FuncCall, level);
    this.#call(call, true);
    this.leave();
  }

  /** Operators lean to the left in long chains. */
  #operation(top: Body, level: Level): void {
    let body = top;
    for (;;) {
      const names = namesOf(body.name);
      const kind = OPERATOR_KINDS.get(String(body.kind)) ?? refuse('operator', String(body.kind));
      if (kind === 'operator') this.#operator(names);
      else if (names.length !== 1 || !BETWEEN.has(names[0] as string)) refuse('operator', names.join('.'));
      const left = body.lexpr as Tree | undefined;
      if (!left) return;
      if (typeOf(left) !== 'A_Expr') {
        this.expression(left, level);
        return;
      }
      body = left.A_Expr as Body;
      this.members('A_Expr', body, EXPRESSIONS.A_Expr, level);
    }
  }

  #subLink(body: Body, level: Level): void {
    if (!SUB_LINKS.has(String(body.subLinkType))) refuse('member', `SubLink.${body.subLinkType}`);
    const columns = this.query(body.subselect as Tree, level, level.ctes);
    if (body.subLinkType === 'EXPR_SUBLINK') this.firsts.set((body.subselect as Tree).SelectStmt as Body, columns.names[0] ?? '?column?');
  }

  #parameter(number: unknown): void {
    if (typeof number !== 'number' || number < 1 || number > this.declared.params) refuse('parameter', `$${number ?? 0}`);
  }

  #operator(path: readonly string[]): void {
    if (!isOperator(own(path))) refuse('operator', path.join('.'));
  }

  #collation(path: readonly string[]): void {
    if (!isCollation(own(path))) refuse('collation', path.join('.'));
  }

  #type(body: Body, level: Level): void {
    this.members('TypeName', body, PARTS.TypeName, level);
    const path = namesOf(body.names);
    if (!isType(own(path))) refuse('type', path.join('.'));
    for (const modifier of listOf(body.typmods)) {
      if (typeOf(modifier) !== 'A_Const') refuse('type', `${path.join('.')} with ${typeOf(modifier)}`);
      this.expression(modifier, level);
    }
    for (const bound of listOf(body.arrayBounds)) if (typeOf(bound) !== 'Integer') refuse('type', `${path.join('.')} with ${typeOf(bound)}`);
  }
}

/** The name of something that PostgreSQL itself has; undefined where a name is qualified by another schema. */
const own = (path: readonly string[]): string | undefined => (path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog') ? path.at(-1) : undefined);
