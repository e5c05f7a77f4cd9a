/** Extracts the requested value from a model's text. */
import type { z } from 'zod';
import { withoutThoughts } from '../fence.ts';

/** The maximum length of a text that is searched for a value. */
const MAX_TEXT = 100_000;
/** The maximum number of opening braces to try. */
const MAX_STARTS = 50;

/**
 * The value of a turn in a model's text: the whole text, or the only JSON object in it that matches the schema, with prose or a
 * code fence around it. Undefined if no text or several different texts fit.
 */
export function valueIn<T>(text: string, schema: z.ZodType<T>): T | undefined {
  const whole = formed(jsonOf(text), schema);
  if (whole !== undefined) return whole.value;
  const answer = withoutThoughts(text.slice(0, MAX_TEXT));
  const found = new Map<string, T>();
  for (const object of objectsIn(answer)) {
    const value = formed(object, schema);
    if (value !== undefined) found.set(JSON.stringify(value.value), value.value);
  }
  return found.size === 1 ? [...found.values()][0] : undefined;
}

function formed<T>(value: unknown, schema: z.ZodType<T>): { readonly value: T } | undefined {
  if (value === undefined || hasLongList(value)) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  // the strict schema requires null for an absent member
  for (const { path } of parsed.error.issues) removeNullAt(value, path);
  const again = schema.safeParse(value);
  return again.success ? { value: again.data } : undefined;
}

/** No turn asks for a longer list. Each wrong element of one costs memory. */
const MAX_ELEMENTS = 100;

const hasLongList = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && [value, ...Object.values(value)].some((v) => Array.isArray(v) && v.length > MAX_ELEMENTS);

/** Removes the member at a path from the value, if the member is null. */
function removeNullAt(value: unknown, path: readonly PropertyKey[]): void {
  let at = value as Record<PropertyKey, unknown> | null | undefined;
  const last = path.at(-1);
  for (const name of path.slice(0, -1)) at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at[name] as typeof at) : undefined;
  if (typeof at === 'object' && at !== null && !Array.isArray(at) && last !== undefined && at[last] === null) delete at[last];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The outermost JSON objects in a text. */
function* objectsIn(text: string): Generator<unknown> {
  let at = text.indexOf('{');
  for (let starts = 0; at >= 0 && starts < MAX_STARTS; starts++) {
    const end = endOfObject(text, at);
    const object = end === undefined ? undefined : jsonOf(text.slice(at, end));
    if (object !== undefined) yield object;
    at = text.indexOf('{', object === undefined || end === undefined ? at + 1 : end);
  }
}

/** The offset after the brace that closes the one at `start`; undefined if no brace closes it. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '\\') i++;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === '{') depth++;
    else if (c === '}' && --depth === 0) return i + 1;
  }
  return undefined;
}
