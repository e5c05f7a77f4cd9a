/** Cached cubes in FROM: a block that only needs what the table of a cube has reads the table (docs/design/caches.md#cached-cubes). */
import type { FuncCall } from '@pgsql/types';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { CubeRelation } from '../bind/cubes.ts';
import type { Found } from '../bind/relations.ts';
import { Resolver } from '../bind/resolve.ts';
import { Scope } from '../bind/scope.ts';
import { parsedView } from '../bind/views.ts';
import { isVolatileFunction } from '../guard/index.ts';
import { isAggregateCall } from '../lower/aggregate/calls.ts';
import type { BoundBlock } from '../plan/block.ts';
import type { CubeTables, PlanContext } from '../plan/context.ts';
import { clone, fieldsOf, isSubQuery, lastName, type Node, reference, type SelectStmt, select, subselect, walk } from '../plan/tree.ts';
import { filledIn } from './partials.ts';
import { type CubeSelect, cubeSelect, type KeptColumn, type UncacheableCube } from './select.ts';
import { type Cached, CachedTables, readTable } from './tables.ts';

/** The aggregates that may mark a measure. */
const MARKS = new Set(['sum', 'count', 'avg', 'min', 'max']);

/** The cached cubes of a statement. */
export class CachedCubes extends CachedTables<CubeSelect> implements CubeTables {
  protected override planned(context: PlanContext, view: ViewDef): CubeSelect | UncacheableCube {
    return cubeSelect(context, view);
  }

  from(resolver: Resolver, stmt: SelectStmt, scope: Scope): ((stmt: SelectStmt) => BoundBlock) | undefined {
    const { state } = resolver;
    const named = state.position.isStored ? undefined : this.#named(resolver, stmt, scope);
    if (named === undefined) return undefined;
    const cached = this.find(state, named.view);
    if (cached === undefined || !canRead(resolver, stmt, cached.select, named.alias)) return undefined;
    return read(resolver, stmt, scope, named, cached);
  }

  /** The cube that is the only item of FROM. */
  #named(resolver: Resolver, { fromClause = [] }: SelectStmt, scope: Scope): Named | undefined {
    const { graph, state } = resolver;
    const [item, ...others] = fromClause;
    if (item === undefined || others.length > 0 || !('RangeVar' in item)) return undefined;
    const { catalogname, schemaname, relname = '', alias } = item.RangeVar;
    const name = resolver.written(relname);
    const isElsewhere =
      schemaname === undefined ? scope.cte(relname) || graph.concept(name) : !['vsvc', `v${state.context.product}`].includes(fold(schemaname));
    const view = graph.view(name);
    if (catalogname !== undefined || alias?.colnames || isElsewhere || !view?.cube || !graph.reads(view)) return undefined;
    return { view, alias: alias?.aliasname ?? relname };
  }
}

interface Named {
  readonly view: ViewDef;
  /** The alias in SQL. */
  readonly alias: string;
}

/** True if the table gives everything that a block names, and the block groups the rows of the cube. */
function canRead(resolver: Resolver, stmt: SelectStmt, { kept, lost }: CubeSelect, alias: string): boolean {
  if (stmt.windowClause || stmt.lockingClause || stmt.valuesLists) return false;
  const names = new Set(kept.map((k) => k && fold(k.name)));
  const measures = new Set(kept.flatMap((k) => (k?.isMeasure ? [fold(k.name)] : [])));
  const aliases = new Set((stmt.targetList ?? []).map((t) => fold(('ResTarget' in t && t.ResTarget.name) || '')));
  const nameOf = (fields: readonly string[]): string | undefined => {
    const [first = '', second] = fields.map((f) => fold(resolver.written(f)));
    return fields.length === 1 ? first : fields.length === 2 && first === fold(resolver.written(alias)) ? second : undefined;
  };
  const known = { names, measures, aliases, nameOf, lost };
  const check = new Check(known);
  const later = [stmt.targetList, stmt.sortClause, stmt.distinctClause];
  check.see([...later, stmt.havingClause], true, true);
  const isGrouped = check.hasCall || (stmt.groupClause?.length ?? 0) > 0 || stmt.havingClause !== undefined;
  if (isGrouped && check.hasBare) return false;
  const own = new Check(known);
  own.see(stmt.targetList, true, true);
  check.see([stmt.whereClause, stmt.groupClause, stmt.limitCount, stmt.limitOffset], false, false);
  // a block that names no column of the cube has a row for each row of its concept
  return check.isFine && (isGrouped || own.hasColumn);
}

/** The names that a block may use, folded. */
interface Names {
  /** The columns that the table gives. */
  readonly names: ReadonlySet<string | undefined>;
  readonly measures: ReadonlySet<string>;
  readonly aliases: ReadonlySet<string>;
  /** The columns of the cube that only the live query can give. An alias does not hide them. */
  readonly lost: ReadonlySet<string>;
  /** The column that a reference means; undefined: none of the cube. */
  readonly nameOf: (fields: readonly string[]) => string | undefined;
}

