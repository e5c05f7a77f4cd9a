/** The aggregates of a block, grouped by the sub-select that computes them. */
import type { PropertyDef } from '../../../ontology/model.ts';
import type { PathNode } from '../../plan/path-node.ts';
import type { MeasureReference } from '../../plan/references.ts';
import type { Node } from '../../plan/tree.ts';
import type { Fold } from './fold.ts';
import { type BlockFacts, isOnSpine, NONE, type Spine } from './spine.ts';

/** A call or a measure that a level computes. */
export interface Item extends Spine {
  /** The node in the block's trees that is replaced. */
  readonly node: Node;
  /** The expression that the level computes. */
  readonly expression: Node;
  readonly ignoresDuplicates: boolean;
  readonly nodes: ReadonlySet<PathNode>;
  /** Set for a measure over things that several rows may lead to, which gets a sub-select of its own. */
  readonly things?: Things;
  /** The SQL type of the expression, if it is known. */
  readonly type?: string;
}

/** A measure over distinct things, and the columns of their rows that it reads. */
export interface Things {
  readonly measure: MeasureReference;
  /** The call around the measure. */
  readonly call: Node;
  readonly columns: Map<string, { name: string; def: PropertyDef }>;
  /** The FILTER of the call around the measure. */
  readonly filter: Node | undefined;
}

/** The items that one sub-select computes. */
export interface Part extends Spine {
  readonly things?: Things;
  readonly items: Item[];
  /** Items that are computed by foreign key, in addition to the root's own items. */
  readonly folds?: readonly Fold[];
}

/**
 * Groups items into parts: one for each level of the calls that are sensitive to duplicates, and one for each measure over things. Insensitive calls join the
 * first part that has their paths, or get a part of their own.
 */
export function partsOf(items: readonly Item[], facts: BlockFacts): Part[] {
  const parts: Part[] = [];
  const add = (item: Item): void => void parts.push({ level: item.level, proved: item.proved, items: [item] });
  for (const item of items.filter((i) => !i.things && !i.ignoresDuplicates)) {
    const known = parts.findIndex((p) => !p.things && p.level === item.level);
    const part = parts[known];
    if (part) parts[known] = { ...part, proved: part.proved.size > 0 ? part.proved : item.proved, items: [...part.items, item] };
    else add(item);
  }
  for (const item of items.filter((i) => !i.things && i.ignoresDuplicates)) {
    const fitting = parts.find((p) => !p.things && [...item.nodes].every((n) => isOnSpine(n, p, facts)));
    if (fitting) fitting.items.push(item);
    else add(item);
  }
  for (const item of items) if (item.things) parts.push({ level: null, proved: NONE, things: item.things, items: [item] });
  return parts;
}
