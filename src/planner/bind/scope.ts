/** The scope of a query block: its relations and common table expressions, and the scope of the outer block. */
import { visited } from '../../budget.ts';
import { badRequest } from '../../errors.ts';
import { type Node, reference } from '../plan/tree.ts';
import type { Found, OutColumn, Relation } from './relations.ts';

/** Whether a name in a clause may mean a select alias, and whether before or after columns (docs/design/paths-and-cardinality.md#names-in-a-query). */
export type AliasMode = 'none' | 'after' | 'before';

const NO_ALIASES: ReadonlyMap<string, Node> = new Map();

/** The names of a query block. */
export class Scope {
  readonly outer: Scope | undefined;
  readonly relations: Relation[] = [];
  /** The columns that USING and NATURAL have merged. They have no qualifier. */
  readonly merged = new Map<string, OutColumn & { readonly source: number }>();
  readonly ctes = new Map<string, readonly OutColumn[]>();
  /** The items of the select list with an alias, not yet resolved: name -> expression. */
  aliases: ReadonlyMap<string, Node> = NO_ALIASES;
  mode: AliasMode = 'none';
  /** True in the arguments of an aggregate, where a name cannot mean the alias of an aggregate. */
  inAggregate = false;

  constructor(outer: Scope | undefined) {
    this.outer = outer;
  }

  /** The same outer scope and common table expressions without the relations: for LIMIT, and for sub-selects that are not LATERAL. */
  withoutRelations(): Scope {
    const scope = new Scope(this.outer);
    for (const [name, columns] of this.ctes) scope.ctes.set(name, columns);
    return scope;
  }

  add(relation: Relation): void {
    this.relations.push(relation);
  }

  /** The columns of a common table expression in this scope or an outer one. */
  cte(name: string): readonly OutColumn[] | undefined {
    return this.ctes.get(name) ?? this.ctes.get(name.toLowerCase()) ?? this.outer?.cte(name);
  }

  /** The relation of an alias in this scope or an outer one. @throws SvcError 400 `ambiguous_alias` */
  relation(alias: string): Relation | undefined {
    visited(this.relations.length);
    const exact = this.relations.filter((r) => (r.called ?? r.alias) === alias);
    const found = exact.length > 0 ? exact : this.relations.filter((r) => (r.called ?? r.alias).toLowerCase() === alias.toLowerCase());
    if (found.length > 1)
      throw badRequest('ambiguous_alias', `the alias \`${alias}\` is used for several relations`, { hint: 'use a different alias for each relation in FROM' });
    return found[0] ?? this.outer?.relation(alias);
  }

  /** The column of an unqualified name in the relations of this block. @throws SvcError 400 `ambiguous_column` */
  own(name: string): Found | undefined {
    const merged = this.merged.get(name.toLowerCase());
    if (merged) {
      for (const r of this.relations) if (!r.qualified) r.find(name);
      return { node: reference(merged.source, merged.name), column: { name: merged.name, key: merged.key } };
    }
    let found: Found | undefined;
    let at: Relation | undefined;
    let failure: unknown;
    visited(this.relations.length);
    for (const relation of this.relations) {
      if (relation.qualified) continue;
      let here: Found | undefined;
      try {
        here = relation.find(name);
      } catch (e) {
        failure ??= e;
        continue;
      }
      if (!here) continue;
      if (found && at) {
        throw badRequest('ambiguous_column', `\`${name}\` is ambiguous: \`${at.alias}\` and \`${relation.alias}\` both have it`, {
          hint: `write \`${at.alias}\`.\`${name}\` or \`${relation.alias}\`.\`${name}\``,
        });
      }
      found = here;
      at = relation;
    }
    if (!found && failure) throw failure;
    return found;
  }

  /** All names in this scope, for suggestions. */
  *names(): Iterable<string> {
    for (const r of this.relations) yield* r.names();
    if (this.mode !== 'none') yield* this.aliases.keys();
    if (this.outer) yield* this.outer.names();
  }
}
