/**
 * What SQL may ask about its caller: `svc_username()`, `svc_has_role(text)`, `svc_claim(text)`, also under the product's name
 * (docs/design/policies.md#functions-of-the-caller).
 */
import type { FuncCall } from '@pgsql/types';
import { badRequest } from '../errors.ts';
import { fold } from '../ontology/names.ts';
import type { CallerFacts } from './access.ts';
import { boolean, call, cast, lastName, type Node, nullValue, rewrite, text, walk } from './tree.ts';

const ARGUMENTS: Readonly<Record<string, number>> = { username: 0, has_role: 1, claim: 1 };

/** The names under which the functions are called. */
export const callerFunctions = (product: string): ReadonlySet<string> =>
  new Set(['svc', product].flatMap((p) => Object.keys(ARGUMENTS).map((f) => `${p}_${f}`)));

const NOBODY: CallerFacts = { username: '', roles: [], claims: {} };

/**
 * Puts what is known of the caller in the places of the functions (in place). Gives the tree, and whether something was asked.
 * @throws SvcError 400 `bad_call` for other arguments
 */
export function bindCaller<T>(tree: T, product: string, facts: CallerFacts = NOBODY): { readonly tree: T; readonly asked: boolean } {
  let asked = false;
  const bound = rewrite(tree, (n) => {
    const name = 'FuncCall' in n ? functionOf(n.FuncCall, product) : undefined;
    if (name === undefined || !('FuncCall' in n)) return undefined;
    asked = true;
    const { args = [], agg_filter, over, agg_order, agg_distinct, agg_star } = n.FuncCall;
    if (args.length !== ARGUMENTS[name] || agg_filter || over || agg_order || agg_distinct || agg_star) {
      throw badRequest('bad_call', `\`${product}_${name}\` takes ${ARGUMENTS[name] === 0 ? 'no argument' : 'one text'}`);
    }
    if (name === 'username') return cast(text(facts.username), 'text');
    const arg = bindCaller(args[0] as Node, product, facts).tree;
    return name === 'has_role' ? hasRole(arg, facts.roles) : claim(arg, facts.claims);
  }) as T;
  return { tree: bound, asked };
}

function functionOf(called: FuncCall, product: string): string | undefined {
  const name = called.funcname?.length === 1 ? lastName(called.funcname) : '';
  for (const prefix of ['svc_', `${product}_`])
    if (name.startsWith(prefix) && Object.hasOwn(ARGUMENTS, name.slice(prefix.length))) return name.slice(prefix.length);
  return undefined;
}

const constantOf = (node: Node): string | undefined => ('A_Const' in node && node.A_Const.sval ? (node.A_Const.sval.sval ?? '') : undefined);

/** The roles for which SQL calls `svc_has_role`. */
export interface AskedRoles {
  /** Folded names. */
  readonly names: ReadonlySet<string>;
  /** Whether a role is given by an expression: values of rows may name any role. */
  readonly any: boolean;
}

/** The roles for which a tree calls `svc_has_role`. */
export function rolesAskedIn(tree: unknown, product: string): AskedRoles {
  const names = new Set<string>();
  let any = false;
  walk(tree, (n) => {
    if (!('FuncCall' in n) || functionOf(n.FuncCall, product) !== 'has_role') return undefined;
    const [role] = n.FuncCall.args ?? [];
    const name = role && constantOf(role);
    if (name === undefined) any = true;
    else names.add(fold(name));
    return undefined;
  });
  return { names, any };
}

/** Roles are compared as names are: without case. */
function hasRole(role: Node, roles: readonly string[]): Node {
  const asked = constantOf(role);
  if (asked !== undefined) return boolean(roles.some((r) => fold(r) === fold(asked)));
  const held = { A_ArrayExpr: { elements: roles.map((r) => text(fold(r))) } } as Node;
  const list: Node = { TypeCast: { arg: held, typeName: { names: [{ String: { sval: 'text' } }], arrayBounds: [{ Integer: { ival: -1 } }], typemod: -1 } } };
  return { A_Expr: { kind: 'AEXPR_OP_ANY', name: [{ String: { sval: '=' } }], lexpr: call('lower', [role]), rexpr: list } };
}

/** The claim as a text; NULL where the token has none of the name. */
function claim(name: Node, claims: CallerFacts['claims']): Node {
  const asked = constantOf(name);
  const textOf = (value: string | undefined): Node => cast(value === undefined ? nullValue() : text(value), 'text');
  if (asked !== undefined) return textOf(Object.hasOwn(claims, asked) ? claims[asked] : undefined);
  const args = Object.entries(claims).map(([n, v]): Node => ({ CaseWhen: { expr: text(n), result: text(v) } }));
  if (args.length === 0) return textOf(undefined);
  return cast({ CaseExpr: { arg: name, args } }, 'text');
}
