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
  if (value === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  // the strict schema requires null for an absent member
  const paths = parsed.error.issues.map((issue) => issue.path).filter((path) => path.length > 0);
  const again = schema.safeParse(paths.reduce<unknown>((v, path) => withoutNullAt(v, path), value));
  return again.success ? { value: again.data } : undefined;
}

/** The value without the member at a path, if the member is null. */
function withoutNullAt(value: unknown, [name, ...rest]: readonly PropertyKey[]): unknown {
  if (typeof value !== 'object' || value === null || name === undefined) return value;
  if (Array.isArray(value)) return value.map((item: unknown, i) => (i === name ? withoutNullAt(item, rest) : item));
  const members = Object.entries(value);
  if (rest.length > 0) return Object.fromEntries(members.map(([n, member]) => [n, n === name ? withoutNullAt(member, rest) : member]));
  return Object.fromEntries(members.filter(([n, member]) => n !== name || member !== null));
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
