/** The roles for which SQL calls `svc_has_role`, also if it composes their names. */
import type { CaseExpr } from '@pgsql/types';
import { fold } from '../../ontology/names.ts';
import { isSubQuery, lastName, type Node, walk } from '../plan/tree.ts';
import { constantOf, functionOf } from './caller.ts';

/** The texts of a name before, between and after the parts that only the database knows. One text: the name itself. */
type Pattern = readonly [string, ...string[]];

/** The roles for which SQL calls `svc_has_role`. */
export interface TestedRoles {
  /** Folded names. */
  readonly names: ReadonlySet<string>;
  /** Names with unknown parts, by their text. */
  readonly patterns: ReadonlyMap<string, Pattern>;
  /** True if the whole name of a role is computed from values of rows: it may then be any role. */
  readonly any: boolean;
  /** True if a name is computed only from constants, and it is not known which: `reverse('sfeihc')`. */
  readonly isComputed: boolean;
}

/** Collects the roles of several pieces of SQL. */
export class RoleTests implements TestedRoles {
  readonly names = new Set<string>();
  readonly patterns = new Map<string, Pattern>();
  any = false;
  isComputed = false;

  /** Adds the roles that a tree tests. */
  add(tree: unknown, product: string): void {
    walk(tree, (n) => {
      if (!('FuncCall' in n) || functionOf(n.FuncCall, product) !== 'has_role') return undefined;
      const [name] = n.FuncCall.args ?? [];
      for (const pattern of patternsOf(name)) this.#note(pattern);
      this.isComputed ||= name !== undefined && partsOf(name).some((part) => isUnknown(part) && !varies(part, product));
      return undefined;
    });
  }

  /** Adds the names that a tree composes anywhere: a call may test one through a column of a sub-query. */
  addComposed(tree: unknown): void {
    walk(tree, (n) => {
      for (const pattern of composedIn(n)) if (pattern.some((part) => part !== '')) this.#note(pattern);
      return undefined;
    });
  }

  #note(pattern: Pattern): void {
    if (pattern.length === 1) this.names.add(fold(pattern[0]));
    else if (pattern.every((part) => part === '')) this.any = true;
    else this.patterns.set(JSON.stringify(pattern), pattern);
  }
}

/** True if a call of `svc_has_role` names a role, or a name that it composes of constants and values of rows may be that of the role. `any` does not count. */
export const namesRole = ({ names, patterns }: TestedRoles, role: string): boolean =>
  names.has(fold(role)) || [...patterns.values()].some((pattern) => matches(pattern, role));

/** Folds a part of a name: a sigma at its end is not always at the end of the name. */
const folded = (text: string): string => fold(text).replaceAll('ς', 'σ');

