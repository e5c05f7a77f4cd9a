/**
 * The values of `inet` columns as texts. PostgreSQL shows an address without a mask as `10.0.0.1`, which is the value of a property of type `string`, but its cast to text is
 * `10.0.0.1/32` (Network Address Functions in its manual). So a cast of such a property to text adds what PostgreSQL adds. Other expressions have the value.
 */
import type { TypeCast } from '@pgsql/types';
import { clone, lastName, type Node, operator, text } from '../plan/tree.ts';
import { columnOf } from './names.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';

const TEXTS: ReadonlySet<string> = new Set(['text', 'varchar']);

/** PostgreSQL's cast to text of an `inet` column; undefined for other casts, which are resolved as they are. */
export function addressAsText(resolver: Resolver, { arg, typeName }: TypeCast, scope: Scope): Node | undefined {
  if (arg === undefined || !('ColumnRef' in arg) || !TEXTS.has(lastName(typeName?.names)) || typeName?.typmods || typeName?.arrayBounds?.length)
    return undefined;
  const last = arg.ColumnRef.fields?.at(-1);
  if (last === undefined || 'A_Star' in last) return undefined;
  const found = columnOf(resolver, arg.ColumnRef, scope);
  if (!found?.column.isAddress) return undefined;
  const value = (): Node => clone(found.node);
  const when = (mark: string, result: Node): Node => ({
    CaseWhen: { expr: { A_Expr: { kind: 'AEXPR_LIKE', name: [{ String: { sval: '~~' } }], lexpr: value(), rexpr: text(mark) } }, result },
  });
  const masked = (mask: string): Node => operator('||', value(), text(mask));
  // a mask of a policy may have none of these characters
  return { CaseExpr: { args: [when('%/%', value()), when('%:%', masked('/128')), when('%.%', masked('/32'))], defresult: found.node } };
}
