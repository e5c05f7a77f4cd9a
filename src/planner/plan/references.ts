/**
 * The references of a resolved tree. A resolved reference is a ColumnRef whose first field is the number of a source in this table. No text can write such a reference,
 * and the printer refuses it, so a finished statement has no such reference.
 */
import type { ColumnRef } from '@pgsql/types';
import type { Concept } from '../../ontology/graph.ts';
import type { MeasureDef } from '../../ontology/model.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import type { PathNode } from './path-node.ts';
import { eachColumn, type Node, nameOf, reference, string } from './tree.ts';

/** A reference to a column of a concept. */
export interface Reference {
  readonly relation: ConceptRelation;
  readonly node: PathNode;
  /** The alias in the joins of the relation, and the column of that alias. */
  readonly alias: string;
  readonly column: string;
}

/** A reference to a measure. */
export interface MeasureReference {
  readonly relation: ConceptRelation;
  /** The node whose rows the measure aggregates. */
  readonly node: PathNode;
  readonly concept: Concept;
  readonly def: MeasureDef;
  /** The column of a cube through which the block names the measure. */
  readonly cubeColumn?: string;
}

/** The measure in a message. A cube may have columns of measures that are hidden from the caller, so its own name is used. */
export const calledMeasure = ({ cubeColumn, def }: MeasureReference): string => `the measure \`${cubeColumn ?? def.name}\``;

/** A reference to an aggregate of a cube. */
export interface AggregateReference {
  readonly cube: object;
  readonly name: string;
  /** Makes a new tree of the aggregate's expression. */
  readonly make: () => Node;
}

/** The source of the columns of references with the same number. `owner`: the block whose FROM contains it. */
type Source =
  | { readonly kind: 'node'; readonly relation: ConceptRelation; readonly node: PathNode; readonly alias: string }
  /** Columns of an alias; undefined for the columns that USING has merged. */
  | { readonly kind: 'columns'; readonly owner: object; readonly alias: string | undefined }
  | { readonly kind: 'measure'; readonly measure: MeasureReference }
  | { readonly kind: 'aggregate'; readonly owner: object; readonly aggregate: AggregateReference };

/** The table of the sources of resolved references. */
export class References {
  readonly #sources: Source[] = [];
  readonly #nodes = new Map<string, number>();
  #hasMeasures = false;

  #add(source: Source): number {
    return this.#sources.push(source);
  }

  /** A reference to a column of an alias in the joins of a relation. */
  toNode(relation: ConceptRelation, node: PathNode, alias: string, name: string): Node {
    let id = this.#nodes.get(alias);
    if (id === undefined) {
      id = this.#add({ kind: 'node', relation, node, alias });
      this.#nodes.set(alias, id);
    }
    return reference(id, name);
  }

  /** Adds the columns of a relation in the FROM of `owner`. @returns their number, for `reference` */
  columns(owner: object, alias: string | undefined): number {
    return this.#add({ kind: 'columns', owner, alias });
  }

  /** True if something refers to a measure. */
  get hasMeasures(): boolean {
    return this.#hasMeasures;
  }

  toMeasure(measure: MeasureReference, name: string): Node {
    this.#hasMeasures = true;
    return reference(this.#add({ kind: 'measure', measure }), name);
  }

  toAggregate(owner: object, aggregate: AggregateReference): Node {
    return reference(this.#add({ kind: 'aggregate', owner, aggregate }), aggregate.name);
  }

  #source(ref: ColumnRef): Source | undefined {
    const first = ref.fields?.[0];
    return first && 'Integer' in first ? this.#sources[(first.Integer.ival ?? 0) - 1] : undefined;
  }

  /** The meaning of a reference to a column of a concept; undefined for any other reference. */
  of(ref: ColumnRef): Reference | undefined {
    const source = this.#source(ref);
    if (source?.kind !== 'node') return undefined;
    const { relation, node, alias } = source;
    return { relation, node, alias, column: nameIn(ref) };
  }

  measure(ref: ColumnRef): MeasureReference | undefined {
    const source = this.#source(ref);
    return source?.kind === 'measure' ? source.measure : undefined;
  }

  aggregate(ref: ColumnRef): AggregateReference | undefined {
    const source = this.#source(ref);
    return source?.kind === 'aggregate' ? source.aggregate : undefined;
  }

  /** The block whose FROM contains the column; undefined if the reference is not resolved. */
  owner(ref: ColumnRef): object | undefined {
    const source = this.#source(ref);
    if (source === undefined) return undefined;
    if (source.kind === 'node') return source.relation.owner;
    return source.kind === 'measure' ? source.measure.relation.owner : source.owner;
  }

  /**
   * Replaces the references to columns of a block's FROM by names (in place).
   * @param seen called with the relation and node of each reference to a column of a concept
   */
  settle<T>(tree: T, owner: object, seen?: (relation: ConceptRelation, node: PathNode) => void): T {
    eachColumn(tree, (ref) => {
      const source = this.#source(ref);
      if (source?.kind === 'node') {
        const { relation, node, alias } = source;
        seen?.(relation, node);
        if (relation.owner === owner) ref.fields = [string(relation.alias), string(relation.exposeNode(node, nameIn(ref), alias))];
      }
      if (source?.kind === 'columns' && source.owner === owner) {
        ref.fields = [...(source.alias === undefined ? [] : [string(source.alias)]), string(nameIn(ref))];
      }
    });
    return tree;
  }
}

const nameIn = (ref: ColumnRef): string => nameOf(ref.fields?.at(-1)) ?? '';
