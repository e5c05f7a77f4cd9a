/** FROM: resolves its items, and adds their relations to the scope of the block. */
import type { Alias, JoinExpr, RangeFunction, RangeSubselect, RangeVar } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { badRequest, didYouMean, nearest } from '../../errors.ts';
import type { BoundBlock, BoundCube, MadeFrom } from '../plan/block.ts';
import type { PathNode } from '../plan/path-node.ts';
import { slotOfConcept } from '../plan/slots.ts';
import { boolean, join, type Node, namesOf, replaceNode, type SelectStmt, string, subselect } from '../plan/tree.ts';
import { functionColumns } from '../read/functions.ts';
import { CubeRelation } from './cubes.ts';
import type { CubeItems, NamedItem, RelationKind, SchemaName } from './kinds.ts';
import { COMMON_TABLE_EXPRESSION, CONCEPT, CUBE, GRAPH_ALGORITHM, SYSTEM_TABLE, VIEW } from './named.ts';
import type { ConceptRelation } from './relation.ts';
import { FixedRelation, JoinRelation, type OutColumn, type Relation } from './relations.ts';
import type { Resolver } from './resolve.ts';
import { Scope } from './scope.ts';
import { type MadeItem, withBarrier } from './views.ts';

/**
 * Resolves a FROM clause in place, and adds its relations to `scope`.
 * @returns a function that makes the bound block when its other clauses are resolved
 */
export function resolveFrom(resolver: Resolver, items: Node[] | undefined, scope: Scope): (stmt: SelectStmt) => BoundBlock {
  const from = new From(resolver, scope);
  for (const item of [...(items ?? [])]) {
    const location = locationOf(item);
    const relations = from.item(item);
    refuseTwice(resolver, scope.relations, relations, location);
    for (const r of relations) scope.add(r);
  }
  from.finishItems();
  return (stmt) => from.bound(stmt);
}

/** The location of an item of FROM; for a join that of its right side, which may have the name of a relation before it. */
function locationOf(item: Node | undefined): number | undefined {
  if (item && 'RangeVar' in item) return item.RangeVar.location;
  return item && 'JoinExpr' in item ? locationOf(item.JoinExpr.rarg) : undefined;
}

/** @throws SvcError 400 `duplicate_alias` if a relation of `added` has the name of one in `before` */
function refuseTwice(resolver: Resolver, before: readonly Relation[], added: readonly Relation[], location: number | undefined): void {
  visited(added.length);
  const names = new Set(before.map((r) => r.called ?? r.alias));
  const name = added.map((r) => r.called ?? r.alias).find((n) => names.has(n));
  if (name === undefined) return;
  resolver.at(location, () => {
    throw badRequest('duplicate_alias', `two relations in FROM have the name \`${name}\``, { hint: 'Give each an alias of its own.' });
  });
}

/** The kinds of relations that a name in FROM may mean, in the order in which they are tried. */
const KINDS: readonly RelationKind[] = [COMMON_TABLE_EXPRESSION, GRAPH_ALGORITHM, CONCEPT, CUBE, VIEW, SYSTEM_TABLE];

class From {
  readonly #resolver: Resolver;
  readonly #scope: Scope;
  /** The relations before the current item. LATERAL items may refer to them. */
  readonly #before: Relation[] = [];
  readonly #relations: ConceptRelation[];
  readonly #cubes: BoundCube[] = [];
  readonly #made: Map<Node, MadeFrom>;
  /** True for the FROM of a cube. The block that reads the cube cannot use its aliases. */
  #inCube = false;
  /** The path nodes that FROM itself refers to. */
  #fromNodes: ReadonlySet<PathNode> = new Set();

  /** The block that the relations belong to. For the FROM of a cube: the block that reads the cube. */
  readonly #owner: Scope;

  constructor(resolver: Resolver, scope: Scope, owner: Scope = scope, relations: ConceptRelation[] = [], made = new Map<Node, MadeFrom>()) {
    this.#resolver = resolver;
    this.#scope = scope;
    this.#owner = owner;
    this.#relations = relations;
    this.#made = made;
  }

  /** Call this after the last item: all path nodes so far are those that FROM refers to. */
  finishItems(): void {
    this.#fromNodes = new Set(this.#relations.flatMap((r) => r.root.all().slice(1)));
  }

  /** Resolves an item. @returns the relations that it adds */
  item(node: Node): Relation[] {
    if ('RangeVar' in node) return this.#noted([this.#range(node, node.RangeVar)]);
    if ('RangeSubselect' in node) return this.#noted([this.#subselect(node.RangeSubselect)]);
    if ('RangeFunction' in node) return this.#noted([this.#function(node.RangeFunction)]);
    if ('JoinExpr' in node) return this.#join(node.JoinExpr);
    throw badRequest('unsupported_syntax', 'this syntax is not allowed in FROM');
  }

  #derived(alias: string, columns: readonly OutColumn[], qualified = false, scalar = false): FixedRelation {
    return new FixedRelation(this.#resolver.state.references.columns(this.#owner, alias), alias, columns, qualified, scalar);
  }

