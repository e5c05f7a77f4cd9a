/**
 * The lists of a model, by name. Each list has an index that is passed on to the list derived from it, so that a script of
 * thousands of statements does not search or index the whole model for each of them.
 */
import { visited } from '../../budget.ts';
import type { Model } from '../model.ts';
import { fold } from '../names.ts';

/** The folded names of a list. To compare each of many names with each of a list would take quadratic time. */
export const folded = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(fold));

const LISTED = new WeakMap<object, ReadonlySet<string>>();

/** Whether a list of properties has one of this name. The names of a list are folded once. */
export function lists(properties: readonly { readonly def: { readonly name: string } }[], name: string): boolean {
  const known = LISTED.get(properties) ?? folded(properties.map((p) => p.def.name));
  LISTED.set(properties, known);
  return known.has(fold(name));
}

/** The cost of a copy of a list: ten values are copied in a step. */
export const stepsOfCopy = (length: number): number => 1 + length / 10;

interface Named {
  readonly name: string;
}

/** The values of each list by folded name. Of two equal names the first one wins. */
const indexes = new WeakMap<readonly Named[], Map<string, Named>>();

function indexOf<T extends Named>(values: readonly T[]): Map<string, T> {
  const known = indexes.get(values);
  if (known) return known as Map<string, T>;
  visited(3 * values.length);
  const index = new Map<string, T>();
  for (const v of values) if (!index.has(fold(v.name))) index.set(fold(v.name), v);
  indexes.set(values, index);
  return index;
}

/** Finds the value with a name, case-insensitively. */
export const find = <T extends Named>(values: readonly T[], name: string): T | undefined => indexOf(values).get(fold(name));

/** A test for `checkName`: whether an object of a name exists in the model, or did before the change. */
export const isKept =
  (model: Model, before: Model | undefined, list: 'concepts' | 'properties' | 'measures' | 'mappings' | 'views', name: string): (() => boolean) =>
  () =>
    [model, before].some((m) => m && find<Named>(m[list], name) !== undefined);

/** `values` with the value of the same name replaced in its position, or with the new value at the end. */
export function put<T extends Named>(values: readonly T[], value: T): readonly T[] {
  const old = find(values, value.name);
  if (old === undefined) return append(values, [value]);
  return changed(values, values.with(values.indexOf(old), value), (index) => index.set(fold(value.name), value));
}

/** `values` with new values at the end. Their names must be new. */
export function append<T extends Named>(values: readonly T[], more: readonly T[]): readonly T[] {
  if (more.length === 0) return values;
  return changed(values, values.concat(more), (index) => {
    for (const v of more) index.set(fold(v.name), v);
  });
}

/** `values` without the value of that name. */
export function remove<T extends Named>(values: readonly T[], name: string): readonly T[] {
  const old = find(values, name);
  if (old === undefined) return values;
  return changed(values, values.toSpliced(values.indexOf(old), 1), (index) => index.delete(fold(name)));
}

/** Counts the copy of a list, and passes the index on to it. A list of an old model may be used by other requests, so its index is not changed while it has one. */
function changed<T extends Named>(from: readonly T[], to: readonly T[], update: (index: Map<string, T>) => void): readonly T[] {
  const index = indexOf(from);
  visited(stepsOfCopy(from.length));
  indexes.delete(from);
  update(index);
  indexes.set(to, index);
  return to;
}
