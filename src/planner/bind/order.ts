/** GROUP BY and ORDER BY, in which an unqualified name may be a select alias. */
import type { SortBy } from '@pgsql/types';
import { badRequest, didYouMean, nearest } from '../../errors.ts';
import { column, fieldsOf, type Node } from '../plan/tree.ts';
import { columnName } from '../read/names.ts';
import { aliasOf } from './aliases.ts';
import type { OutColumn } from './relations.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';

/** Resolves GROUP BY (in place). */
export function groups(resolver: Resolver, groups: Node[] | undefined, scope: Scope): void {
  for (let i = 0; i < (groups?.length ?? 0); i++) {
    const g = (groups as Node[])[i] as Node;
    (groups as Node[])[i] = groupItem(resolver, g, scope);
  }
}

function groupItem(resolver: Resolver, node: Node, scope: Scope): Node {
  if ('GroupingSet' in node) {
    groups(resolver, node.GroupingSet.content, scope);
    return node;
  }
  if ('ColumnRef' in node && fieldsOf(node.ColumnRef).length === 1) {
    const name = fieldsOf(node.ColumnRef)[0] ?? '';
    const alias = aliasOf(scope, name);
    if (alias !== undefined && !resolver.at(node.ColumnRef.location, () => scope.own(resolver.written(name)))) return column(alias);
  }
  return resolver.expression(node, scope);
}

/** Resolves an item of ORDER BY (in place). `targets`: the select list. */
export function sort(resolver: Resolver, item: Node, scope: Scope, targets: readonly Node[] | undefined): void {
  if (!('SortBy' in item) || !item.SortBy.node) return;
  (item.SortBy as SortBy).node = sortExpression(resolver, item.SortBy.node, scope, targets);
}

/** Resolves an item of ORDER BY or DISTINCT ON. A select alias is left unchanged: PostgreSQL reads it as the output column. */
export function sortExpression(resolver: Resolver, node: Node, scope: Scope, targets: readonly Node[] | undefined): Node {
  if ('ColumnRef' in node) {
    const fields = fieldsOf(node.ColumnRef);
    const name = fields[0] ?? '';
    if (fields.length === 1) {
      const alias = aliasOf(scope, name);
      if (alias !== undefined) return column(alias);
      const bare = (targets ?? []).some(
        (t) => 'ResTarget' in t && !t.ResTarget.name && t.ResTarget.val && !('ColumnRef' in t.ResTarget.val) && columnName(t.ResTarget.val) === name,
      );
      if (bare && !scope.own(resolver.written(name))) return column(name);
    }
  }
  return resolver.expression(node, scope);
}

/** Resolves an item of ORDER BY of a set operation (in place), which names a column of the result. @throws SvcError 400 `unknown_column` */
export function sortByOutput(resolver: Resolver, item: Node, columns: readonly OutColumn[], scope: Scope): void {
  if (!('SortBy' in item) || !item.SortBy.node) return;
  const node = item.SortBy.node;
  if ('ColumnRef' in node) {
    const name = resolver.written(fieldsOf(node.ColumnRef).join('.'));
    const found = columns.find((c) => c.key === name) ?? columns.find((c) => c.key.toLowerCase() === name.toLowerCase());
    if (!found) {
      const near = nearest(
        name,
        columns.map((c) => c.key),
      );
      throw badRequest('unknown_column', `the set operation has no column \`${name}\`${didYouMean(near)}`, {
        offset: resolver.parsed.offsetOf(node.ColumnRef.location),
      });
    }
    (item.SortBy as SortBy).node = column(found.name);
    return;
  }
  (item.SortBy as SortBy).node = resolver.expression(node, scope);
}
