/** FROM: what each item is, which columns it has, and what it becomes. */
import type { Alias, JoinExpr, RangeFunction, RangeSubselect, RangeVar } from '@pgsql/types';
import { badRequest, didYouMean, forbidden, nearest } from '../errors.ts';
import type { ViewDef } from '../ontology/model.ts';
import { type Block, finishAggregates } from './aggregate/block.ts';
import { nodesIn } from './aggregate/calls.ts';
import { conjuncts } from './aggregate/conditions.ts';
import { keyOf } from './aggregate/groups.ts';
import { CubeRelation, finishCubes } from './cubes.ts';
import { functionColumns } from './functions.ts';
import type { PathNode } from './joins.ts';
import { narrow } from './narrow.ts';
import { requireReadable, requireReadableView } from './readable.ts';
import { cloneResolved } from './references.ts';
import { ConceptRelation, type Schema } from './relation.ts';
import { FixedRelation, JoinRelation, type OutColumn, type Relation } from './relations.ts';
import { Resolver } from './resolve.ts';
import { Scope } from './scope.ts';
import { firstOfEach, sortByTable } from './sort.ts';
import { systemTableItem } from './system.ts';
import { and, boolean, clone, join, type Node, namesOf, rewrite, type SelectStmt, string, subselect, walk } from './tree.ts';
import { asDefiner, parsedView, viewItem } from './views.ts';

/** Finishes a block when all its names are resolved: puts the sub-selects of concepts in their places, and its aggregates on their levels. */
export type Finish = (stmt: SelectStmt) => void;

/** Resolves a FROM clause in place; its relations are added to `scope`. */
export function resolveFrom(resolver: Resolver, items: Node[] | undefined, scope: Scope): Finish {
  const from = new From(resolver, scope);
  for (let i = 0; i < (items?.length ?? 0); i++) for (const r of from.item((items as Node[])[i] as Node)) scope.add(r);
  from.met();
  return (stmt) => from.finish(stmt);
}

