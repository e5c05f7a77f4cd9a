/** Names, types and the clauses that many modelling statements share. */
import { badRequest } from '../../errors.ts';
import type { Name, SqlText, TagList } from '../statements.ts';
import type { Cursor } from './cursor.ts';

const MAX_NAME = 128;
const RESERVED = /^(~|measure\.|_type_of_)/i;

/**
 * The reason why `text` is not a valid name, or undefined if it is one (docs/design/statements-and-versions.md#names-of-things): 1 to 128 characters, no square
 * brackets, no control characters, no prefix that has a meaning in paths.
 */
function nameFault(text: string): string | undefined {
  if (text.length === 0) return 'a name cannot be empty';
  if ([...text].length > MAX_NAME) return `a name has at most ${MAX_NAME} characters`;
  if (/[[\]]/.test(text)) return 'a name cannot contain square brackets';
  if (/\p{Cc}/u.test(text)) return 'a name cannot contain control characters';
  const reserved = RESERVED.exec(text)?.[0];
  return reserved === undefined ? undefined : `a name cannot start with \`${reserved}\``;
}

/** Reads the name of a model object. @throws SvcError 400 `bad_name` */
export function name(c: Cursor, what: string): Name {
  return checked(c.identifier(what));
}

/** Reads the name of a relationship, or `~` and a name for its inverse. */
export function direction(c: Cursor): Name {
  const found = c.identifier('the name of a relationship');
  checked(found.text.startsWith('~') ? { ...found, text: found.text.slice(1) } : found);
  return found;
}

function checked(found: Name): Name {
  const fault = nameFault(found.text);
  if (fault !== undefined) throw badRequest('bad_name', fault, { offset: found.offset });
  return found;
}

export const names = (c: Cursor, what: string): Name[] => c.list(() => name(c, what));

/** Reads a type: a word, optionally with numbers in brackets. ontology/types.ts checks that the type exists. */
export function type(c: Cursor): Name {
  const { text, offset } = c.identifier('a type');
  if (!c.seesMark('(')) return { text, offset };
  const numbers = c.list(() => c.number('a number of digits').text);
  return { text: `${text}(${numbers.join(',')})`, offset };
}

/** Reads `[=] 't'` after its keyword. */
export function text(c: Cursor, what: string): { text: string; offset: number } {
  c.acceptMark('=');
  return c.string(what);
}

/** `(k = 'v', ...)` */
export function pairs(c: Cursor, what: string): TagList {
  return c.list(() => {
    const key = c.identifier(what);
    if (key.text.length === 0) throw badRequest('bad_name', `${what} cannot be empty`, { offset: key.offset });
    c.expectMark('=');
    return { key, value: c.string('a text in single quotes').text };
  });
}

/** Reads clauses in any order, each at most once. `readers` maps the keywords of a clause to the function that reads the rest. Stops at the first other token. */
export function clauses(c: Cursor, readers: Readonly<Record<string, () => void>>): void {
  const left = new Map(Object.entries(readers));
  for (let found = true; found; ) {
    found = false;
    for (const [keywords, read] of left) {
      const [first = '', ...rest] = keywords.split(' ');
      if (!c.accept(first)) continue;
      c.expect(...rest);
      left.delete(keywords);
      read();
      found = true;
      break;
    }
  }
}

/** Reads `AS` and a query, to the end of the statement. */
export function query(c: Cursor): SqlText {
  c.expect('AS');
  if (!beginsQuery(c)) throw c.unexpected('`SELECT`');
  return c.rest('`SELECT`');
}

/** The first keywords of a query in PostgreSQL's grammar. A query may also start with a bracket. */
export const QUERIES: readonly string[] = ['SELECT', 'WITH', 'VALUES', 'TABLE'];

/** Whether a query starts at the current token. */
export const beginsQuery = (c: Cursor): boolean => c.seesMark('(') || QUERIES.some((keyword) => c.sees(keyword));
