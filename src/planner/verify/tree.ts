/** Functions to read a syntax tree in the parser's JSON: `{ Type: { member: ... } }`. */
import { refuse } from './refusal.ts';

/** A node: an object with its type as the only key. */
export type Tree = Readonly<Record<string, unknown>>;
/** The members of a node. */
export type Body = Readonly<Record<string, unknown>>;

/** The type of a node. A node with no type or several types is refused. */
export function typeOf(node: Tree): string {
  let type: string | undefined;
  for (const key in node) {
    if (type !== undefined) refuse('node', key);
    type = key;
  }
  return type ?? refuse('node', 'empty');
}

/** The words of a text. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** A list, or an empty one if it is missing. */
export const listOf = (value: unknown): readonly Tree[] => (value === undefined ? [] : (value as readonly Tree[]));

/** The text of a String node; undefined for another node. */
export const nameOf = (node: Tree | undefined): string | undefined => {
  const found = node?.String as { sval?: string } | undefined;
  return found && (found.sval ?? '');
};

/** The texts of a list of String nodes. Other nodes are refused. */
export const namesOf = (value: unknown): string[] => listOf(value).map((node) => nameOf(node) ?? refuse('node', typeOf(node)));

/** The members of a node. */
export const firstOf = (node: Tree): Body => node[typeOf(node)] as Body;
