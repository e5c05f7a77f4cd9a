/** Slots: a slot takes the place of a concept in FROM until its block is lowered. */
import type { Node } from './tree.ts';

/** The persistence of a RangeVar that is a slot. The parser writes a single letter. */
const SLOT = 'concept';

/** The slot of the concept with a number. @param location of the item of FROM */
export const slotOfConcept = (index: number, location?: number): Node => ({
  RangeVar: { relpersistence: SLOT, relname: String(index), ...(location === undefined ? {} : { location }) },
});

/** The number of the concept; undefined if the node is not a slot. */
export const conceptOfSlot = (node: Node): number | undefined =>
  'RangeVar' in node && node.RangeVar.relpersistence === SLOT ? Number(node.RangeVar.relname) : undefined;