  #noted(relations: Relation[]): Relation[] {
    this.#before.push(...relations);
    return relations;
  }

  #lateralScope(): Scope {
    const scope = this.#scope.withoutRelations();
    for (const r of this.#before) scope.add(r);
    return scope;
  }

  #range(node: Node, range: RangeVar): Relation {
    return this.#resolver.framedAt(range.location, () => {
      if (range.catalogname) throw badRequest('unknown_schema', `unknown schema \`${range.catalogname}.${range.schemaname}\``);
      const item = this.#named(node, range);
      for (const kind of KINDS) {
        const found = kind.schemas.includes(item.schema) ? kind.find(item) : undefined;
        if (found) return found;
      }
      throw this.#unknown(item.name, item.schema);
    });
  }

  #named(node: Node, range: RangeVar): NamedItem {
    const alias = range.alias?.aliasname ?? range.relname ?? '';
    return {
      resolver: this.#resolver,
      name: this.#resolver.written(range.relname ?? ''),
      relname: range.relname ?? '',
      schema: this.#schema(range.schemaname, range.relname),
      alias,
      renames: this.#renames(range.alias),
      scope: this.#scope,
      owner: this.#owner,
      inCube: this.#inCube,
      derived: (columns) => this.#derived(alias, this.#resolver.renamed(range.alias, columns)),
      concept: (relation) => {
        replaceNode(node, slotOfConcept(this.#relations.push(relation) - 1, range.location));
        return relation;
      },
      become: (made, from) => {
        this.#made.set(node, { ...from, alias });
        return this.#become(node, range.alias, alias, made);
      },
      cube: (cube) => this.#cube(node, alias, cube),
    };
  }

  /** Replaces an item by the FROM of a cube. */
  #cube(node: Node, alias: string, { items, resolver, bind, relation }: CubeItems): Relation {
    const scope = new Scope(undefined);
    const inner = new From(resolver, scope, this.#owner, this.#relations, this.#made);
    inner.#inCube = true;
    const read = this.#relations.length;
    bind(() => {
      for (const item of items) for (const r of inner.item(item)) scope.add(r);
    });
    const made = relation(scope, this.#relations.slice(read));
    const [first, ...others] = items;
    replaceNode(node, { ...others.reduce((l, r) => join('JOIN_INNER', l, r), first as Node) });
    this.#made.set(node, { kind: 'cube', name: made.relation.cube.name, alias });
    this.#cubes.push(made);
    return made.relation;
  }

  #become(node: Node, renames: Alias | undefined, alias: string, made: MadeItem): Relation {
    const columns = this.#resolver.renamed(renames, made.columns);
    const item = (query: Node): Node => subselect(query, alias, { columns: columns.map((c) => c.name) });
    const { state } = this.#resolver;
    replaceNode(node, made.needsBarrier ? state.item(item(made.query), () => item(withBarrier(state, made.query))) : item(made.query));
    return this.#derived(alias, columns);
  }

  #renames(alias: Alias | undefined): readonly string[] {
    return namesOf(alias?.colnames).map((name) => this.#resolver.written(name));
  }

  /** The neutral name of a schema, which may be written with the product's name. */
  #schema(written: string | undefined, relname = ''): SchemaName {
    if (!written) return undefined;
    const lower = written.toLowerCase();
    const product = this.#resolver.state.context.product;
    for (const prefix of ['', 'e', 'd', 'v', 'g']) if (lower === `${prefix}svc` || lower === prefix + product) return `${prefix}svc` as SchemaName;
    const shown = ['', 'e', 'd', 'v'].map((p) => p + product);
    const near = nearest(lower, shown);
    const concept = near === undefined ? this.#resolver.graph.concept(this.#resolver.written(relname)) : undefined;
    const hint = concept
      ? `Read the concept from ${product}.${concept.name}, or with paths from d${product}.${concept.name}.`
      : `The schemas are ${shown.join(', ')}. A query cannot name tables, only mappings can.`;
    throw badRequest('unknown_schema', `unknown schema \`${written}\`${didYouMean(near)}`, { hint });
  }

  #unknown(name: string, schema: string | undefined): Error {
    const { graph } = this.#resolver;
    const views = graph.model.views.map((v) => v.name);
    const concepts = [...graph.concepts.map((c) => c.name), ...(this.#resolver.state.context.systemTables ?? [])];
    const near = nearest(name, schema === 'vsvc' ? views : schema ? concepts : [...concepts, ...views]);
    const { product } = this.#resolver.state.context;
    if (schema === 'vsvc') {
      const concept = graph.concept(name);
      const hint = concept && `It is a concept. Read it from ${product}.${concept.name}, or with paths from d${product}.${concept.name}.`;
      return badRequest('unknown_view', `unknown view \`${name}\`${hint === undefined ? didYouMean(near) : ''}`, { hint });
    }
    const view = schema === undefined ? undefined : graph.view(name);
    const hint = view && `It is a ${view.cube ? 'cube' : 'view'}. Read it from v${product}.${view.name}.`;
    return badRequest('unknown_concept', `unknown concept \`${name}\`${hint === undefined ? didYouMean(near) : ''}`, { hint });
  }

  #subselect(range: RangeSubselect): Relation {
    const query = range.subquery && 'SelectStmt' in range.subquery ? range.subquery.SelectStmt : undefined;
    if (!query) throw badRequest('unsupported_syntax', 'a sub-query in FROM must be a SELECT');
    const columns = this.#resolver.query(query, range.lateral ? this.#lateralScope() : this.#scope.withoutRelations());
    return this.#derived(range.alias?.aliasname ?? this.#resolver.state.alias(), this.#resolver.renamed(range.alias, columns));
  }

  #function(range: RangeFunction): Relation {
    const scope = this.#lateralScope();
    for (const f of range.functions ?? []) if ('List' in f) this.#resolver.expressions(f.List.items, scope);
    const { alias, columns, scalar, isKnown } = functionColumns(range);
    // the first column may have another name; PostgreSQL would then read `x.x` as a call
    if (!isKnown && columns.length === 1 && !range.alias?.colnames) range.alias = { aliasname: alias, colnames: columns.map((c) => string(c.name)) };
    return this.#derived(alias, this.#resolver.renamed(range.alias, columns), false, scalar);
  }

  #join(join: JoinExpr): Relation[] {
    const left = join.larg ? this.item(join.larg) : [];
    const location = locationOf(join.rarg);
    const right = join.rarg ? this.item(join.rarg) : [];
    refuseTwice(this.#resolver, left, right, location);
    const scope = this.#scope.withoutRelations();
    for (const r of [...left, ...right]) scope.add(r);
    if (join.isNatural) this.#natural(join, left, right);
    // the columns of a cube are expressions, which have no names in SQL
    if ((join.usingClause?.length || join.alias) && [...left, ...right].some((r) => r instanceof CubeRelation))
      throw badRequest('unsupported_syntax', 'a join with a cube must use ON, and must not have an alias', { hint: 'use ON, or read the cube in a sub-query' });
    for (const [i, n] of (join.usingClause ?? []).entries())
      if ('String' in n) (join.usingClause as Node[])[i] = string(this.#using(this.#resolver.written(n.String.sval ?? ''), left, right));
    const merged = namesOf(join.usingClause);
    const using = join.join_using_alias?.aliasname;
    if (using)
      scope.add(
        this.#derived(
          using,
          merged.map((name) => ({ name, key: name })),
          true,
        ),
      );
    if (join.quals) join.quals = this.#resolver.expression(join.quals, scope);
    if (!join.alias) return [...left, ...right, ...(using ? scope.relations.slice(-1) : [])];
    const relation = new JoinRelation(this.#resolver.state.references.columns(this.#owner, join.alias.aliasname ?? ''), join.alias.aliasname ?? '', [
      ...left,
      ...right,
    ]);
    if (join.alias.colnames) throw badRequest('unsupported_syntax', 'the alias of a join cannot rename its columns');
    for (const r of [...left, ...right]) this.#before.splice(this.#before.indexOf(r), 1);
    return this.#noted([relation]);
  }

  #using(name: string, left: readonly Relation[], right: readonly Relation[]): string {
    const find = (side: readonly Relation[]): OutColumn => {
      const merged = this.#scope.merged.get(name.toLowerCase());
      const found = side.map((r) => r.find(name)).filter((f) => f !== undefined);
      const first = found[0];
      if (!first) throw badRequest('unknown_column', `the column \`${name}\` of USING does not exist on both sides of the join`);
      if (found.length > 1 && !merged) throw badRequest('ambiguous_column', `the column \`${name}\` of USING is ambiguous`);
      return first.column;
    };
    const [a, b] = [find(left), find(right)];
    if (a.name !== b.name) throw badRequest('unsupported_syntax', `the column \`${name}\` of USING has two spellings in the join`, { hint: 'join with ON' });
    const source = this.#resolver.state.references.columns(this.#owner, undefined);
    this.#scope.merged.set(a.key.toLowerCase(), { name: a.name, key: a.key, source });
    return a.name;
  }

  /** Replaces NATURAL by USING, because the columns of the sub-selects differ from those of the concepts. */
  #natural(join: JoinExpr, left: readonly Relation[], right: readonly Relation[]): void {
    const names = (side: readonly Relation[]): string[] => side.flatMap((r) => r.star().map((f) => f.column.key));
    const there = new Set(names(right));
    const common = [...new Set(names(left))].filter((n) => there.has(n));
    delete join.isNatural;
    if (common.length > 0) join.usingClause = common.map(string);
    else join.quals = boolean(true);
  }

  /** The bound block. Call this when all names of the block are resolved. */
  bound(stmt: SelectStmt): BoundBlock {
    return { stmt, scope: this.#scope, relations: this.#relations, cubes: this.#cubes, made: this.#made, fromNodes: this.#fromNodes };
  }
}
