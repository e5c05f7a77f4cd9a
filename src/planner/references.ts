/** What the references of a resolved tree mean, kept beside it: the tree itself stays PostgreSQL's. */
import type { ColumnRef } from '@pgsql/types';
import { made } from '../budget.ts';
import type { Concept } from '../ontology/graph.ts';
import type { MeasureDef } from '../ontology/model.ts';
import type { PathNode } from './joins.ts';
import type { ConceptRelation } from './relation.ts';

/** What a reference to a concept's column means, kept beside the tree. */
export interface Reference {
  readonly relation: ConceptRelation;
  readonly node: PathNode;
  /** The alias inside the relation's joins, and the column there. */
  readonly alias: string;
  readonly column: string;
}
const REFERENCES = new WeakMap<ColumnRef, Reference>();
export const setReference = (ref: ColumnRef, reference: Reference): void => {
  REFERENCES.set(ref, reference);
};
/** A reference that now stands for something else: the relation need not yield its column for it. */
export const forget = (ref: ColumnRef): void => {
  REFERENCES.delete(ref);
};
export const referenceOf = (ref: ColumnRef): Reference | undefined => REFERENCES.get(ref);

/** Remembers which block's relation a reference means. */
const OWNERS = new WeakMap<ColumnRef, object>();
export const setOwner = (ref: ColumnRef, scope: object): void => {
  OWNERS.set(ref, scope);
};
/** The scope whose relation a resolved reference means; undefined: it has not been resolved. */
export const ownerOf = (ref: ColumnRef): object | undefined => OWNERS.get(ref);

/** A copy of a resolved tree, its references still known. */
export function cloneResolved<T>(tree: T): T {
  return copy(tree) as T;
}
function copy(v: unknown): unknown {
  if (v === null || typeof v !== 'object') return v;
  made();
  if (Array.isArray(v)) return v.map(copy);
  const out: Record<string, unknown> = {};
  for (const k in v) out[k] = copy((v as Record<string, unknown>)[k]);
  const reference = REFERENCES.get(v as ColumnRef);
  if (reference) REFERENCES.set(out as ColumnRef, reference);
  const owner = OWNERS.get(v as ColumnRef);
  if (owner) OWNERS.set(out as ColumnRef, owner);
  const measure = MEASURES.get(v as ColumnRef);
  if (measure) MEASURES.set(out as ColumnRef, measure);
  return out;
}

/** What a reference to a measure's column means. */
export interface MeasureReference {
  readonly relation: ConceptRelation;
  /** The node whose rows are the measure's things. */
  readonly node: PathNode;
  readonly concept: Concept;
  readonly def: MeasureDef;
  /** The column of a cube by which the block names it. */
  readonly cubeColumn?: string;
}

/** The name by which a block calls a measure. A cube may show measures that are hidden from who reads the cube. */
export const calledMeasure = ({ cubeColumn, def }: MeasureReference): string => `the measure \`${cubeColumn ?? def.name}\``;

const MEASURES = new WeakMap<ColumnRef, MeasureReference>();
export const setMeasure = (ref: ColumnRef, measure: MeasureReference): void => {
  MEASURES.set(ref, measure);
};
export const measureOf = (ref: ColumnRef): MeasureReference | undefined => MEASURES.get(ref);
