/**
 * A quick test before the estimate of effort: a statement is light if its calls cannot reach the limit, even if each value in it is as long as all growth of the statement
 * allows. Most statements are: they compare, count and add values of tables. The test needs no scopes and no sizes of single columns.
 */
import type {
  A_Const,
  A_Expr,
  Alias,
  ColumnRef,
  CommonTableExpr,
  FuncCall,
  JoinExpr,
  ParamRef,
  RangeSubselect,
  RangeVar,
  ResTarget,
  SubLink,
  TypeCast,
} from '@pgsql/types';
import { isNodeName, lastName, type Node, nameOf, type SelectStmt } from '../plan/tree.ts';
import { comparesTwo } from './few-joins.ts';
import { FREE, KEEPING, LINEAR, NUMERIC, names, PLAIN, SHORT, SLOW_TYPES } from './functions.ts';
import { EQUALITY } from './links.ts';
import { costOfOrders } from './orders.ts';
import { hasNumbers, paddingOf } from './results.ts';
import type { Size } from './sizes.ts';
import { MAX_NODES as MAX_COPIED, MAX_STEPS } from './spent.ts';
import { besidesRow, constant, copiesOfLeft, functionName, SEARCHED, STEPS_PER_BYTE } from './steps.ts';
import { sizeOfConstant, sizeOfText } from './texts.ts';

/** Nodes that call nothing themselves. Those that are not listed here and have no rule below make a statement not light. */
const NEUTRAL = names('SortBy WindowDef BoolExpr NullTest BooleanTest CaseExpr CaseWhen CoalesceExpr MinMaxExpr List String Integer Float A_Star');

/** Operators whose result is short. */
const COMPARISONS = names('= <> < > <= >=');
/** Operators on numbers or texts. The result may be as long as both operands, and the time may grow with the product of their lengths. */
const COMBINING = names('+ - * / % ||');
/** Kinds of expressions that compare their operands. */
const COMPARING = /^AEXPR_(NULLIF|IN|(NOT_)?(BETWEEN(_SYM)?|DISTINCT))$/;

/** The number of digits to which a light statement may round. */
const MAX_ROUNDED = 100;

/** A statement with more nodes is not looked at further. */
const MAX_NODES = 2_000;
const NODES_OF_A_QUERY = 20;

/** True if no calls in the statement can reach the limit. @param params the values of the parameters */
export function isLight(query: SelectStmt, params: readonly (string | null)[]): boolean {
  return new Light(params).isLight(query);
}

class Light {
  readonly #params: readonly (string | null)[];
  /** The nodes of the statement: each may be an operand of a call. */
  #nodes = 0;
  /** The items of all select lists. */
  #targets = 0;
  /** The references to columns. */
  #references = 0;
  /** The references in one item of the select list of a block. */
  #most = 1;
  /** How many copies of a column PostgreSQL may make: each block may refer several times to the columns of another. */
  #copies = 1;
  /** The length of the longest value that is not computed. */
  #longest = SEARCHED;
  /** How many times as long a value may become. */
  #growth = 1;
  /** The calls whose time may grow with the product of two lengths. */
  #products = 0;
  /** The relations, and the comparisons that may make columns of two of them equal. */
  #relations = 0;
  #equal = 0;
  #isRecursive = false;
  /** True if the statement composes texts, and if it converts texts to numbers or documents: such a number may have many digits. */
  #isComposing = false;
  #isConverting = false;
  readonly #aliases = new Set<string>();
  /** The references without a relation. Such a name may mean a whole row. */
  readonly #unqualified: string[] = [];

  constructor(params: readonly (string | null)[]) {
    this.#params = params;
  }