/** What a part of a block names. */
class Check {
  isFine = true;
  hasCall = false;
  hasColumn = false;
  /** True if a measure is outside of an aggregate. */
  hasBare = false;
  readonly #known: Names;

  constructor(known: Names) {
    this.#known = known;
  }

  /** @param calls whether aggregates are allowed @param bare whether measures are allowed outside of them */
  see(tree: unknown, calls: boolean, bare: boolean): void {
    walk(tree, (n) => {
      if (isAggregateCall(n)) {
        this.hasCall = true;
        if (!calls || !this.#isMark(n.FuncCall)) this.isFine = false;
        this.see(n.FuncCall.agg_filter, false, false);
        return false;
      }
      if ('ColumnRef' in n) this.#see(fieldsOf(n.ColumnRef), bare);
      const { over, funcname } = (n as { readonly FuncCall?: FuncCall }).FuncCall ?? {};
      if (isSubQuery(n) || over || isVolatileFunction(lastName(funcname))) this.isFine = false;
      return this.isFine;
    });
  }

  #see(fields: readonly string[], bare: boolean): void {
    const { names, measures, aliases, lost, nameOf } = this.#known;
    const name = nameOf(fields);
    const isStar = name === '*';
    const isMeasure = isStar ? measures.size > 0 : measures.has(name ?? '');
    if (isStar || names.has(name ?? '')) this.hasColumn = true;
    else if (name === undefined || fields.length > 1 || !aliases.has(name)) this.isFine = false;
    if (isStar ? lost.size > 0 : lost.has(name ?? '')) this.isFine = false;
    if (isMeasure) this.hasBare = true;
    if (isMeasure && !bare) this.isFine = false;
  }

  /** True for an aggregate that marks a measure, and for COUNT(*). */
  #isMark({ funcname = [], args = [], agg_star, agg_distinct, agg_order, agg_within_group, func_variadic }: FuncCall): boolean {
    if (agg_distinct || agg_order || agg_within_group || func_variadic || funcname.length > 1 || !MARKS.has(lastName(funcname))) return false;
    const { measures, nameOf } = this.#known;
    const [arg] = args;
    if (agg_star) return lastName(funcname) === 'count';
    return arg !== undefined && args.length === 1 && 'ColumnRef' in arg && measures.has(nameOf(fieldsOf(arg.ColumnRef)) ?? '');
  }
}

function read(resolver: Resolver, stmt: SelectStmt, scope: Scope, { view, alias }: Named, cached: Cached<CubeSelect>): (stmt: SelectStmt) => BoundBlock {
  const { state } = resolver;
  const { select: made } = cached;
  state.noteRelation({ kind: 'view', schema: 'vsvc', name: view.name });
  const item = subselect(readTable(state, cached, made.columns), alias);
  stmt.fromClause = [item];
  const relation = CachedCube.of(resolver, scope, { view, alias }, made);
  scope.add(relation);
  const cube = { relation, stmt: select({}), concepts: [], barrier: undefined };
  const from = new Map([[item, { kind: 'cube' as const, name: view.name, alias }]]);
  return (block) => ({ stmt: block, scope, relations: [], cubes: [cube], made: from, fromNodes: new Set() });
}

/** A cube whose rows come from its table. */
class CachedCube extends CubeRelation {
  readonly #select: CubeSelect;
  readonly #resolver: Resolver;
  readonly #scope: Scope;
  readonly #source: number;

  static of(resolver: Resolver, scope: Scope, { view, alias }: Named, made: CubeSelect): CachedCube {
    const { state } = resolver;
    const parsed = parsedView(state, view);
    return new CachedCube(resolver, scope, made, [alias, view, clone(parsed.stmt), new Resolver(state, parsed), new Scope(undefined), scope]);
  }

  constructor(resolver: Resolver, scope: Scope, made: CubeSelect, of: ConstructorParameters<typeof CubeRelation>) {
    super(...of);
    this.#select = made;
    this.#resolver = resolver;
    this.#scope = scope;
    this.#source = resolver.state.references.columns(scope, this.alias);
  }

  override find(name: string): Found | undefined {
    const { kept, lost } = this.#select;
    const found = lost.has(fold(name)) ? undefined : kept.find((k) => k !== undefined && fold(k.name) === fold(name));
    return found && this.#found(found);
  }

  override star(): readonly Found[] {
    return this.#select.kept.flatMap((k) => (k ? [this.#found(k)] : []));
  }

  override rows(): Node {
    return this.#filled(this.#select.rows);
  }

  override condition(): Node[] {
    return [];
  }

  #filled(template: Node): Node {
    return filledIn(template, (name) => reference(this.#source, name));
  }

  #found({ name, isMeasure, template, meaning }: KeptColumn): Found {
    if (isMeasure) return this.#aggregate(name, template);
    const node = this.#filled(template);
    this.named.set(node, name);
    return { node, column: { name, key: name, ...(meaning ? { meaning: { ...meaning, root: this } } : {}) } };
  }

  #aggregate(name: string, template: Node): Found {
    const { references } = this.#resolver.state;
    return { node: references.toAggregate(this.#scope, { cube: this, name, make: () => this.#filled(template) }), column: { name, key: name } };
  }
}
