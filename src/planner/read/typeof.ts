/**
 * pg_typeof returns a regtype. PostgreSQL would cast a text that is combined with it (in CASE, UNION, COALESCE, a comparison ...) to regtype, and look it up in its
 * catalog. The answer would reveal whether a type or table of that name exists. So each call gets a cast to text.
 */
import { lastName, type Node, rewrite } from '../plan/tree.ts';

const TEXT = { names: [{ String: { sval: 'text' } }], typemod: -1 };

/** Wraps each call of pg_typeof in a cast to text (in place). */
export function typesAsText<T>(tree: T): T {
  return rewrite(tree, (node) => {
    if (!('FuncCall' in node) || lastName(node.FuncCall.funcname) !== 'pg_typeof') return undefined;
    const { args, ...call } = node.FuncCall;
    const arg: Node = { FuncCall: { ...call, ...(args ? { args: typesAsText(args) } : {}) } };
    return { TypeCast: { arg, typeName: TEXT, ...(call.location === undefined ? {} : { location: call.location }) } };
  }) as T;
}
