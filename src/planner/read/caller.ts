/**
 * The functions that return facts about the caller: `svc_username()`, `svc_has_role(text)`, `svc_claim(text)`, also with the product's name as prefix
 * (docs/design/policies.md#functions-of-the-caller).
 */
import type { FuncCall, SelectStmt } from '@pgsql/types';
import { badRequest } from '../../errors.ts';
import { fold } from '../../ontology/names.ts';
import { boolean, call, cast, lastName, type Node, nullValue, rewrite, text } from '../plan/tree.ts';
import type { CallerFacts } from '../secure/access.ts';

const ARGUMENTS: Readonly<Record<string, number>> = { username: 0, has_role: 1, claim: 1 };

/** The names of the functions by product, with either prefix. */
const CALLER_FUNCTIONS = new Map<string, ReadonlySet<string>>();

function callerFunctions(product: string): ReadonlySet<string> {
  let names = CALLER_FUNCTIONS.get(product);
  if (names === undefined) {
    names = new Set(['svc', product].flatMap((p) => Object.keys(ARGUMENTS).map((f) => `${p}_${f}`)));
    CALLER_FUNCTIONS.set(product, names);
  }
  return names;
}

/** Some allowed functions, and the functions of the caller. */
export function withCallerFunctions(allowed: ReadonlySet<string>, product: string): ReadonlySet<string> {
  const own = callerFunctions(product);
  return allowed.size === 0 ? own : new Set([...allowed, ...own]);
}

const NOBODY: CallerFacts = { username: '', roles: [], claims: {} };

/**
 * Replaces calls of the functions by their values for a caller (in place).
 * @returns the tree, and whether it called one of the functions
 * @throws SvcError 400 `bad_call` if the arguments do not match
 */
export function bindCaller<T>(tree: T, product: string, facts: CallerFacts = NOBODY): { readonly tree: T; readonly isUsed: boolean } {
  let isUsed = false;
  const bound = rewrite(tree, (n) => {
    const name = 'FuncCall' in n ? functionOf(n.FuncCall, product) : undefined;
    if (name === undefined || !('FuncCall' in n)) return undefined;
    isUsed = true;
    const { args = [], agg_filter, over, agg_order, agg_distinct, agg_star } = n.FuncCall;
    if (args.length !== ARGUMENTS[name] || agg_filter || over || agg_order || agg_distinct || agg_star) {
      throw badRequest('bad_call', `\`${product}_${name}\` takes ${ARGUMENTS[name] === 0 ? 'no argument' : 'one text'}`);
    }
    if (name === 'username') return cast(text(facts.username), 'text');
    const arg = bindCaller(args[0] as Node, product, facts).tree;
    return name === 'has_role' ? hasRole(arg, facts.roles) : claim(arg, facts.claims);
  }) as T;
  return { tree: bound, isUsed };
}

/** PostgreSQL truncates longer names. */
const LONGEST_NAME = 63;

/**
 * Names the columns of the outermost select list that are a call of one of the functions without an alias (in place): `svc_username()` is named by its value, as clients
 * of the field read it, the others by the function as written. Call it before `bindCaller`, which replaces the calls.
 */
export function nameCalls(stmt: SelectStmt, product: string, { username }: CallerFacts = NOBODY): void {
  let first = stmt;
  while (first.larg) first = first.larg;
  for (const t of first.targetList ?? []) {
    const { name, val } = 'ResTarget' in t ? t.ResTarget : {};
    if (name !== undefined || !val || !('FuncCall' in val)) continue;
    const called = functionOf(val.FuncCall, product);
    if (called === undefined || !('ResTarget' in t)) continue;
    const value = called === 'username' && new TextEncoder().encode(username).length <= LONGEST_NAME ? username : '';
    t.ResTarget.name = value === '' ? lastName(val.FuncCall.funcname) : value;
  }
}

/** The function of the caller that SQL calls, without its prefix; undefined for any other. */
export function functionOf(called: FuncCall, product: string): string | undefined {
  const name = called.funcname?.length === 1 ? lastName(called.funcname) : '';
  for (const prefix of ['svc_', `${product}_`])
    if (name.startsWith(prefix) && Object.hasOwn(ARGUMENTS, name.slice(prefix.length))) return name.slice(prefix.length);
  return undefined;
}

/** The text of a constant, or undefined. */
export const constantOf = (node: Node): string | undefined => ('A_Const' in node && node.A_Const.sval ? (node.A_Const.sval.sval ?? '') : undefined);

/** PostgreSQL's `lower` for the collation "C", which does not depend on the database: it knows the letters of ASCII only. */
const asciiLower = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The texts that name a role, for ASCII letters in any case. The other letters are as declared, or in lower, upper or title case. */
function spellingsOf(role: string): readonly string[] {
  const [first = '', ...others] = role;
  const spelled = [role, fold(role), role.toUpperCase(), first.toUpperCase() + fold(others.join(''))];
  return spelled.filter((name) => fold(name) === fold(role)).map(asciiLower);
}

/**
 * `svc_has_role`: names of roles are case-insensitive. A name that the database computes must not match more roles than `fold`: PostgreSQL's `lower` of a name in
 * another collation is another one for some letters (`İ`).
 */
function hasRole(role: Node, roles: readonly string[]): Node {
  const constant = constantOf(role);
  if (constant !== undefined) return boolean(roles.some((r) => fold(r) === fold(constant)));
  const ownRoles = { A_ArrayExpr: { elements: [...new Set(roles.flatMap(spellingsOf))].map(text) } } as Node;
  const list: Node = {
    TypeCast: { arg: ownRoles, typeName: { names: [{ String: { sval: 'text' } }], arrayBounds: [{ Integer: { ival: -1 } }], typemod: -1 } },
  };
  const name: Node = { CollateClause: { arg: role, collname: [{ String: { sval: 'C' } }] } };
  return { A_Expr: { kind: 'AEXPR_OP_ANY', name: [{ String: { sval: '=' } }], lexpr: call('lower', [name]), rexpr: list } };
}

/** `svc_claim`: the claim as a text, or NULL if the token does not have it. */
function claim(name: Node, claims: CallerFacts['claims']): Node {
  const constant = constantOf(name);
  const textOf = (value: string | undefined): Node => cast(value === undefined ? nullValue() : text(value), 'text');
  if (constant !== undefined) return textOf(Object.hasOwn(claims, constant) ? claims[constant] : undefined);
  const args = Object.entries(claims).map(([n, v]): Node => ({ CaseWhen: { expr: text(n), result: text(v) } }));
  if (args.length === 0) return textOf(undefined);
  return cast({ CaseExpr: { arg: name, args } }, 'text');
}
