/** Errors that several statements share. */
import { badRequest, didYouMean, nearest, quoted, type SvcError } from '../../errors.ts';
import type { Name, TagList } from '../../language/statements.ts';
import { NO_MEMBERS } from '../compact.ts';
import type { Tags } from '../model.ts';
import { ENTITY_COLUMNS, fold, looksLikeAnother, sameName, THING } from '../names.ts';

/** A kind of object, as error messages call it. */
export type Kind = 'concept' | 'property' | 'measure' | 'mapping' | 'view' | 'cube' | 'relationship' | 'datasource' | 'tag';

/** 400 `unknown_<kind>`, with the most similar known name. `of` says where the name was looked up. */
export function unknown(kind: Kind, name: string, offset: number | undefined, known: Iterable<string>, of = '', hint?: string): SvcError {
  const near = nearest(name, known);
  return badRequest(`unknown_${kind}`, `unknown ${kind} ${quoted(name)}${of}${didYouMean(near)}`, { offset, hint });
}

/** 400 `exists`. */
export function exists(kind: Kind, name: string, offset: number, of = ''): SvcError {
  return badRequest('exists', `the ${kind} ${quoted(name)}${of} already exists`, {
    offset,
    hint: `use CREATE OR REPLACE, or another name; names are case-insensitive`,
  });
}

/**
 * Checks the name of an object (docs/design/statements-and-versions.md#names-of-things).
 *
 * @param isKept true if an object of that name exists: it may have invisible characters, since older services allowed them
 * @throws SvcError 400 `bad_name`, or `reserved_name` for `thing` and the entity columns
 */
export function checkName(name: Name, kind: Kind, isKept: () => boolean = () => false): void {
  const fail = (why: string, code = 'bad_name'): never => {
    throw badRequest(code, `${quoted(name.text)} cannot be the name of a ${kind}: ${why}`, { offset: name.offset });
  };
  const length = [...name.text].length;
  if (length < 1 || length > 128) fail(`a name must have 1 to 128 characters`);
  if (/[[\]]/.test(name.text)) fail('a name cannot contain square brackets');
  if (looksLikeAnother(name.text) && (/\p{Cc}/u.test(name.text) || !isKept())) fail('a name cannot contain control or invisible characters');
  if (/^(~|measure\.|_type_of_)/i.test(name.text)) fail('a name cannot start with `~`, `measure.` or `_type_of_`');
  if (kind === 'concept' && fold(name.text) === THING) fail('it is the built-in root', 'reserved_name');
  if ((kind === 'property' || kind === 'measure') && ENTITY_COLUMNS.includes(fold(name.text))) fail('every concept has a column of that name', 'reserved_name');
}

/** Throws 400 `reserved_name` for `thing`, which cannot be created, replaced, dropped or mapped. */
export function notThing(name: Name, verb: string): void {
  if (sameName(name.text, THING))
    throw badRequest('reserved_name', `${quoted(THING)} is the built-in root of all concepts and cannot be ${verb}`, { offset: name.offset });
}

/** Tags as stored. @throws SvcError 400 `exists` if a key occurs twice */
export function tagsOf(list: TagList): Tags {
  if (list.length === 0) return NO_MEMBERS;
  const tags = new Map<string, string>();
  for (const { key, value } of list) {
    if (tags.has(key.text)) throw badRequest('exists', `the tag ${quoted(key.text)} occurs twice`, { offset: key.offset });
    tags.set(key.text, value);
  }
  return Object.fromEntries(tags);
}

/** A list of names for a message: the first five, and the number of the others. */
export function listed(names: readonly string[]): string {
  const more = names.length - 5;
  return names.slice(0, 5).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
