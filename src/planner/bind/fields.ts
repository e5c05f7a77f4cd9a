/**
 * Fields of composite values in a query over concepts (guard/fields.ts explains why they are checked). A field of a whole row is a column of its relation. Any other value
 * must be known to have the field. It is a row that the statement builds, the result of a function with known columns, or a column of a sub-select that returns one of
 * these.
 */
import type { A_Indirection, ColumnRef, ResTarget } from '@pgsql/types';
import { badRequest, didYouMean, nearest, type SvcError } from '../../errors.ts';
import { afterSteps, type Composite, compositeOf, refusedField, stepName } from '../guard/index.ts';
import { clone, fieldsOf, locationIn, type Node } from '../plan/tree.ts';
import { aliasOf } from './aliases.ts';
import { columnOf, relationOf } from './names.ts';
import type { Found, Relation } from './relations.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';

/** Resolves fields and elements of a value (in place). @throws SvcError 400 `forbidden_function` for a field that the value is not known to have */
export function indirection(resolver: Resolver, node: A_Indirection, scope: Scope): Node {
  const row = rowField(resolver, node, scope);
  if (row) return resolver.expression(row, scope);
  if (node.indirection?.some((step) => 'A_Star' in step)) throw refusedField('*');
  fieldsAfter(resolver, node, scope);
  if (node.arg) node.arg = resolver.expression(node.arg, scope);
  for (const step of node.indirection ?? []) {
    if (!('A_Indices' in step)) continue;
    const { lidx, uidx } = step.A_Indices;
    if (lidx) step.A_Indices.lidx = resolver.expression(lidx, scope);
    if (uidx) step.A_Indices.uidx = resolver.expression(uidx, scope);
  }
  return { A_Indirection: node };
}

/** The known fields of the values of a column, or of a select alias. */
export function compositeAt(resolver: Resolver, ref: ColumnRef, scope: Scope): Composite | undefined {
  if (ref.fields?.some((f) => 'A_Star' in f)) return undefined;
  const found = columnOf(resolver, ref, scope);
  if (found) return found.column.composite;
  const alias = aliasFor(ref, scope);
  return alias && compositeOf(alias.expression, (inner) => compositeAt(resolver, inner, alias.scope));
}

/** A select item `(c).f` or `(c).*` as `c.f` or `c.*`. @throws SvcError 400 `unknown_column` */
export function rowTarget(resolver: Resolver, item: ResTarget, scope: Scope): ResTarget {
  const { val } = item;
  const row = val && 'A_Indirection' in val ? resolver.at(locationIn(val), () => rowField(resolver, val.A_Indirection, scope)) : undefined;
  return row ? { ...item, val: row } : item;
}

/** Expands `(expr).*` in a select list to a column for each field, as PostgreSQL does; undefined for any other item. */
export function fieldStar(resolver: Resolver, item: ResTarget, scope: Scope): readonly Found[] | undefined {
  const val = item.val as Node;
  if (!('A_Indirection' in val)) return undefined;
  const { indirection: steps = [] } = val.A_Indirection;
  const last = steps.at(-1);
  if (!last || !('A_Star' in last)) return undefined;
  return resolver.framedAt(locationIn(val), () => {
    const base: A_Indirection = { ...val.A_Indirection, indirection: steps.slice(0, -1) };
    const composite = fieldsAfter(resolver, base, scope);
    if (!composite) throw refusedField('*');
    return [...composite.fields].map((f) => {
      const { arg, indirection: before = [] } = clone(base);
      const field: Node = { A_Indirection: { ...(arg ? { arg } : {}), indirection: [...before, { String: { sval: f } }] } };
      return { node: resolver.expression(field, scope), column: { name: f, key: f } };
    });
  });
}

/** The known fields of a value after all steps. @throws SvcError 400 `forbidden_function` */
function fieldsAfter(resolver: Resolver, node: A_Indirection, scope: Scope): Composite | undefined {
  return afterSteps<never>(
    node,
    (ref) => compositeAt(resolver, ref, scope),
    (field) => {
      throw refusedField(field);
    },
  );
}

/** The select alias that an unqualified name means, in clauses that may name aliases. */
function aliasFor(ref: ColumnRef, scope: Scope): { readonly expression: Node; readonly scope: Scope } | undefined {
  const [name, ...more] = fieldsOf(ref);
  if (name === undefined || more.length > 0) return undefined;
  for (let s: Scope | undefined = scope; s; s = s.outer) {
    const alias = s.mode === 'none' ? undefined : aliasOf(s, name);
    if (alias !== undefined) return { expression: s.aliases.get(alias) as Node, scope: s };
  }
  return undefined;
}

/** Writes `(c).f` and `(c.*).f` as `c.f` if `c` is a relation; undefined for any other value. @throws SvcError 400 `unknown_column` */
function rowField(resolver: Resolver, { arg, indirection: steps = [] }: A_Indirection, scope: Scope): Node | undefined {
  const [step, ...rest] = steps;
  const name = step && stepName(step);
  if (!arg || !('ColumnRef' in arg) || step === undefined || name === undefined) return undefined;
  const { fields = [] } = arg.ColumnRef;
  const last = fields.at(-1);
  const isStar = last !== undefined && 'A_Star' in last;
  if (isStar ? fields.length < 2 : fields.length !== 1) return undefined;
  const path = isStar ? fields.slice(0, -1) : fields;
  const called = fieldsOf({ fields: path }).at(-1) ?? '';
  if (!isStar && (columnOf(resolver, arg.ColumnRef, scope) || aliasFor(arg.ColumnRef, scope) || !scope.relation(called))) return undefined;
  const relation = relationOf(resolver, fieldsOf({ fields: path }), scope);
  const field = resolver.written(name);
  if (name !== '*' && !relation.find(field)) throw relation.explain?.(field) ?? unknownColumn(field, called, relation);
  const ref: Node = { ColumnRef: { ...arg.ColumnRef, fields: [...path, step] } };
  return rest.length > 0 ? { A_Indirection: { arg: ref, indirection: rest } } : ref;
}

function unknownColumn(name: string, called: string, relation: Relation): SvcError {
  const near = nearest(name, relation.names());
  return badRequest('unknown_column', `unknown column \`${name}\` of \`${called}\`${didYouMean(near)}`);
}