  isLight(query: SelectStmt): boolean {
    if (!besidesRow(query).every((q) => this.#select(q))) return false;
    for (const name of this.#unqualified)
      if (this.#aliases.has(name)) {
        this.#grows(this.#targets);
        this.#copies *= this.#targets;
      }
    if (this.#isRecursive && this.#growth > 1) return false;
    if (this.#isComposing && this.#isConverting) return false;
    if (this.#nodes * this.#copies > MAX_COPIED || costOfOrders(this.#relations, this.#equal) > MAX_COPIED) return false;
    const bytes = this.#longest * this.#growth;
    return STEPS_PER_BYTE * (this.#nodes + this.#targets) * bytes + this.#products * bytes ** 2 <= MAX_STEPS;
  }

  /** Looks at a block with its own select list. */
  #select(query: SelectStmt): boolean {
    const most = this.#most;
    this.#most = 1;
    // PostgreSQL plans long chains of queries and joins slowly
    this.#nodes += NODES_OF_A_QUERY;
    const isLight = this.#parts(query);
    this.#copies *= this.#most;
    this.#most = most;
    return isLight;
  }

  /** Looks at a query: each member that it can have (print/select.ts). @returns false if a node is not light */
  #parts(query: SelectStmt): boolean {
    this.#isRecursive ||= query.withClause?.recursive === true;
    const { targetList, fromClause, whereClause, groupClause, sortClause, havingClause, limitCount, limitOffset, withClause, larg, rarg } = query;
    return (
      this.#list(targetList) &&
      this.#list(fromClause) &&
      this.#one(whereClause) &&
      this.#list(groupClause) &&
      this.#list(sortClause) &&
      this.#one(havingClause) &&
      this.#one(limitCount) &&
      this.#one(limitOffset) &&
      (larg === undefined || this.#select(larg)) &&
      (rarg === undefined || this.#select(rarg)) &&
      this.#list(withClause?.ctes) &&
      this.#list(query.distinctClause) &&
      this.#list(query.windowClause) &&
      this.#values(query.valuesLists)
    );
  }

  /** Looks at the rows of VALUES, whose values are columns like the items of a select list. */
  #values(lists: readonly Node[] | undefined): boolean {
    if (lists === undefined) return true;
    this.#relations++;
    for (const list of lists) if ('List' in list) this.#targets += list.List.items?.length ?? 0;
    const before = this.#references;
    const isLight = this.#list(lists);
    this.#most = Math.max(1, this.#references - before);
    return isLight;
  }

  #list(nodes: readonly Node[] | undefined): boolean {
    for (let i = 0; nodes && i < nodes.length; i++) if (!this.#one(nodes[i])) return false;
    return true;
  }

  #one(node: Node | undefined): boolean {
    for (const type in node) return this.#node(type, node[type as keyof typeof node] as never);
    return true;
  }

  /** Looks at all nodes below a value. @returns false if one of them is not light */
  #all(value: object): boolean {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) if (!this.#all(value[i])) return false;
      return true;
    }
    for (const member in value) {
      const inner = (value as Record<string, unknown>)[member];
      if (typeof inner !== 'object' || inner === null) continue;
      if (isNodeName(member)) return this.#node(member, inner as never);
      if (!this.#all(inner)) return false;
    }
    return true;
  }

  #node(type: string, body: never): boolean {
    if (++this.#nodes > MAX_NODES) return false;
    switch (type) {
      case 'ColumnRef':
        return this.#column(body);
      case 'A_Const':
        return this.#constant(body);
      case 'TypeCast':
        return this.#cast(body);
      case 'FuncCall':
        return this.#call(body);
      case 'A_Expr':
        return this.#operation(body);
      case 'RangeVar':
        return this.#table(body);
      case 'SelectStmt':
        return this.#select(body);
      case 'RangeSubselect':
        return this.#named((body as RangeSubselect).alias) && this.#one((body as RangeSubselect).subquery);
      case 'JoinExpr':
        return this.#join(body);
      case 'ParamRef':
        return this.#hasText(sizeOfText(this.#params[((body as ParamRef).number ?? 0) - 1] ?? ''));
      case 'SubLink':
        this.#equal++;
        if ((body as SubLink).subLinkType === 'EXISTS_SUBLINK') this.#copies *= 2;
        return (body as SubLink).subLinkType !== 'ARRAY_SUBLINK' && this.#all(body);
      case 'ResTarget':
        return this.#target(body);
      case 'CommonTableExpr':
        return (body as CommonTableExpr).ctematerialized !== 'CTEMaterializeNever' && this.#all(body);
      default:
        return NEUTRAL.has(type) && this.#all(body);
    }
  }

  #target({ val }: ResTarget): boolean {
    const [most, before] = [this.#most, this.#references];
    this.#targets++;
    const isLight = this.#one(val);
    this.#most = Math.max(most, this.#references - before);
    return isLight;
  }

  #grows(times: number): void {
    this.#growth *= Math.max(1, times);
  }

  #hasLength(bytes: number): boolean {
    this.#longest = Math.max(this.#longest, bytes);
    return true;
  }

  #hasText({ made, wild, raw }: Size): boolean {
    this.#isComposing ||= raw === true;
    return this.#hasLength(made + wild);
  }

  #column({ fields }: ColumnRef): boolean {
    const last = fields?.at(-1);
    this.#references++;
    if (last === undefined) return true;
    if (fields?.length === 1) this.#unqualified.push(nameOf(last) ?? '');
    // a star is a row
    return 'String' in last;
  }

