/** The kinds of relations that a name in FROM may mean. from.ts has the list of them (docs/adding.md#a-relation). */
import type { BoundCube, MadeFrom } from '../plan/block.ts';
import type { Node } from '../plan/tree.ts';
import type { ConceptRelation } from './relation.ts';
import type { FixedRelation, OutColumn, Relation, Schema } from './relations.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';
import type { MadeItem } from './views.ts';

/** The neutral name of a schema; undefined for an unqualified name. */
export type SchemaName = Schema | 'vsvc' | 'gsvc' | undefined;

/** A kind of relations that a name in FROM may mean. */
export interface RelationKind {
  /** The schemas that contain relations of this kind. */
  readonly schemas: readonly SchemaName[];
  /** Looks up the relation that an item names; undefined if it is not of this kind. @throws SvcError 403 without the right to read it */
  find(item: NamedItem): Relation | undefined;
}

/** An item of FROM that names a relation. */
export interface NamedItem {
  readonly resolver: Resolver;
  /** The name in the text. */
  readonly name: string;
  /** The name in the tree, which may be a stand-in. */
  readonly relname: string;
  readonly schema: SchemaName;
  readonly alias: string;
  /** The column list of the alias. */
  readonly renames: readonly string[];
  readonly scope: Scope;
  /** The block that the columns belong to. For an item in the FROM of a cube: the block that reads the cube. */
  readonly owner: Scope;
  /** True for an item in the FROM of a cube. The block that reads the cube cannot use its alias. */
  readonly inCube: boolean;
  /** Makes a relation with these columns, and leaves the item unchanged. */
  derived(columns: readonly OutColumn[]): FixedRelation;
  /** Replaces the item by the slot of a concept. */
  concept(relation: ConceptRelation): Relation;
  /** Replaces the item by a sub-select. */
  become(made: MadeItem, from: Omit<MadeFrom, 'alias'>): Relation;
  /** Replaces the item by the FROM of a cube. */
  cube(items: CubeItems): Relation;
}

/** The FROM of a cube. */
export interface CubeItems {
  readonly items: readonly Node[];
  readonly resolver: Resolver;
  /** Runs the function that binds the items. */
  bind(make: () => void): void;
  /** Makes the cube from the scope of its items and the concepts that they read. */
  relation(scope: Scope, concepts: readonly ConceptRelation[]): BoundCube;
}
