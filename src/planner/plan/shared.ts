/** Trees that several plans share, and copies that one of them owns. */
import { visited } from '../../budget.ts';
import { hasOnlyNames } from './tree.ts';

/** Makes a tree that plans share unchangeable, with all nodes below it (in place). */
export function frozen<T>(tree: T): T {
  if (typeof tree !== 'object' || tree === null || Object.isFrozen(tree)) return tree;
  Object.freeze(tree);
  for (const k in tree) frozen(tree[k]);
  return tree;
}

/** A copy of a tree that may be changed in place. It shares only nodes of names and constants (`hasOnlyNames`), which nothing changes. */
export function ownCopy<T>(tree: T): T {
  if (typeof tree !== 'object' || tree === null) return tree;
  visited();
  if (Array.isArray(tree)) return tree.map(ownCopy) as T;
  const copy = {} as T;
  for (const k in tree) copy[k] = hasOnlyNames(k) ? tree[k] : ownCopy(tree[k]);
  return copy;
}
