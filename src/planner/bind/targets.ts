/** The select list: expands stars and wildcards, and names the columns. */
import type { ColumnRef, ResTarget } from '@pgsql/types';
import { badRequest } from '../../errors.ts';
import { compositeOf } from '../guard/index.ts';
import { column, fieldsOf, type Node, type SelectStmt, target } from '../plan/tree.ts';
import { columnName, namingStar } from '../read/names.ts';
import { compositeAt, fieldStar, rowTarget } from './fields.ts';
import { aliased, withMeaning } from './meaning.ts';
import { columnOf, relationOf } from './names.ts';
import { isPath } from './path.ts';
import { type ConceptInFrom, type Found, isConcept, type OutColumn } from './relations.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';

/** Resolves the select list (in place): expands stars and wildcards, and names each column as PostgreSQL would name it in the caller's text. @returns the columns */
export function targets(resolver: Resolver, stmt: SelectStmt, scope: Scope): readonly OutColumn[] {
  const columns: OutColumn[] = [];
  const list: Node[] = [];
  for (const t of stmt.targetList ?? []) {
    if (!('ResTarget' in t) || !t.ResTarget.val) continue;
    const written = rowTarget(resolver, t.ResTarget, scope);
    const many = resolver.at(refLocation(written), () =>
      resolver.state.grows(
        () => 'the columns of `*`',
        () => starred(resolver, written, scope) ?? fieldStar(resolver, written, scope),
      ),
    );
    if (many) {
      for (const f of many) {
        list.push(target(f.node, f.column.name));
        columns.push(withMeaning(f, resolver.state.references));
      }
      continue;
    }
    const val = written.val as Node;
    const found = 'ColumnRef' in val ? columnOf(resolver, val.ColumnRef, scope) : undefined;
    const composite = found ? undefined : compositeOf(val, (ref) => compositeAt(resolver, ref, scope));
    const known = (c: OutColumn): OutColumn => (composite ? { ...c, composite } : c);
    if (written.name) {
      list.push(target(found?.node ?? resolver.expression(val, scope), written.name));
      columns.push(known(aliased(written.name, resolver.written(written.name), found, resolver.state.references)));
      continue;
    }
    if (found) {
      const name = found.column.key === found.column.name ? found.column.name : sqlName(found.column, val as { ColumnRef: ColumnRef });
      list.push(target(found.node, name));
      columns.push({ ...withMeaning(found, resolver.state.references), name });
      continue;
    }
    const figured = columnName(val);
    const star = namingStar(val);
    const node = resolver.expression(val, scope);
    const name = nameOfFirst(star) ?? figured;
    list.push(target(node, name === '?column?' ? undefined : name));
    columns.push(known({ name, key: resolver.written(name) }));
  }
  stmt.targetList = list;
  return columns;
}

/** The SQL name of a path's column: the path as written, or its stand-in. */
function sqlName(found: OutColumn, val: { ColumnRef: ColumnRef }): string {
  return fieldsOf(val.ColumnRef).at(-1) ?? found.name;
}

/** Expands `*`, `alias.*` and a wildcard path; undefined for other items. */
function starred(resolver: Resolver, item: ResTarget, scope: Scope): readonly { node: Node; column: OutColumn }[] | undefined {
  const val = item.val as Node;
  if (!('ColumnRef' in val)) return undefined;
  const fields = fieldsOf(val.ColumnRef);
  const last = fields.at(-1) ?? '';
  const { location } = val.ColumnRef;
  const under = (alias: string, found: readonly Found[]): { node: Node; column: OutColumn }[] =>
    found.map((f) => {
      if ('ColumnRef' in f.node && location !== undefined) f.node.ColumnRef.location ??= location;
      return { node: f.node, column: { ...f.column, star: resolver.written(alias) } };
    });
  const star = val.ColumnRef.fields?.at(-1);
  if (last === '*' && star && 'A_Star' in star) {
    if (fields.length === 1) {
      if (scope.relations.length === 0) throw badRequest('syntax_error', 'SELECT * with no tables specified is not valid');
      return mergedStar(scope, under);
    }
    const relation = relationOf(resolver, fields.slice(0, -1), scope);
    return under(relation.alias, relation.star());
  }
  const path = resolver.written(last);
  if (!isPath(path) || !path.endsWith('].*')) return undefined;
  const relations = fields.length > 1 ? [relationOf(resolver, fields.slice(0, -1), scope)] : scope.relations;
  const concepts = relations.filter(isConcept);
  const readable = concepts.filter((r) => r.schema === 'dsvc');
  if (readable.length === 0) {
    const wrong = concepts.map((r) => r.explain(path)).find((e) => e !== undefined);
    throw wrong ?? badRequest('unknown_column', `unknown column \`${path}\``);
  }
  if (readable.length > 1)
    throw badRequest('ambiguous_column', `\`${path}\` is ambiguous: several relations may have it`, { hint: `write \`${readable[0]?.alias}\`.\`${path}\`` });
  return (readable[0] as ConceptInFrom).wildcard(path).map((f) => ({ node: f.node, column: { name: f.column.name, key: f.column.key } }));
}

/** Expands `*` over joins: the merged columns of USING come first and only once, as in PostgreSQL. */
function mergedStar(
  scope: Scope,
  starred: (alias: string, found: readonly Found[]) => { node: Node; column: OutColumn }[],
): { node: Node; column: OutColumn }[] {
  const all = scope.relations.filter((r) => !r.qualified).flatMap((r) => starred(r.alias, r.star()));
  if (scope.merged.size === 0) return all;
  const first = [...scope.merged.values()].map((c) => ({ node: column(c.name), column: c }));
  return [...first, ...all.filter((f) => !scope.merged.has(f.column.key.toLowerCase()))];
}

const refLocation = (t: ResTarget): number | undefined => (t.val && 'ColumnRef' in t.val ? t.val.ColumnRef.location : t.location);

/** The name of the first column of a sub-select whose stars are expanded. */
function nameOfFirst(stmt: SelectStmt | undefined): string | undefined {
  const first = stmt?.targetList?.[0];
  return first && 'ResTarget' in first ? first.ResTarget.name : undefined;
}
