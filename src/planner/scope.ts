/** The names that a query block sees: its relations, its common table expressions, those of the blocks around it. */
import { visited } from '../budget.ts';
import { badRequest } from '../errors.ts';
import type { Found, OutColumn, Relation } from './relations.ts';
import type { Node } from './tree.ts';

/** How select aliases count among the names of a clause (docs/design/paths-and-cardinality.md#names-in-a-query). */
export type AliasMode = 'none' | 'after' | 'before';

export class Scope {
  readonly outer: Scope | undefined;
  readonly relations: Relation[] = [];
  /** Columns that USING and NATURAL have merged: they stand without a qualifier. */
  readonly merged = new Map<string, OutColumn>();
  readonly ctes = new Map<string, readonly OutColumn[]>();
  /** Aliased items of the block's select list, not yet resolved: name -> expression. */
  aliases: ReadonlyMap<string, Node> = new Map();
  mode: AliasMode = 'none';
  /** Inside an aggregate's arguments an alias of an aggregate cannot be meant. */
  inAggregate = false;

  constructor(outer: Scope | undefined) {
    this.outer = outer;
  }

  /** A scope with the same surroundings and none of the block's relations: for what may not refer to them. */
  beside(): Scope {
    const scope = new Scope(this.outer);
    for (const [name, columns] of this.ctes) scope.ctes.set(name, columns);
    return scope;
  }

  add(relation: Relation): void {
    this.relations.push(relation);
  }

  cte(name: string): readonly OutColumn[] | undefined {
    return this.ctes.get(name) ?? this.ctes.get(name.toLowerCase()) ?? this.outer?.cte(name);
  }

  /** The relation of an alias, in this block or around it. */
  relation(alias: string): Relation | undefined {
    visited(this.relations.length);
    const exact = this.relations.filter((r) => (r.called ?? r.alias) === alias);
    const found = exact.length > 0 ? exact : this.relations.filter((r) => (r.called ?? r.alias).toLowerCase() === alias.toLowerCase());
    if (found.length > 1)
      throw badRequest('ambiguous_alias', `the alias \`${alias}\` stands for several relations`, { hint: 'give each relation in FROM an alias of its own' });
    return found[0] ?? this.outer?.relation(alias);
  }

  /** The scope, this one or one around it, that has a relation. */
  holder(relation: Relation): Scope | undefined {
    return this.relations.includes(relation) ? this : this.outer?.holder(relation);
  }

  /** The column of a bare name among this block's own relations. */
  own(name: string): Found | undefined {
    const merged = this.merged.get(name.toLowerCase());
    if (merged) {
      for (const r of this.relations) if (!r.qualified) r.find(name);
      return { node: { ColumnRef: { fields: [{ String: { sval: merged.name } }] } }, column: merged };
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

  /** All names that could be meant here, for a suggestion. */
  *names(): Iterable<string> {
    for (const r of this.relations) yield* r.names();
    if (this.mode !== 'none') yield* this.aliases.keys();
    if (this.outer) yield* this.outer.names();
  }
}
