/** Checks expressions: nodes, functions, operators, types and fields. */
import { checkCollation, checkFunction, checkOperator, checkTypeName, isSystemSchema } from './allowed.ts';
import type { Declared, DeclaredTable } from './declared.ts';
import type { Cte, Level } from './level.ts';
import { BETWEEN, CLOCK_VALUES, EXPRESSIONS, type Member, type Members, OPERATOR_KINDS, PARTS, SUB_LINKS } from './nodes.ts';
import { query } from './query.ts';
import { refuse } from './refusal.ts';
import { Row } from './row.ts';
import { bare, fieldOf, mayBeRow, qualified, relationOf } from './scope.ts';
import { type Body, listOf, nameOf, namesOf, type Tree, typeOf } from './tree.ts';

/**
 * The maximum depth of queries, items of FROM and expressions, counted as in the printer: chains that lean to the left (operators, set operations, joins) are read in loops
 * and do not count.
 */
const MAX_DEPTH = 600;

/** The maximum number of columns of all stars and column lists. PostgreSQL accepts 1,664 in one select list. */
const MAX_COLUMNS = 500_000;

/** Checks one statement: declarations, limits, and the checks of expressions. */
export class Verifier {
  readonly declared: Declared;
  readonly #tables: ReadonlyMap<string, DeclaredTable>;
  /** The name of the first column of each scalar sub-select. */
  readonly firsts = new Map<Body, string>();
  #depth = 0;
  #columns = 0;
  #tableRows = 0;

  /** The number of values so far that are, or may be, rows of tables. */
  get tableRows(): number {
    return this.#tableRows;
  }

  constructor(declared: Declared) {
    this.declared = declared;
    this.#tables = new Map(declared.tables.filter((t) => !isSystemSchema(t.schema)).map((t) => [`${t.schema}\0${t.name}`, t]));
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

  /** Counts the columns of a star or a column list: a short text can expand to any number of columns. */
  spend(columns: number): void {
    this.#columns += columns;
    if (this.#columns > MAX_COLUMNS) refuse('too_complex', 'columns');
  }

  /** Checks a query. @param parent the relations that it may refer to @returns its columns */
  query(node: Tree, parent: Level | undefined, ctes: Cte | undefined): Row {
    return query(this, node, parent, ctes);
  }

  /** Checks the members of a node. Each must be known. */
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
          checkOperator(namesOf(value));
          break;
        case 'collation':
          checkCollation(namesOf(value));
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

  /** Checks a node that must have a certain type and is not an expression. @returns its members */
  part(node: Tree, type: string, level: Level): Body {
    if (typeOf(node) !== type) refuse('node', typeOf(node));
    const body = node[type] as Body;
    this.members(type, body, PARTS[type], level);
    return body;
  }

  expressions(list: unknown, level: Level): void {
    for (const node of listOf(list)) this.expression(node, level);
  }

  /** Checks an expression. @returns the fields of its value, if it is certainly a row */
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
        return checkFunction(this.declared, namesOf(body.funcname), false);
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

  /** The columns of an item of a select list or a row that is a star; undefined for other items. */
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
   * Checks `(value).field`, `(value).*`, `value[1]`. PostgreSQL knows the fields of the whole row of a relation, of a column of a sub-select that is a row, of ROW(...) and of a
   * call with result columns (ParseComplexProjection in parse_func.c). It reads a field of any other value as a call.
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
    checkFunction(this.declared, namesOf(call.funcname), true);
    this.leave();
  }

  /** Checks operators. Long chains of them lean to the left, so they are read in a loop. */
  #operation(top: Body, level: Level): void {
    let body = top;
    for (;;) {
      const names = namesOf(body.name);
      const kind = OPERATOR_KINDS.get(String(body.kind)) ?? refuse('operator', String(body.kind));
      if (kind === 'operator') checkOperator(names);
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

  #type(body: Body, level: Level): void {
    this.members('TypeName', body, PARTS.TypeName, level);
    const path = namesOf(body.names);
    checkTypeName(path);
    for (const modifier of listOf(body.typmods)) {
      if (typeOf(modifier) !== 'A_Const') refuse('type', `${path.join('.')} with ${typeOf(modifier)}`);
      this.expression(modifier, level);
    }
    for (const bound of listOf(body.arrayBounds)) if (typeOf(bound) !== 'Integer') refuse('type', `${path.join('.')} with ${typeOf(bound)}`);
  }
}
