/** Keeps a stored model small in an isolate's memory: equal values are shared (docs/design/platform-rules.md#memory-of-an-isolate). */
import type { Model, Tags } from './model.ts';

/** The lengths of strings that are shared: V8 already shares shorter ones when it parses JSON, and longer ones (SQL) are rarely equal. */
const MIN_SHARED = 11;
const MAX_SHARED = 128;

/** The empty list and the empty object of all models. */
export const NO_ITEMS: readonly never[] = Object.freeze([]);
export const NO_MEMBERS: Tags = Object.freeze({});

/** Parses a model's JSON and shares equal names, all empty lists and all empty objects. @throws SyntaxError */
export function parseModel(text: string): Model {
  const model: Model = JSON.parse(text);
  compact(model, new Map());
  return model;
}

/** Compacts a list or object in place. Nothing else may refer to it yet. `known`: the strings found so far. */
function compact(value: object, known: Map<string, string>): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = kept(value[i], known);
    return;
  }
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (member === null || (typeof member !== 'object' && typeof member !== 'string')) continue;
    members[name] = kept(member, known);
  }
}

/** The shared value that replaces a value. */
function kept(value: unknown, known: Map<string, string>): unknown {
  if (typeof value === 'string') {
    if (value.length < MIN_SHARED || value.length > MAX_SHARED) return value;
    const first = known.get(value);
    if (first === undefined) known.set(value, value);
    return first ?? value;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    if (value.length === 0) return NO_ITEMS;
  } else if (Object.keys(value).length === 0) return NO_MEMBERS;
  compact(value, known);
  return value;
}
