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

/** The number of values that can be copied in one step of effort. */
const COPIED_IN_A_STEP = 10;

interface Named {
  readonly name: string;
}

const indexes = new WeakMap<readonly Named[], Map<string, number>>();

function indexOf(values: readonly Named[]): Map<string, number> {
  const known = indexes.get(values);
  if (known) return known;
  visited(3 * values.length);
  const index = new Map<string, number>();
  values.forEach((v, i) => {
    if (!index.has(fold(v.name))) index.set(fold(v.name), i);
  });
  indexes.set(values, index);
  return index;
}

/** Finds the value with a name, case-insensitively. */
export function find<T extends Named>(values: readonly T[], name: string): T | undefined {
  const at = indexOf(values).get(fold(name));
  return at === undefined ? undefined : values[at];
}

/** A test for `checkName`: whether an object of a name exists in the model, or did before the change. */
export const isKept =
  (model: Model, before: Model | undefined, list: 'concepts' | 'properties' | 'measures' | 'mappings' | 'views', name: string): (() => boolean) =>
  () =>
    [model, before].some((m) => m && find<Named>(m[list], name) !== undefined);

/** `values` with the value of the same name replaced in its position, or with the new value at the end. */
export function put<T extends Named>(values: readonly T[], value: T): readonly T[] {
  const at = indexOf(values).get(fold(value.name));
  if (at === undefined) return append(values, [value]);
  visited(1 + values.length / COPIED_IN_A_STEP);
  const result = values.with(at, value);
  hand(values, result);
  return result;
}

/** `values` with new values at the end. Their names must be new. */
export function append<T extends Named>(values: readonly T[], more: readonly T[]): readonly T[] {
  if (more.length === 0) return values;
  const index = indexOf(values);
  more.forEach((v, i) => {
    index.set(fold(v.name), values.length + i);
  });
  visited(1 + values.length / COPIED_IN_A_STEP);
  const result = values.concat(more);
  hand(values, result);
  return result;
}

/** `values` without the value of that name. */
export function remove<T extends Named>(values: readonly T[], name: string): readonly T[] {
  visited(values.length);
  return values.filter((v) => fold(v.name) !== fold(name));
}

function hand(from: readonly Named[], to: readonly Named[]): void {
  const index = indexOf(from);
  indexes.delete(from);
  indexes.set(to, index);
}
