/** Which expressions are constant. PostgreSQL computes them when it plans a statement, and keeps their values and all parts of them. */
import type { A_Expr, FuncCall, TypeCast } from '@pgsql/types';
import { FOLDING, isVolatileFunction, SET_RETURNING } from '../guard/index.ts';
import { lastName, type Node } from '../plan/tree.ts';
import { REPEATING } from './functions.ts';
import { paddingOf } from './results.ts';
import { constant, functionName } from './steps.ts';

/** True for a call whose value PostgreSQL does not know when it plans the statement, also if all its arguments are constant. */
export const isNeverConstant = (call: FuncCall): boolean => {
  const name = functionName(call);
  return call.over !== undefined || FOLDING.has(name) || SET_RETURNING.has(name) || isVolatileFunction(name);
};

/** The name of what makes a new value of constant parts; undefined for a node that selects one of them, and for one that counts by itself. */
export function makerOf(type: string, body: never): string | undefined {
  switch (type) {
    case 'A_ArrayExpr':
    case 'A_Indirection':
      return 'ARRAY';
    case 'RowExpr':
      return 'ROW';
    case 'MinMaxExpr':
      return 'greatest';
    case 'A_Expr':
      return lastName((body as A_Expr).name);
    case 'TypeCast': {
      const { typeName } = body as TypeCast;
      return paddingOf(typeName) > 0 ? undefined : lastName(typeName?.names);
    }
    case 'FuncCall':
      return isCounted(body) ? undefined : functionName(body);
    default:
      return undefined;
  }
}

/** True for a call that makes a text of constant length, which counts with other arguments too. */
export const isCounted = (call: FuncCall): boolean =>
  REPEATING.has(functionName(call)) && constant((call.args as readonly Node[] | undefined)?.[1]) !== undefined;

/** True for a value that PostgreSQL never knows when it plans the statement: that of a sub-query or of an aggregate. */
export const isFresh = (type: string, body: never): boolean => type === 'SubLink' || type === 'SelectStmt' || (type === 'FuncCall' && isNeverConstant(body));
