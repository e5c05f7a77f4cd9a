/** Faults that several statements share. */
import { badRequest, didYouMean, nearest, type SvcError } from '../../errors.ts';
import type { Name, TagList } from '../../language/statements.ts';
import type { Tags } from '../model.ts';
import { ENTITY_COLUMNS, fold, sameName, THING } from '../names.ts';

/** What a name can be of, as messages call it. */
export type Kind = 'concept' | 'property' | 'measure' | 'mapping' | 'view' | 'cube' | 'relationship' | 'datasource' | 'tag';

export const quoted = (name: string): string => `\`${name}\``;

/** 400 `unknown_<kind>`: no such thing; the nearest known name is said. `of` tells where it was looked for. */
export function unknown(kind: Kind, name: string, offset: number | undefined, known: Iterable<string>, of = ''): SvcError {
  const near = nearest(name, known);
  return badRequest(`unknown_${kind}`, `unknown ${kind} ${quoted(name)}${of}${didYouMean(near)}`, { offset });
}

/** 400 `exists`. */
export function exists(kind: Kind, name: string, offset: number, of = ''): SvcError {
  return badRequest('exists', `the ${kind} ${quoted(name)}${of} exists already`, {
    offset,
    hint: `use CREATE OR REPLACE, or another name; names that differ in case only are the same`,
  });
}

/**
 * Checks the name of something new (docs/design/statements-and-versions.md#names-of-things).
 *
 * @throws SvcError 400 `bad_name`, or `reserved_name` for `thing` and the entity columns
 */
export function checkName(name: Name, kind: Kind): void {
  const fail = (why: string, code = 'bad_name'): never => {
    throw badRequest(code, `${quoted(name.text)} cannot be the name of a ${kind}: ${why}`, { offset: name.offset });
  };
  const length = [...name.text].length;
  if (length < 1 || length > 128) fail(`a name has 1 to 128 characters`);
  if (/[[\]]/.test(name.text)) fail('a name has no square brackets');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name.text)) fail('a name has no control characters');
  if (/^(~|measure\.|_type_of_)/i.test(name.text)) fail('no name begins with `~`, `measure.` or `_type_of_`');
  if (kind === 'concept' && fold(name.text) === THING) fail('it is the built-in root', 'reserved_name');
  if ((kind === 'property' || kind === 'measure') && ENTITY_COLUMNS.includes(fold(name.text))) fail('every concept has a column of that name', 'reserved_name');
}

/** 400 `reserved_name`: `thing` can be neither created, replaced, dropped nor mapped. */
export function notThing(name: Name, verb: string): void {
  if (sameName(name.text, THING))
    throw badRequest('reserved_name', `${quoted(THING)} is the built-in root of all concepts and cannot be ${verb}`, { offset: name.offset });
}

/** Tags as stored. 400 `exists` where a key is given twice. */
export function tagsOf(list: TagList): Tags {
  const tags = new Map<string, string>();
  for (const { key, value } of list) {
    if (tags.has(key.text)) throw badRequest('exists', `the tag ${quoted(key.text)} is given twice`, { offset: key.offset });
    tags.set(key.text, value);
  }
  return Object.fromEntries(tags);
}

/** Names in a list for a message: the first five, then how many more. */
export function listed(names: readonly string[]): string {
  const more = names.length - 5;
  return names.slice(0, 5).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
