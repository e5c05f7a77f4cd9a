/** References: to a column of a relation, to a select alias, or to a whole relation. */
import type { ColumnRef } from '@pgsql/types';
import { badRequest, didYouMean, nearest, type SvcError } from '../../errors.ts';
import { isLikeOurs } from '../../language/prepare.ts';
import { quoteDouble } from '../../language/quote.ts';
import { sameName } from '../../ontology/names.ts';
import { clone, column, fieldsOf, type Node, select, subselect, target } from '../plan/tree.ts';
import { aliasOf, hasAggregate } from './aliases.ts';
import { MEASURE } from './path-columns.ts';
import { FixedRelation, type Found, isConcept, type Relation } from './relations.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';
import { textHint } from './suggest.ts';

/**
 * The column that a reference means; undefined if it means something else. The new reference gets the location of the name, for errors of later stages.
 * @throws SvcError 400 for an unknown or ambiguous name
 */
export function columnOf(resolver: Resolver, ref: ColumnRef, scope: Scope): Found | undefined {
  const found = lookUp(resolver, ref, scope);
  if (found && ref.location !== undefined && 'ColumnRef' in found.node) {
    found.node.ColumnRef.location = ref.location;
    let node = resolver.state.references.of(found.node.ColumnRef)?.node;
    for (; node?.parent && node.location === undefined; node = node.parent) node.location = ref.location;
  }
  return found;
}

function lookUp(resolver: Resolver, ref: ColumnRef, scope: Scope): Found | undefined {
  const fields = fieldsOf(ref);
  const inTree = fields.at(-1) ?? '';
  const name = resolver.written(inTree);
  return resolver.at(ref.location, () => {
    if (fields.length > 1) return qualified(resolver, fields, name, scope);
    for (let s: Scope | undefined = scope; s; s = s.outer) {
      if (s.mode === 'before' && useAlias(s, inTree)) return undefined;
      const found = s.own(name);
      if (found && s !== scope) requireNotHidden(name, scope, s);
      if (found) return found;
      if (s.mode === 'after' && aliasOf(s, inTree) !== undefined) return undefined;
    }
    return undefined;
  });
}

/**
 * Checks that the SQL can name the relation of an outer column: a relation of an inner block with the same alias would hide it.
 * @throws SvcError 400 `ambiguous_alias`
 */
function requireNotHidden(name: string, scope: Scope, outer: Scope): void {
  const source = outer.relations.find((r) => !r.qualified && r.find(name));
  for (let s: Scope | undefined = scope; s !== undefined && s !== outer; s = s.outer) {
    if (source === undefined || !s.relations.some((r) => r.alias === source.alias)) continue;
    throw badRequest(
      'ambiguous_alias',
      `\`${name}\` is a column of the outer \`${source.alias}\`, which a relation of the sub-query with the same name hides`,
      {
        hint: 'give one of them another alias',
      },
    );
  }
}

function qualified(resolver: Resolver, fields: readonly string[], name: string, scope: Scope): Found {
  const relation = relationOf(resolver, fields.slice(0, -1), scope, name);
  // `svc.city.name`: only a relation without an alias may be qualified by its schema
  const schema = fields.length === 3 ? fields[0] : undefined;
  if (fields.length > 3 || (schema !== undefined && !(isConcept(relation) && relation.isIn(schema)))) {
    throw badRequest('unknown_column', `unknown column \`${fields.map((f) => resolver.written(f)).join('.')}\``, { hint: 'write the alias and the column' });
  }
  const found = relation.find(name);
  if (found) return found;
  throw unknown(name, relation, relation.names(), relation.explain?.(name));
}

/**
 * @param relation the relation that was meant; undefined: one of several
 * @param mayBeText true if the name may be a text that the caller put in double quotes
 */
function unknown(name: string, relation: Relation | undefined, known: Iterable<string>, explained?: SvcError, mayBeText = false): SvcError {
  if (explained) return explained;
  const concept = relation && isConcept(relation) ? relation.concept.name : undefined;
  const alias = relation?.alias;
  const near = nearest(name, known);
  const hint =
    relation?.hint?.(name, near !== undefined) ??
    (relation && !concept ? (measureHint(relation, name) ?? (near === undefined ? columnsHint(relation) : undefined)) : undefined) ??
    (mayBeText && near === undefined ? textHint(name) : undefined);
  const where = concept ? ` of concept \`${concept}\`` : alias ? ` of \`${alias}\`` : '';
  return badRequest(
    concept ? 'unknown_property' : 'unknown_column',
    `unknown ${concept ? 'property' : 'column'} \`${name}\`${where}${hint === undefined ? didYouMean(near) : ''}`,
    {
      hint,
    },
  );
}

