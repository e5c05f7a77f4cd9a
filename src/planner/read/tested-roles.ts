/** The roles for which SQL calls `svc_has_role`, also if it composes their names. */
import { fold } from '../../ontology/names.ts';
import { lastName, type Node, walk } from '../plan/tree.ts';
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
}

/** Collects the roles of several pieces of SQL. */
export class RoleTests implements TestedRoles {
  readonly names = new Set<string>();
  readonly patterns = new Map<string, Pattern>();
  any = false;

  /** Adds the roles that a tree tests. */
  add(tree: unknown, product: string): void {
    walk(tree, (n) => {
      if (!('FuncCall' in n) || functionOf(n.FuncCall, product) !== 'has_role') return undefined;
      for (const pattern of patternsOf(n.FuncCall.args?.[0])) this.#note(pattern);
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

/** The names that an expression may have. */
function patternsOf(node: Node | undefined): readonly Pattern[] {
  const found = node === undefined ? UNKNOWN : namesOf(node);
  return found.length > MOST ? UNKNOWN : found;
}

function namesOf(node: Node): readonly Pattern[] {
  const constant = constantOf(node);
  if (constant !== undefined) return [[constant]];
  // a type with a length may cut the name
  if ('TypeCast' in node) return node.TypeCast.typeName?.typmods ? UNKNOWN : patternsOf(node.TypeCast.arg);
  if ('CollateClause' in node) return patternsOf(node.CollateClause.arg);
  if ('CaseExpr' in node) {
    const { args = [], defresult } = node.CaseExpr;
    return [...args.flatMap((a) => ('CaseWhen' in a ? patternsOf(a.CaseWhen.result) : UNKNOWN)), ...(defresult ? patternsOf(defresult) : [])];
  }
  if ('CoalesceExpr' in node) return (node.CoalesceExpr.args ?? []).flatMap(patternsOf);
  if ('A_Expr' in node && node.A_Expr.kind === 'AEXPR_OP' && lastName(node.A_Expr.name) === '||') return joined([node.A_Expr.lexpr, node.A_Expr.rexpr]);
  if (!('FuncCall' in node) || node.FuncCall.func_variadic) return UNKNOWN;
  const { funcname, args = [] } = node.FuncCall;
  if (lastName(funcname) === 'concat') return joined(args);
  // names of roles are case-insensitive
  return ['lower', 'upper', 'initcap'].includes(lastName(funcname)) && args.length === 1 ? patternsOf(args[0]) : UNKNOWN;
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