class From {
  readonly #resolver: Resolver;
  readonly #scope: Scope;
  /** Relations met so far in this FROM: what LATERAL items may refer to. */
  readonly #before: Relation[] = [];
  readonly #relations: ConceptRelation[];
  /** `barred`: the cube leaves out rows that the caller may not read; `single`: the one concept that is all of its FROM. */
  readonly #cubes: {
    readonly relation: CubeRelation;
    readonly stmt: SelectStmt;
    readonly barred: { readonly single: ConceptRelation | undefined } | undefined;
  }[] = [];
  /** Whether this FROM is a cube's: its aliases are no names of the block that reads it. */
  #inCube = false;
  /** Path nodes that FROM itself refers to. */
  #fromNodes: ReadonlySet<PathNode> = new Set();

  constructor(resolver: Resolver, scope: Scope, relations: ConceptRelation[] = []) {
    this.#resolver = resolver;
    this.#scope = scope;
    this.#relations = relations;
  }

  /** All items have been met: what has been referred to until now stands in FROM. */
  met(): void {
    this.#fromNodes = new Set(this.#relations.flatMap((r) => [...r.root.all()].slice(1)));
  }

  /** Resolves an item; gives the relations that it adds. */
  item(node: Node): Relation[] {
    if ('RangeVar' in node) return this.#met([this.#range(node, node.RangeVar)]);
    if ('RangeSubselect' in node) return this.#met([this.#subselect(node.RangeSubselect)]);
    if ('RangeFunction' in node) return this.#met([this.#function(node.RangeFunction)]);
    if ('JoinExpr' in node) return this.#join(node.JoinExpr);
    throw badRequest('unsupported_syntax', 'this cannot stand in FROM');
  }

  #met(relations: Relation[]): Relation[] {
    this.#before.push(...relations);
    return relations;
  }

  #lateralScope(): Scope {
    const scope = this.#scope.beside();
    for (const r of this.#before) scope.add(r);
    return scope;
  }

  #range(node: Node, range: RangeVar): Relation {
    const { work, graph } = this.#resolver;
    return this.#resolver.at(range.location, () => {
      const name = this.#resolver.written(range.relname ?? '');
      const alias = range.alias?.aliasname ?? range.relname ?? '';
      if (range.catalogname) throw badRequest('unknown_schema', `unknown schema \`${range.catalogname}.${range.schemaname}\``);
      const schema = this.#schema(range.schemaname);
      if (!schema) {
        const cte = this.#scope.cte(range.relname ?? '');
        if (cte) return new FixedRelation(alias, this.#resolver.renamed(range.alias, cte));
      }
      if (schema === 'gsvc') throw badRequest('not_supported', 'graph algorithms are not there yet');
      const concept = schema === 'vsvc' ? undefined : graph.concept(name);
      if (concept) {
        requireReadable(concept);
        work.joins();
        work.named({ kind: 'concept', schema: (schema ?? 'dsvc') as Schema, name: concept.name });
        const relation = new ConceptRelation(
          work,
          concept,
          (schema ?? 'dsvc') as Schema,
          this.#inCube ? work.alias() : alias,
          concept,
          this.#renames(range.alias),
          alias,
        );
        replace(node, slot(this.#relations.push(relation) - 1));
        return relation;
      }
      const view = schema === undefined || schema === 'vsvc' ? graph.view(name) : undefined;
      if (view) {
        requireReadableView(graph, view);
        work.named({ kind: 'view', schema: 'vsvc', name: view.name });
      }
      if (view?.cube) return this.#cube(node, alias, view);
      if (view) return this.#become(node, range.alias, alias, viewItem(this.#resolver.work, view));
      const system = schema === 'vsvc' ? undefined : work.context.systemTable?.(name.toUpperCase());
      if (system) {
        work.named({ kind: 'system', schema: 'svc', name: system.name });
        for (const { type } of system.columns) work.reads(type);
        return this.#become(node, range.alias, alias, systemTableItem(work, system));
      }
      throw this.#unknown(name, schema);
    });
  }

  /** A cube: its FROM takes the place of the item. */
  #cube(node: Node, alias: string, view: ViewDef): Relation {
    const { work } = this.#resolver;
    const parsed = parsedView(work, view);
    const stmt = work.bindCaller(clone(parsed.stmt));
    const resolver = new Resolver(work, parsed, work.context.definer?.(view));
    const scope = new Scope(undefined);
    const inner = new From(resolver, scope, this.#relations);
    inner.#inCube = true;
    const items = stmt.fromClause ?? [];
    const read = this.#relations.length;
    asDefiner(work, view, () => {
      for (const item of items) for (const r of inner.item(item)) scope.add(r);
    });
    const concepts = this.#relations.slice(read);
    const [only, ...more] = concepts;
    const single = only && more.length === 0 && items.length === 1 && !items.some((i) => 'JoinExpr' in i || 'RangeSubselect' in i) ? only : undefined;
    const leavesOut = stmt.whereClause !== undefined || !single;
    const isBarred = leavesOut && (concepts.length === 0 ? work.bars() : concepts.map((r) => work.bars(r.concept)).includes(true));
    const [first, ...others] = items;
    if (!first) throw badRequest('bad_cube', `the cube \`${view.name}\` reads nothing`);
    replace(node, { ...others.reduce((l, r) => join('JOIN_INNER', l, r), first) });
    const relation = new CubeRelation(alias, view, stmt, resolver, scope, this.#scope);
    this.#cubes.push({ relation, stmt, barred: isBarred ? { single } : undefined });
    return relation;
  }

  #become(node: Node, renames: Alias | undefined, alias: string, made: { readonly query: Node; readonly columns: readonly OutColumn[] }): Relation {
    const columns = this.#resolver.renamed(renames, made.columns);
    replace(node, subselect(made.query, alias, { columns: columns.map((c) => c.name) }));
    return new FixedRelation(alias, columns);
  }

  #renames(alias: Alias | undefined): readonly string[] {
    return namesOf(alias?.colnames).map((name) => this.#resolver.written(name));
  }

  /** The neutral name of a schema: the caller may use the product's. */
  #schema(written: string | undefined): Schema | 'vsvc' | 'gsvc' | undefined {
    if (!written) return undefined;
    const lower = written.toLowerCase();
    const product = this.#resolver.work.context.product;
    for (const prefix of ['', 'e', 'd', 'v', 'g']) if (lower === `${prefix}svc` || lower === prefix + product) return `${prefix}svc` as Schema;
    const shown = ['', 'e', 'd', 'v'].map((p) => p + product);
    const near = nearest(lower, shown);
    throw badRequest('unknown_schema', `unknown schema \`${written}\`${didYouMean(near)}`, {
      hint: `the schemas are ${shown.join(', ')}; tables stand in mappings, never in a query`,
    });
  }

  #unknown(name: string, schema: string | undefined): Error {
    const { graph } = this.#resolver;
    const views = graph.model.views.map((v) => v.name);
    const concepts = [...graph.concepts.map((c) => c.name), ...(this.#resolver.work.context.systemTables ?? [])];
    const near = nearest(name, schema === 'vsvc' ? views : schema ? concepts : [...concepts, ...views]);
    if (schema === 'vsvc') return badRequest('unknown_view', `unknown view \`${name}\`${didYouMean(near)}`);
    return badRequest('unknown_concept', `unknown concept \`${name}\`${didYouMean(near)}`);
  }

  #subselect(range: RangeSubselect): Relation {
    const query = range.subquery && 'SelectStmt' in range.subquery ? range.subquery.SelectStmt : undefined;
    if (!query) throw badRequest('unsupported_syntax', 'only a SELECT can stand in FROM');
    const columns = this.#resolver.query(query, range.lateral ? this.#lateralScope() : this.#scope.beside());
    return new FixedRelation(range.alias?.aliasname ?? this.#resolver.work.alias(), this.#resolver.renamed(range.alias, columns));
  }

  #function(range: RangeFunction): Relation {
    const scope = this.#lateralScope();
    for (const f of range.functions ?? []) if ('List' in f) this.#resolver.expressions(f.List.items, scope);
    const { alias, columns, scalar, isKnown } = functionColumns(range);
    // its first column may have another name, and `x.x` would then be a call
    if (!isKnown && columns.length === 1 && !range.alias?.colnames) range.alias = { aliasname: alias, colnames: columns.map((c) => string(c.name)) };
    return new FixedRelation(alias, this.#resolver.renamed(range.alias, columns), false, scalar);
  }

  #join(join: JoinExpr): Relation[] {
    const left = join.larg ? this.item(join.larg) : [];
    const right = join.rarg ? this.item(join.rarg) : [];
    const scope = this.#scope.beside();
    for (const r of [...left, ...right]) scope.add(r);
    if (join.isNatural) this.#natural(join, left, right);
    for (const [i, n] of (join.usingClause ?? []).entries())
      if ('String' in n) (join.usingClause as Node[])[i] = string(this.#using(this.#resolver.written(n.String.sval ?? ''), left, right));
    const merged = namesOf(join.usingClause);
    const using = join.join_using_alias?.aliasname;
    if (using)
      scope.add(
        new FixedRelation(
          using,
          merged.map((name) => ({ name, key: name })),
          true,
        ),
      );
    if (join.quals) join.quals = this.#resolver.expression(join.quals, scope);
    if (!join.alias) return [...left, ...right, ...(using ? scope.relations.slice(-1) : [])];
    const relation = new JoinRelation(join.alias.aliasname ?? '', [...left, ...right]);
    if (join.alias.colnames) throw badRequest('unsupported_syntax', 'the alias of a join cannot rename its columns');
    for (const r of [...left, ...right]) this.#before.splice(this.#before.indexOf(r), 1);
    return this.#met([relation]);
  }

  #using(name: string, left: readonly Relation[], right: readonly Relation[]): string {
    const find = (side: readonly Relation[]): OutColumn => {
      const merged = this.#scope.merged.get(name.toLowerCase());
      const found = side.map((r) => r.find(name)).filter((f) => f !== undefined);
      const first = found[0];
      if (!first) throw badRequest('unknown_column', `the column \`${name}\` of USING is not on both sides of the join`);
      if (found.length > 1 && !merged) throw badRequest('ambiguous_column', `the column \`${name}\` of USING is ambiguous`);
      return first.column;
    };
    const [a, b] = [find(left), find(right)];
    if (a.name !== b.name) throw badRequest('unsupported_syntax', `the column \`${name}\` of USING is written in two ways`, { hint: 'join with ON' });
    this.#scope.merged.set(a.key.toLowerCase(), { name: a.name, key: a.key });
    return a.name;
  }

  /** NATURAL as the USING that it stands for: the sub-selects yield other columns than the concepts have. */
  #natural(join: JoinExpr, left: readonly Relation[], right: readonly Relation[]): void {
    const names = (side: readonly Relation[]): string[] => side.flatMap((r) => r.star().map((f) => f.column.key));
    const there = new Set(names(right));
    const common = [...new Set(names(left))].filter((n) => there.has(n));
    delete join.isNatural;
    if (common.length > 0) join.usingClause = common.map(string);
    else join.quals = boolean(true);
  }

  finish(stmt: SelectStmt): void {
    this.#finishCubes(stmt);
    if (this.#relations.length === 0) return;
    narrow(this.#resolver.work, stmt.whereClause, this.#relations);
    sortByTable(stmt, this.#relations);
    const template = stmt.fromClause ?? [];
    const single = template.length === 1 && slotOf(template[0] as Node) !== undefined;
    if (single) firstOfEach(stmt, this.#relations);
    const block: Block = {
      work: this.#resolver.work,
      stmt,
      scope: this.#scope,
      relations: this.#relations,
      fromNodes: this.#fromNodes,
      cube: this.#cubes.length > 0,
      single,
      from: (nodes) => this.#emit(cloneResolved(template), nodes),
    };
    if (!finishAggregates(block)) stmt.fromClause = this.#emit(template, nodesIn(stmt, this.#relations));
  }

  #finishCubes(stmt: SelectStmt): void {
    if (this.#cubes.length === 0) return;
    const conditions = this.#cubes.flatMap(({ relation, stmt: own, barred }) => {
      const found = relation.condition(own);
      if (barred && this.#resolver.work.fenced) barCube(relation.cube, barred.single, found);
      return found;
    });
    const where = and([...conjuncts(stmt.whereClause), ...conditions]);
    if (where) stmt.whereClause = where;
    const cubes = this.#cubes.map((c) => c.relation);
    const selected: Node[] = [];
    walk(stmt.targetList, (n) => {
      if (!cubes.some((c) => c.named.includes(n))) return undefined;
      if (!selected.some((s) => keyOf(s) === keyOf(n))) selected.push(n);
      return false;
    });
    finishCubes(stmt, cubes, selected);
  }

  /** Puts the sub-selects that join the given nodes in the places of concepts. */
  #emit(items: Node[], nodes: ReadonlySet<PathNode>): Node[] {
    return rewrite(items, (n) => {
      const i = slotOf(n);
      if (i === undefined) return undefined;
      const relation = this.#relations[i] as ConceptRelation;
      return relation.emit(new Set([...relation.root.all()].filter((p) => nodes.has(p))));
    }) as Node[];
  }
}

/**
 * Asks the condition of a cube before what may fail on a value.
 * @throws SvcError 403 where the cube leaves rows out in another way than by a condition on the rows of its one concept
 */
function barCube(cube: ViewDef, relation: ConceptRelation | undefined, conditions: readonly Node[]): void {
  if (!relation || [...nodesIn(conditions, [relation])].some((n) => n.toMany)) {
    throw forbidden('forbidden', `An expression that may fail on a value needs QUERY on what the cube \`${cube.name}\` reads`, {
      hint: 'Compare, group and count its columns, or ask an administrator for the right',
    });
  }
  for (const condition of conditions) relation.barrier(condition);
}

/** Makes a node of the tree another one in its place. */
function replace(node: Node, by: Node): void {
  const slot = node as Record<string, unknown>;
  for (const k of Object.keys(slot)) delete slot[k];
  Object.assign(slot, by);
}

/** The place of a concept in FROM until its block is finished. */
const slot = (index: number): Node => ({ ConceptSlot: { index } }) as unknown as Node;
const slotOf = (node: Node): number | undefined => ('ConceptSlot' in node ? (node as { ConceptSlot: { index: number } }).ConceptSlot.index : undefined);
