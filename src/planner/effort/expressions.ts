/** The sizes of the values of expressions, and the steps of the calls in them. */
import type { A_ArrayExpr, A_Expr, CaseExpr, CoalesceExpr, ColumnRef, FuncCall, MinMaxExpr, ParamRef, RowExpr, SubLink, TypeCast } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { FOLDING } from '../guard/index.ts';
import { isNodeName, lastName, type Node, type SelectStmt, typeOf } from '../plan/tree.ts';
import { Bounds } from './bounds.ts';
import { stepsOfCast } from './casts.ts';
import { isCounted, isFresh, isNeverConstant, makerOf } from './constants.ts';
import { COLLECTING, FREE, FREE_OPERATORS, names, OPERATIONS, REPEATING, SEARCH_OPERATORS, SLOW_TYPES } from './functions.ts';
import { sizeOfJsonCall, sizeOfJsonConstructor, sizeOfJsonTable } from './json.ts';
import { charactersIn } from './numbers.ts';
import { isArithmetic, JSON_BUILDERS, paddingOf, sizeOfArrayCast, sizeOfCall, sizeOfCast, sizeOfOperation, sizeOfPower, sizeOfRepetition } from './results.ts';
import { type Measured, rowsOfAggregate, type Scope, sizeOfColumn } from './scope.ts';
import {
  bytesOf,
  copies,
  elementsIn,
  FIXED,
  inJson,
  largest,
  MAX_SIZE,
  NOTHING,
  ofBytes,
  plus,
  type Size,
  SMALL,
  sizeOfArrayOf,
  sizeOfRowOf,
  sum,
  UNKNOWN,
} from './sizes.ts';
import { SMALL_TEXT, type Spent } from './spent.ts';
import { callIn, collected, copiesOfLeft, countOf, freePass, freePasses, functionName, onePass, SEARCHED, stepsOf } from './steps.ts';
import { sizeOfConstant, sizeOfText } from './texts.ts';

/** Nodes that are no longer than their parts. A node that is neither here nor has a rule may be of any length. */
const PARTS = names(`
  A_Indices A_Indirection A_Star BitString Boolean CaseWhen CollateClause Float GroupingSet Integer JsonArgument JsonBehavior JsonFormat JsonKeyValue JsonOutput
  JsonReturning JsonTableColumn JsonTablePathSpec JsonValueExpr List NamedArgExpr ResTarget SortBy String TypeName WindowDef`);

/** Functions that return the time of the transaction. */
const NOW = names('now statement_timestamp transaction_timestamp');

/** Functions other than those that write JSON to which a row is not a text. */
const JSON_TAKING = /^(count|jsonb?_(object_)?agg.*)$/;

/** A call that makes its arguments more often as long may make a long value of short constants. */
const GROWTH = 16;

/** Measures expressions. */
export class Expressions {
  readonly #params: readonly (string | null)[];
  readonly #spent: Spent;
  /** The nodes so far whose value PostgreSQL does not know when it plans the statement. */
  #varying = 0;
  /** The calls so far that return the time of the transaction, of which PostgreSQL computes nothing that has no condition. */
  #times = 0;
  /** The bytes of long constant values in the expression that is measured. PostgreSQL may make all around them constant too: `coalesce('x', name)` is. */
  #long = 0;
  readonly #bounds: Bounds;
  /** Measures a sub-query. */
  readonly #query: (stmt: SelectStmt, scope: Scope, isExists?: boolean) => Measured;

  constructor(params: readonly (string | null)[], spent: Spent, query: (stmt: SelectStmt, scope: Scope, isExists?: boolean) => Measured) {
    this.#params = params;
    this.#spent = spent;
    this.#query = query;
    this.#bounds = new Bounds(params, (node, scope) => spent.paused(() => this.size(node, scope)));
  }

