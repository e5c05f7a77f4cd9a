/** Functions to read nodes of a syntax tree whose types are not known. */

/** The members of a node. */
export type Fields = Readonly<Record<string, unknown>>;

/** A String node. */
export interface Word {
  readonly String: { readonly sval?: string };
}
/** True for a String node. */
export const isWord = (node: unknown): node is Word => typeof node === 'object' && node !== null && 'String' in node;
/** The texts of a list of String nodes. */
export const words = (list: unknown): string[] => ((list ?? []) as Word[]).map((w) => w.String.sval ?? '');

/** The location of a node; undefined if the grammar has added the node (-1). */
export function locationOf(fields: Fields): number | undefined {
  const location = fields.location;
  return typeof location === 'number' && location >= 0 ? location : undefined;
}

/** The first location near the root of a tree. */
export function firstLocation(value: unknown): number | undefined {
  const queue: unknown[] = [value];
  for (let i = 0; i < queue.length && i < 100; i++) {
    const v = queue[i];
    if (typeof v !== 'object' || v === null) continue;
    const location = Array.isArray(v) ? undefined : locationOf(v as Fields);
    if (location !== undefined) return location;
    queue.push(...Object.values(v));
  }
  return undefined;
}
