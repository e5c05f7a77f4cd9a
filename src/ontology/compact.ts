/** A stored model in the memory of an isolate: values that occur many times in it are stored once (docs/design/platform-rules.md#memory-of-an-isolate). */
import type { Model, Tags } from './model.ts';

/** Shorter texts are one string already (V8 makes them so when it parses JSON); of longer ones (SQL) hardly two are equal. */
const LEAST_SHARED = 11;
const MOST_SHARED = 128;

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_MEMBERS: Tags = Object.freeze({});

/** Reads a model's JSON: equal names are one string, all empty lists one list, all empty objects one object. @throws SyntaxError */
export function parseModel(text: string): Model {
  const model: Model = JSON.parse(text);
  compact(model, new Map());
  return model;
}

/** `value`: a list or an object that is no other's yet; `known`: the texts met so far. */
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

/** What is to stand in the place of a value. */
function kept(value: unknown, known: Map<string, string>): unknown {
  if (typeof value === 'string') {
    if (value.length < LEAST_SHARED || value.length > MOST_SHARED) return value;
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
