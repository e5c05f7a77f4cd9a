/**
 * Cubes in FROM (docs/design/aggregates-over-several-paths.md#cubes): a cube's dimensions are expressions over its own FROM, its measures stand inside
 * aggregates of the block that reads it.
 */
import type { ColumnRef } from '@pgsql/types';
import { badRequest, didYouMean, nearest } from '../errors.ts';
import type { ViewDef } from '../ontology/model.ts';
import { isAggregateCall } from './aggregate/calls.ts';
import { conjuncts } from './aggregate/conditions.ts';
import { hasAggregate } from './aliases.ts';
import { cloneResolved, measureOf, setMeasure, setOwner } from './references.ts';
import type { Found, Relation } from './relations.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';
import { and, call, clone, column, type Node, nameOf, rewrite, type SelectStmt, walk } from './tree.ts';
import { asDefiner } from './views.ts';

/** A cube's column that is an aggregate: what it stands for inside an aggregate of the block. */
const AGGREGATES = new WeakMap<ColumnRef, { readonly cube: CubeRelation; readonly name: string; readonly make: () => Node }>();

export interface CubeColumn {
  readonly name: string;
  readonly value: Node;
  readonly isMeasure: boolean;
}

/** The columns of a cube by its statement; `written` undoes stand-ins. @throws SvcError 400 `bad_cube` where one has no name */
export function cubeColumns(cube: ViewDef, stmt: SelectStmt, written: (name: string) => string): readonly CubeColumn[] {
  return (stmt.targetList ?? []).map((t) => {
    const { name, val } = 'ResTarget' in t ? t.ResTarget : {};
    const bare = val && 'ColumnRef' in val ? nameOf(val.ColumnRef.fields?.at(-1)) : undefined;
    const own = bare === undefined ? undefined : written(bare);
    const shown = name === undefined ? own : written(name);
    if (!val || shown === undefined) throw badRequest('bad_cube', `each column of the cube \`${cube.name}\` needs a name`);
    return { name: shown, value: val, isMeasure: hasAggregate(val) || own?.toLowerCase().startsWith('measure.') === true };
  });
}

/** A cube in a block. Its FROM has become a part of the block's. */
export class CubeRelation implements Relation {
  readonly alias: string;
  readonly cube: ViewDef;
  /** Dimensions that the block has named, as expressions. */
  readonly named: Node[] = [];
  readonly #columns: readonly CubeColumn[];
  readonly #resolver: Resolver;
  /** The scope of the cube's own FROM. */
  readonly #inner: Scope;
  readonly #block: Scope;

  constructor(alias: string, cube: ViewDef, stmt: SelectStmt, resolver: Resolver, inner: Scope, block: Scope) {
    this.alias = alias;
    this.cube = cube;
    this.#resolver = resolver;
    this.#inner = inner;
    this.#block = block;
    if (
      stmt.groupClause ||
      stmt.havingClause ||
      stmt.distinctClause ||
      stmt.sortClause ||
      stmt.limitCount ||
      stmt.limitOffset ||
      (stmt.op && stmt.op !== 'SETOP_NONE')
    ) {
      throw badRequest('bad_cube', `the cube \`${cube.name}\` is dimensions and measures over FROM and WHERE alone`);
    }
    this.#columns = cubeColumns(cube, stmt, (name) => resolver.written(name));
  }

  find(name: string): Found | undefined {
    const lower = name.toLowerCase();
    const found = this.#columns.find((c) => c.name === name) ?? this.#columns.find((c) => c.name.toLowerCase() === lower);
    return found && this.#found(found);
  }