  #sizes(nodes: readonly Node[] | undefined, scope: Scope): Size[] {
    return (nodes ?? []).map((n) => this.size(n, scope));
  }

  /** Measures all nodes of a value. @returns the sum of their sizes */
  all(value: unknown, scope: Scope): Size {
    if (value === null || typeof value !== 'object') return NOTHING;
    let total = NOTHING;
    if (Array.isArray(value)) {
      for (const item of value) total = plus(total, this.all(item, scope));
      return total;
    }
    for (const member in value) {
      if (isNodeName(member)) return this.size(value as Node, scope);
      const inner = (value as Record<string, unknown>)[member];
      if (typeof inner === 'object') total = plus(total, this.all(inner, scope));
    }
    return total;
  }

  /** Measures an expression. */
  size(node: Node, scope: Scope): Size {
    visited(1);
    this.#spent.nodes();
    const type = typeOf(node);
    const body = (node as unknown as Readonly<Record<string, never>>)[type] as never;
    const [before, around] = [this.#varying, this.#long];
    this.#long = 0;
    const size = this.#measured(type, body, node, scope);
    const isConstant = this.#varying === before;
    if (size.made <= SMALL_TEXT || isFresh(type, body)) this.#long = 0;
    else if (isConstant || this.#long > 0) this.#keep(type, body, isConstant || size.made < MAX_SIZE ? size : ofBytes(this.#long));
    this.#long += around;
    return size;
  }

  /** Counts a long value that is constant, or may be. */
  #keep(type: string, body: never, size: Size): void {
    const maker = makerOf(type, body);
    if (maker !== undefined) this.#spent.text(size, maker, (body as ParamRef).location);
    this.#long = size.made;
  }

  #measured(type: string, body: never, node: Node, scope: Scope): Size {
    switch (type) {
      case 'ColumnRef':
        return this.#column(body, scope);
      case 'A_Const':
        return sizeOfConstant(body);
      case 'ParamRef':
        return sizeOfText(this.#params[((body as ParamRef).number ?? 0) - 1] ?? '');
      case 'TypeCast':
        return this.#cast(body, scope);
      case 'FuncCall':
        return this.#call(body, scope);
      case 'A_Expr':
        return this.#operation(body, scope);
      case 'SubLink':
        return this.#subLink(body, scope);
      case 'SelectStmt':
        this.#varying++;
        return sum([...this.#query(body, scope).columns.values()]);
      case 'CaseExpr':
        return this.#case(body, scope);
      case 'CoalesceExpr':
        return largest(this.#sizes((body as CoalesceExpr).args, scope));
      case 'MinMaxExpr':
        return this.#extreme(body, scope);
      case 'A_ArrayExpr':
        return sizeOfArrayOf(this.#sizes((body as A_ArrayExpr).elements, scope));
      case 'RowExpr':
        return sizeOfRowOf(this.#sizes((body as RowExpr).args, scope));
      case 'JsonTable':
        return sizeOfJsonTable(this, this.#spent, body, scope);
      case 'BoolExpr':
      case 'NullTest':
      case 'BooleanTest':
      case 'GroupingFunc':
      case 'SQLValueFunction':
        if (type === 'SQLValueFunction') this.#times++;
        this.all(body, scope);
        return FIXED;
      case 'JsonIsPredicate':
        this.#spent.steps(onePass(bytesOf(this.all(body, scope), SEARCHED)), 'IS JSON', (body as ParamRef).location);
        return FIXED;
      case 'JsonFuncExpr':
        return sizeOfJsonCall(this, this.#spent, node as Extract<Node, { JsonFuncExpr: unknown }>, scope);
      case 'JsonArrayAgg':
      case 'JsonObjectAgg':
      case 'JsonArrayQueryConstructor':
      case 'JsonArrayConstructor':
      case 'JsonObjectConstructor':
      case 'JsonParseExpr':
      case 'JsonScalarExpr':
      case 'JsonSerializeExpr':
        return sizeOfJsonConstructor(this, this.#spent, this.#query, type, body, scope);
      default:
        return plus(this.all(body, scope), PARTS.has(type) ? NOTHING : UNKNOWN);
    }
  }

  #column(reference: ColumnRef, scope: Scope): Size {
    const size = sizeOfColumn(reference, scope);
    // PostgreSQL puts its constants in the place of the reference
    if (!size.copies.isConstant) this.#varying++;
    if (size.copies.isConstant && size.copies.texts > 0 && size.made > SMALL_TEXT) this.#long = size.made < MAX_SIZE ? size.made : size.copies.texts;
    return this.#spent.column(size, reference.location);
  }

  #extreme({ op, args = [], location }: MinMaxExpr, scope: Scope): Size {
    const sizes = this.#sizes(args, scope);
    this.#spent.steps(freePasses(sizes), op === 'IS_GREATEST' ? 'greatest' : 'least', location);
    return largest(sizes);
  }

  #case({ arg, args = [], defresult, location }: CaseExpr, scope: Scope): Size {
    const compared = arg && this.size(arg, scope);
    const results = args.map((when) => {
      if (!('CaseWhen' in when)) return SMALL;
      const other = when.CaseWhen.expr && this.size(when.CaseWhen.expr, scope);
      if (compared && other) this.#spent.steps(freePasses([compared, other]), 'CASE', location);
      return when.CaseWhen.result ? this.size(when.CaseWhen.result, scope) : SMALL;
    });
    return largest([...results, ...(defresult ? [this.size(defresult, scope)] : [])]);
  }

  #cast({ arg, typeName, location }: TypeCast, scope: Scope): Size {
    const size = arg ? this.size(arg, scope) : SMALL;
    const type = lastName(typeName?.names);
    const isArray = (typeName?.arrayBounds?.length ?? 0) > 0;
    if (!size.fixed || SLOW_TYPES.has(type)) this.#spent.steps(stepsOfCast(type, size, isArray), type, location);
    const padding = ofBytes(paddingOf(typeName));
    if (padding.made === 0) return isArray ? sizeOfArrayCast(type, size, typeName?.typmods) : sizeOfCast(type, size, typeName?.typmods);
    const padded = plus(size, isArray ? copies(padding, elementsIn(size)) : padding);
    this.#spent.steps(freePass(padded), type, location);
    this.#spent.text(padded, type, location);
    return padded;
  }

  #subLink({ subLinkType, testexpr, operName, subselect, location }: SubLink, scope: Scope): Size {
    this.#varying++;
    const tested = testexpr && this.size(testexpr, scope);
    const stmt = subselect && 'SelectStmt' in subselect ? subselect.SelectStmt : undefined;
    const { columns, rows } = stmt ? this.#query(stmt, scope, subLinkType === 'EXISTS_SUBLINK') : { columns: new Map<string, Size>(), rows: 1 };
    const [first = SMALL] = columns.values();
    // PostgreSQL checks for interrupts between the rows, so one comparison counts
    if (tested) {
      const [symbol, sizes] = [operName === undefined ? '=' : lastName(operName), [tested, sum([...columns.values()])]];
      const isFree = FREE_OPERATORS.has(symbol) && !SEARCH_OPERATORS.has(symbol);
      this.#spent.steps(isFree ? freePasses(sizes) : stepsOf(symbol, [], sizes), symbol, location);
      // it may turn ANY into a join, and copies the condition for each query of a union
      if (operName !== undefined) this.#spent.column(first, location);
    }
    return subLinkType === 'EXPR_SUBLINK' ? first : subLinkType === 'ARRAY_SUBLINK' ? collected('ARRAY', [first], rows) : SMALL;
  }

  #operation({ kind, name, lexpr, rexpr, location }: A_Expr, scope: Scope): Size {
    const left = lexpr ? this.#spent.repeated(copiesOfLeft(kind, lexpr, rexpr), () => this.size(lexpr, scope), location) : FIXED;
    const right = rexpr ? this.all(rexpr, scope) : FIXED;
    const symbol = lastName(name);
    if (isArithmetic(symbol) && left.fixed && right.fixed) return FIXED;
    const isLike = kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE';
    const called = isLike ? 'LIKE' : symbol;
    if (isLike || SEARCH_OPERATORS.has(symbol) || (OPERATIONS.has(kind ?? '') && !FREE_OPERATORS.has(symbol))) {
      this.#spent.steps(stepsOf(kind === 'AEXPR_ILIKE' ? '~~*' : isLike ? '~~' : symbol, rexpr ? [rexpr, rexpr] : [], [left, right]), called, location);
    } else this.#spent.steps(countOf(rexpr) * freePass(left) + freePass(right), called, location);
    if (kind === 'AEXPR_NULLIF') return left;
    if (symbol === '^') return sizeOfPower(left, right, rexpr && this.#bounds.bound(rexpr, scope, right));
    return isLike ? SMALL : sizeOfOperation(symbol, left, right, lexpr === undefined);
  }

  #call(call: FuncCall, scope: Scope): Size {
    const [name, { args = [], location }] = [functionName(call), call];
    const writesJson = JSON_BUILDERS.test(name) || JSON_TAKING.test(name);
    if (isNeverConstant(call)) this.#varying++;
    if (NOW.has(name)) this.#times++;
    const before = this.#varying;
    const sizes = args.map((a) => (writesJson ? inJson(this.size(a, scope)) : this.size(a, scope)));
    this.all([call.agg_order, call.agg_filter, call.over], scope);
    this.#spent.folded(call.over, FOLDING.has(name), location);
    const [first = SMALL] = sizes;
    for (const [i, arg] of args.entries()) this.#bounds.note(arg, scope, sizes[i] ?? SMALL);
    if (!COLLECTING.has(name)) this.#spent.steps(FREE.has(name) ? freePasses(sizes) : stepsOf(name, args, sizes), name, location);
    if (REPEATING.has(name)) {
      const known = charactersIn(args[1], (n) => this.#bounds.again(n, scope));
      const characters = known.made >= MAX_SIZE && this.#varying === before ? ofBytes(this.#bounds.of(args[1], scope) ?? MAX_SIZE) : known;
      const made = sizeOfRepetition(name, first, characters, args);
      if (isCounted(call)) this.#spent.text(made, name, location);
      if (made.made < MAX_SIZE) this.#long = made.made;
      return made;
    }
    if (COLLECTING.has(name)) return collected(name, sizes, rowsOfAggregate(args, scope));
    const made = sizeOfCall(name, this.#bounds.bounded(name, args, sizes, scope, this.#varying === before), sizes, call.func_variadic === true);
    if (made.made < MAX_SIZE && made.made > GROWTH * sum(sizes).made) this.#long = Math.max(this.#long, made.made);
    return made;
  }

  /** The size of the arguments of a function in FROM that was measured, as a document of which it makes columns. */
  document(item: Node, size: Size, scope: Scope): Size {
    const args = callIn(item)?.args ?? [];
    return args.length === 0 ? size : sum(args.map((a) => this.#bounds.again(a, scope)));
  }

  /** What PostgreSQL puts in the place of a reference to a column with this value, if it is constant. @param measure measures the value */
  constantIn(value: Node, scope: Scope, measure: () => Size): { readonly size: Size; readonly isConstant: boolean; readonly number: number | undefined } {
    const [before, long] = [this.#varying + this.#times, this.#long];
    const size = measure();
    const isConstant = this.#varying + this.#times === before || this.#long > long;
    return { size, isConstant, number: isConstant && size.made <= SMALL.made ? this.#bounds.of(value, scope) : undefined };
  }
}
