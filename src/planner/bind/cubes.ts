/**
 * Cubes in FROM (docs/design/aggregates-over-several-paths.md#cubes). The dimensions of a cube are expressions over its FROM. Its measures are arguments of aggregates in
 * the block that reads the cube.
 */
import { badRequest, didYouMean, nearest } from '../../errors.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { clone, conjuncts, type Node, nameOf, type SelectStmt } from '../plan/tree.ts';
import { hasAggregate } from './aliases.ts';
import { asDefiner } from './definer.ts';
import type { Found, Relation } from './relations.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';

/** A column of a cube: a dimension or a measure. */
export interface CubeColumn {
  readonly name: string;
  readonly value: Node;
  readonly isMeasure: boolean;
}

/**
 * The columns of a cube.
 * @param written maps a name in the tree to the name in the text (the reverse of stand-ins)
 * @throws SvcError 400 `bad_cube` if a column has no name
 */
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

/** A cube in FROM. The FROM of the cube is a part of the FROM of the block. */
export class CubeRelation implements Relation {
  readonly alias: string;
  readonly cube: ViewDef;
  /** The dimensions that the block names: expression -> name. */
  readonly named = new Map<Node, string>();
  readonly columns: readonly CubeColumn[];
  readonly #resolver: Resolver;
  /** The scope of the FROM of the cube. */
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
      throw badRequest('bad_cube', `the cube \`${cube.name}\` may only have dimensions and measures over FROM and WHERE`);
    }
    this.columns = cubeColumns(cube, stmt, (name) => resolver.written(name));
  }

  find(name: string): Found | undefined {
    const lower = name.toLowerCase();
    const found = this.columns.find((c) => c.name === name) ?? this.columns.find((c) => c.name.toLowerCase() === lower);
    return found && this.#found(found);
  }

  #found(c: CubeColumn): Found {
    const shown = { name: c.name, key: c.name };
    if (c.isMeasure && hasAggregate(c.value)) {
      const { references } = this.#resolver.state;
      return { node: references.toAggregate(this.#block, { cube: this, name: c.name, make: () => this.#resolve(c.value) }), column: shown };
    }
    const node = this.#resolve(c.value);
    const { references } = this.#resolver.state;
    const measure = 'ColumnRef' in node ? references.measure(node.ColumnRef) : undefined;
    if (measure) return { node: references.toMeasure({ ...measure, cubeColumn: c.name }, c.name), column: shown };
    if (!c.isMeasure) this.named.set(node, c.name);
    return { node, column: shown };
  }

  #resolve(value: Node): Node {
    return asDefiner(this.#resolver.state, this.cube, () => this.#resolver.expression(clone(value), this.#inner));
  }

  star(): readonly Found[] {
    return this.columns.map((c) => this.#found(c));
  }

  names(): Iterable<string> {
    return this.columns.map((c) => c.name);
  }

  /** What COUNT(*) computes, if the block does not read the rows of the cube's concept. */
  rows(): Node | undefined {
    return undefined;
  }

  /** The condition of the cube, for the WHERE clause of the block. */
  condition(stmt: SelectStmt): Node[] {
    return stmt.whereClause ? conjuncts(this.#resolve(stmt.whereClause)) : [];
  }

  explain(name: string): ReturnType<typeof badRequest> | undefined {
    const near = nearest(name, this.names());
    return badRequest('unknown_column', `unknown column \`${name}\` of the cube \`${this.cube.name}\`${didYouMean(near)}`);
  }
}