function matches([first, ...others]: Pattern, role: string): boolean {
  const name = folded(role);
  const last = folded(others.pop() ?? '');
  let at = folded(first).length;
  if (!name.startsWith(folded(first))) return false;
  for (const part of others.map(folded)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** Any text. */
const UNKNOWN: readonly Pattern[] = [['', '']];
/** The number of names that one expression may have, and of the texts of one name. With more it may have any name. */
const MOST = 64;

/** Names of roles are case-insensitive. */
const CASES = ['lower', 'upper', 'initcap'];
const KEEPING = ['text', 'varchar'];

/** The names that an expression may have. */
function patternsOf(node: Node | undefined): readonly Pattern[] {
  const found = node === undefined ? UNKNOWN : namesOf(node);
  return found.length > MOST ? UNKNOWN : found;
}

function namesOf(node: Node): readonly Pattern[] {
  const constant = constantOf(node);
  if (constant !== undefined) return [[constant]];
  if ('A_Const' in node && node.A_Const.ival) return [[String(node.A_Const.ival.ival ?? 0)]];
  if ('TypeCast' in node || 'CollateClause' in node) return patternsOf(keptIn(node));
  if ('CaseExpr' in node) {
    const { args = [], defresult } = node.CaseExpr;
    return [...args.flatMap((a) => ('CaseWhen' in a ? patternsOf(a.CaseWhen.result) : UNKNOWN)), ...(defresult ? patternsOf(defresult) : [])];
  }
  if ('CoalesceExpr' in node) return (node.CoalesceExpr.args ?? []).flatMap(patternsOf);
  if ('A_Expr' in node && node.A_Expr.kind === 'AEXPR_OP' && lastName(node.A_Expr.name) === '||') return joined([node.A_Expr.lexpr, node.A_Expr.rexpr]);
  if (!('FuncCall' in node) || node.FuncCall.func_variadic) return UNKNOWN;
  const { funcname, args = [] } = node.FuncCall;
  if (lastName(funcname) === 'concat') return joined(args);
  return CASES.includes(lastName(funcname)) && args.length === 1 ? patternsOf(args[0]) : UNKNOWN;
}

/** The text that a cast or COLLATE keeps as it is. Other types change texts: `bpchar` drops blanks at the end, a type with a length cuts them. */
function keptIn(node: Node): Node | undefined {
  if ('CollateClause' in node) return node.CollateClause.arg;
  const { typeName, arg } = 'TypeCast' in node ? node.TypeCast : {};
  return KEEPING.includes(lastName(typeName?.names)) && !typeName?.typmods && !typeName?.arrayBounds ? arg : undefined;
}

/** The parts that an expression composes a name of, or that are one. */
function partsOf(node: Node): readonly Node[] {
  const parts =
    'CaseExpr' in node
      ? resultsOf(node.CaseExpr)
      : 'CoalesceExpr' in node
        ? node.CoalesceExpr.args
        : 'A_Expr' in node && lastName(node.A_Expr.name) === '||'
          ? [node.A_Expr.lexpr, node.A_Expr.rexpr]
          : 'FuncCall' in node && ['concat', ...CASES].includes(lastName(node.FuncCall.funcname))
            ? node.FuncCall.args
            : [keptIn(node)].filter((kept) => kept !== undefined);
  return parts?.length ? parts.flatMap((part) => (part ? partsOf(part) : [])) : [node];
}

const resultsOf = ({ args = [], defresult }: CaseExpr): readonly Node[] =>
  [...args.map((a) => ('CaseWhen' in a ? a.CaseWhen.result : a)), defresult].filter((n) => n !== undefined);

const isUnknown = (node: Node): boolean =>
  !('A_Const' in node && node.A_Const.isnull) && composedIn(node).length === 0 && patternsOf(node).some((pattern) => pattern.length > 1);

/** True if the value of an expression depends on a row, the caller or the time. The conditions of CASE select a value and are no part of it. */
function varies(node: Node, product: string): boolean {
  let found = false;
  walk([node], (n) => {
    found ||= 'ColumnRef' in n || isSubQuery(n) || 'SQLValueFunction' in n;
    if ('FuncCall' in n) found ||= functionOf(n.FuncCall, product) !== undefined || !n.FuncCall.args?.length;
    if (!('CaseExpr' in n)) return !found;
    found ||= resultsOf(n.CaseExpr).some((result) => varies(result, product));
    return false;
  });
  return found;
}

/** The texts that a node composes: `||`, `concat`, `concat_ws` and `format`. */
function composedIn(node: Node): readonly Pattern[] {
  if ('A_Expr' in node) return lastName(node.A_Expr.name) === '||' ? patternsOf(node) : [];
  if (!('FuncCall' in node)) return [];
  const { funcname, args: [first, ...others] = [] } = node.FuncCall;
  const name = lastName(funcname);
  if (name === 'concat') return patternsOf(node);
  if (name === 'concat_ws') return joined(others.flatMap((part, i) => (i === 0 ? [part] : [first, part])));
  const parts = name === 'format' && first ? constantOf(first)?.split(/%[^%sIL]*[sIL]/) : undefined;
  return parts?.length ? [parts as unknown as Pattern] : [];
}

/** The names that a concatenation may have. */
function joined(parts: readonly (Node | undefined)[]): readonly Pattern[] {
  let all: readonly Pattern[] = [['']];
  for (const part of parts) {
    const next = patternsOf(part);
    if (all.length * next.length > MOST) return UNKNOWN;
    all = all.flatMap((before) => next.map((after) => followed(before, after)));
  }
  return all.some((pattern) => pattern.length > MOST) ? UNKNOWN : all;
}

/** A name of one pattern, followed by a name of another. */
function followed(before: Pattern, [first, ...others]: Pattern): Pattern {
  const between = `${before.at(-1)}${first}`;
  // two unknown parts without a text between them are one
  const isOne = between === '' && before.length > 1 && others.length > 0;
  return [...before.slice(0, -1), ...(isOne ? [] : [between]), ...others] as unknown as Pattern;
}