  #found(c: CubeColumn): Found {
    const shown = { name: c.name, key: c.name };
    if (c.isMeasure && hasAggregate(c.value)) {
      const made = column(this.alias, c.name) as { ColumnRef: ColumnRef };
      AGGREGATES.set(made.ColumnRef, { cube: this, name: c.name, make: () => this.#resolve(c.value) });
      return { node: made, column: shown };
    }
    const node = this.#resolve(c.value);
    const measure = 'ColumnRef' in node ? measureOf(node.ColumnRef) : undefined;
    if (measure && 'ColumnRef' in node) setMeasure(node.ColumnRef, { ...measure, cubeColumn: c.name });
    if (!c.isMeasure) this.named.push(node);
    return { node, column: shown };
  }

  #resolve(value: Node): Node {
    const node = asDefiner(this.#resolver.work, this.cube, () => this.#resolver.expression(clone(value), this.#inner));
    walk(node, (n) => {
      if ('ColumnRef' in n) setOwner(n.ColumnRef, this.#block);
      return undefined;
    });
    return node;
  }

  star(): readonly Found[] {
    return this.#columns.map((c) => this.#found(c));
  }

  names(): Iterable<string> {
    return this.#columns.map((c) => c.name);
  }

  /** The cube's own condition, for the block's WHERE. */
  condition(stmt: SelectStmt): Node[] {
    return stmt.whereClause ? conjuncts(this.#resolve(stmt.whereClause)) : [];
  }

  explain(name: string): ReturnType<typeof badRequest> | undefined {
    const near = nearest(name, this.names());
    return badRequest('unknown_column', `unknown column \`${name}\` of the cube \`${this.cube.name}\`${didYouMean(near)}`);
  }
}

const CLAUSES = ['targetList', 'havingClause', 'sortClause', 'distinctClause', 'windowClause'] as const;

/**
 * Gives a block over cubes its aggregates: where it has neither aggregate nor GROUP BY, it is grouped by the dimensions that it
 * selects, its measures bare; an aggregate around a measure only marks it.
 */
export function finishCubes(stmt: SelectStmt, cubes: readonly CubeRelation[], selected: readonly Node[]): void {
  const tree = CLAUSES.map((c) => stmt[c]);
  let aggregated = (stmt.groupClause?.length ?? 0) > 0 || stmt.havingClause !== undefined;
  walk(tree, (n) => {
    if ('SelectStmt' in n) return false;
    if (isAggregateCall(n)) aggregated = true;
    return undefined;
  });
  const change = (visit: (n: Node) => Node | undefined): void => {
    for (const clause of CLAUSES) if (stmt[clause]) (stmt as Record<string, unknown>)[clause] = rewrite(stmt[clause], visit);
  };
  if (!aggregated) {
    change((n) => ('ColumnRef' in n && (AGGREGATES.has(n.ColumnRef) || measureOf(n.ColumnRef)) ? call('sum', [n]) : undefined));
    if (selected.length > 0) stmt.groupClause = selected.map(cloneResolved);
  }
  change((n) => {
    if (!isAggregateCall(n)) return undefined;
    const arg = n.FuncCall.args?.[0];
    const made = arg && n.FuncCall.args?.length === 1 && 'ColumnRef' in arg ? AGGREGATES.get(arg.ColumnRef) : undefined;
    if (!made || !cubes.includes(made.cube)) return undefined;
    return narrowed(made.make(), n.FuncCall.agg_filter);
  });
  walk([tree, stmt.whereClause, stmt.groupClause], (n) => {
    const bare = 'ColumnRef' in n ? AGGREGATES.get(n.ColumnRef) : undefined;
    if (bare)
      throw badRequest('bare_measure', `the measure \`${bare.name}\` of the cube \`${bare.cube.cube.name}\` is used outside an aggregate`, {
        hint: `write SUM(${bare.name}): the aggregate only marks it`,
      });
    return undefined;
  });
}

/** An aggregate expression with a FILTER on each of its calls. */
function narrowed(expression: Node, filter: Node | undefined): Node {
  if (filter) {
    walk(expression, (n) => {
      if (!isAggregateCall(n)) return undefined;
      n.FuncCall.agg_filter = and([...conjuncts(n.FuncCall.agg_filter), ...conjuncts(cloneResolved(filter))]) as Node;
      return false;
    });
  }
  return expression;
}