  #constant(constant: A_Const): boolean {
    return this.#hasText(sizeOfConstant(constant));
  }

  #cast({ arg, typeName }: TypeCast): boolean {
    if (arg === undefined || typeName?.arrayBounds !== undefined || SLOW_TYPES.has(lastName(typeName?.names))) return false;
    this.#isConverting ||= hasNumbers(typeName);
    this.#isComposing ||= lastName(typeName?.names) === 'uuid';
    return this.#hasLength(SEARCHED + paddingOf(typeName)) && this.#one(arg);
  }

  #table({ relname = '', alias }: RangeVar): boolean {
    this.#relations++;
    this.#aliases.add(alias?.aliasname ?? relname);
    return true;
  }

  #named(alias: Alias | undefined): boolean {
    if (alias !== undefined) this.#aliases.add(alias.aliasname ?? '');
    return true;
  }

  #join({ larg, rarg, quals, alias, join_using_alias, usingClause = [], isNatural }: JoinExpr): boolean {
    this.#equal += usingClause.length;
    return !isNatural && this.#named(alias) && this.#named(join_using_alias) && this.#one(larg) && this.#one(rarg) && this.#one(quals);
  }

  #operation(operation: A_Expr): boolean {
    const { kind = '', name, lexpr, rexpr } = operation;
    const symbol = lastName(name);
    if (EQUALITY.test(symbol) || comparesTwo(operation)) this.#equal++;
    if (kind === 'AEXPR_OP' && COMBINING.has(symbol)) {
      this.#grows(2);
      this.#isComposing ||= symbol === '||';
      if (symbol !== '||' && symbol !== '+') this.#products++;
    } else if (!(kind === 'AEXPR_OP' ? COMPARISONS.has(symbol) : COMPARING.test(kind))) return false;
    return this.#left(lexpr, kind === 'AEXPR_OP' ? 0 : copiesOfLeft(kind, lexpr, rexpr) - 1) && this.#one(rexpr);
  }

  /** Looks at an operand of which PostgreSQL makes some copies. */
  #left(node: Node | undefined, copies: number): boolean {
    const [nodes, references] = [this.#nodes, this.#references];
    const isLight = this.#one(node);
    this.#nodes += copies * (this.#nodes - nodes);
    this.#references += copies * (this.#references - references);
    return isLight && this.#nodes <= MAX_NODES;
  }

  #call(call: FuncCall): boolean {
    const name = functionName(call);
    if (!FREE.has(name) && !LINEAR.has(name)) return false;
    this.#isComposing ||= name === 'md5';
    if (!SHORT.has(name) && !NUMERIC.has(name)) {
      // an element of an array may be longer than what is known of the array
      if (!PLAIN.has(name) || name === 'unnest') return false;
      if ((name === 'round' || name === 'trunc') && call.args?.[1] && (constant(call.args[1]) ?? SEARCHED) > MAX_ROUNDED) return false;
      this.#isComposing ||= !KEEPING.has(name);
      this.#grows(call.args?.length ?? 0);
    }
    return this.#list(call.args) && this.#list(call.agg_order) && this.#one(call.agg_filter) && (call.over === undefined || this.#all(call.over));
  }
}