const MOST_NAMES = 20;

const quoteName = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteDouble(name));

/** A hint for the name of a measure without its qualifier; undefined if the relation has no such measure. */
function measureHint(relation: Relation, name: string): string | undefined {
  const measure = [...relation.names()].find((n) => sameName(n, `${MEASURE}${name}`));
  return measure && `It is a measure. Write SUM(${quoteName(measure)}).`;
}

/** The columns of a relation other than a concept; undefined if there are too many. */
function columnsHint(relation: Relation): string | undefined {
  const names = [...relation.names()].map(quoteName);
  return names.length > 0 && names.length <= MOST_NAMES ? `Its columns are ${names.join(', ')}.` : undefined;
}

function useAlias(scope: Scope, name: string): boolean {
  const alias = aliasOf(scope, name);
  if (alias === undefined) return false;
  return !(scope.inAggregate && hasAggregate(scope.aliases.get(alias) as Node));
}

/** An unqualified name that is not a column: a select alias or a whole relation. @throws SvcError 400 for an unknown name */
export function named(resolver: Resolver, ref: ColumnRef, scope: Scope): Node {
  const fields = fieldsOf(ref);
  const inTree = fields.at(-1) ?? '';
  const name = resolver.written(inTree);
  for (let s: Scope | undefined = scope; s; s = s.outer) {
    const alias = s.mode === 'none' ? undefined : aliasOf(s, inTree);
    if (alias === undefined) continue;
    const { mode } = s;
    s.mode = 'none';
    try {
      return resolver.state.grows(
        () => `the alias \`${name}\``,
        () => resolver.expression(clone(s.aliases.get(alias) as Node), s),
      );
    } finally {
      s.mode = mode;
    }
  }
  const relation = scope.relation(inTree);
  if (relation) return wholeRow(resolver, relation);
  const concepts = scopeRelations(scope).filter(isConcept);
  const explained = concepts.map((c) => c.explain(name)).find((e) => e !== undefined);
  const relations = scopeRelations(scope);
  const related = concepts.find((c) => c.concept.relationship(name).length > 0);
  const meant = related ?? (concepts.length === 1 ? concepts[0] : relations.length === 1 ? relations[0] : undefined);
  throw unknown(name, meant, scope.names(), explained, resolver.parsed.isQuoted(ref.location));
}

/** A relation as a value: a row with the columns of `*`. */
export function wholeRow(resolver: Resolver, relation: NonNullable<ReturnType<Scope['relation']>>): Node {
  if (relation instanceof FixedRelation && relation.scalar) return relation.value;
  return resolver.state.grows(
    () => `the row of \`${relation.called ?? relation.alias}\``,
    () => rowOf(resolver, relation),
  );
}

function rowOf(resolver: Resolver, relation: Relation): Node {
  // comparing rows with different columns raises an error
  resolver.state.facts.mayRaise = true;
  // the names are the keys of the row as JSON
  const columns = relation.star().map(({ node, column: { key, name } }) => ({ node, name: isLikeOurs(key) ? key : name }));
  let row = resolver.state.alias();
  while (columns.some((c) => c.name === row)) row = resolver.state.alias();
  const query = select({
    targetList: [target(column(row))],
    fromClause: [subselect(select({ targetList: columns.map((c) => target(c.node, c.name)) }), row)],
  });
  return { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: query } } };
}

/** The relation that qualifies a name. `fields`: its path without the name. @throws SvcError 400 `unknown_alias` */
export function relationOf(resolver: Resolver, fields: readonly string[], scope: Scope, name?: string): Relation {
  const alias = fields.at(-1) ?? '';
  const found = scope.relation(alias);
  if (found) return found;
  const known: string[] = [];
  for (let s: Scope | undefined = scope; s; s = s.outer) known.push(...s.relations.map((r) => r.alias));
  const path = [...fields, ...(name === undefined ? [] : [name])].map((f) => resolver.written(f)).join('.');
  const hint = scopeRelations(scope)
    .map((r) => r.hint?.(path))
    .find((h) => h !== undefined);
  const near = hint === undefined ? nearest(alias, known) : undefined;
  throw badRequest('unknown_alias', `\`${resolver.written(alias)}\` is not a relation in FROM${didYouMean(near)}`, { hint });
}

function scopeRelations(scope: Scope | undefined): Scope['relations'] {
  const all: Scope['relations'] = [];
  for (let s = scope; s; s = s.outer) all.push(...s.relations);
  return all;
}
