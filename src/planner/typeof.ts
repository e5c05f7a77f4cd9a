/**
 * pg_typeof gives a value of type regtype. A text next to it (in CASE, UNION, COALESCE, a comparison ...) would become a regtype too, and PostgreSQL
 * would look it up in its catalog: the answer would tell whether a type or table of that name exists. So each call gets a cast to text.
 */
import { lastName, type Node, rewrite } from './tree.ts';

const TEXT = { names: [{ String: { sval: 'text' } }], typemod: -1 };

/** Puts each call of pg_typeof under a cast to text (in place). */
export function typesAsText<T>(tree: T): T {
  return rewrite(tree, (node) => {
    if (!('FuncCall' in node) || lastName(node.FuncCall.funcname) !== 'pg_typeof') return undefined;
    const { args, ...call } = node.FuncCall;
    const arg: Node = { FuncCall: { ...call, ...(args ? { args: typesAsText(args) } : {}) } };
    return { TypeCast: { arg, typeName: TEXT, ...(call.location === undefined ? {} : { location: call.location }) } };
  }) as T;
}
