/** A query block with resolved names: the input of lowering. */

import type { CubeRelation } from '../bind/cubes.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import type { Scope } from '../bind/scope.ts';
import type { PathNode } from './path-node.ts';
import type { Frame } from './position.ts';
import type { Node, SelectStmt } from './tree.ts';

/** A query block with resolved names. */
export interface BoundBlock {
  /** The block with resolved references, and with a slot in FROM for each concept (slots.ts). */
  readonly stmt: SelectStmt;
  readonly scope: Scope;
  /** The concepts of FROM, by the numbers of their slots. */
  readonly relations: readonly ConceptRelation[];
  readonly cubes: readonly BoundCube[];
  /** The views and system tables that became sub-selects, by their items of FROM. */
  readonly made: ReadonlyMap<Node, MadeFrom>;
  /** The nodes that FROM itself refers to, in ON or LATERAL. */
  readonly fromNodes: ReadonlySet<PathNode>;
}

/** A view, a cube or a system table with its alias. */
export interface MadeFrom {
  readonly kind: 'view' | 'cube' | 'system';
  readonly name: string;
  readonly alias: string;
}

/** A cube whose FROM is now a part of the FROM of the block. */
export interface BoundCube {
  readonly relation: CubeRelation;
  readonly stmt: SelectStmt;
  /** The concepts of its FROM. */
  readonly concepts: readonly ConceptRelation[];
  /** Set if the cube leaves out rows that the caller may not read. `single`: the concept of its FROM, if there is only one. */
  readonly barrier: { readonly single: ConceptRelation | undefined } | undefined;
}

/** A block to be lowered when the whole query is bound, and its position in the statement. */
export interface PendingBlock {
  readonly block: BoundBlock;
  readonly here: Frame;
  /** The offset in the request of a location in the block's text; undefined for a stored text. */
  readonly offsetOf: (location: number | undefined) => number | undefined;
}
