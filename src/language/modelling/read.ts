/** SHOW, DESC and EXPLAIN (docs/design/statements-and-versions.md#show-desc-and-describe-concept), after their keywords. */
import { badRequest } from '../../errors.ts';
import type { Describe, Explain, Name, Show } from '../statements.ts';
import { beginsQuery, name, pairs } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/** Reads `word [word ...]`. The service interprets the words; from the first token that cannot be one, the rest of the text is one word, which no SHOW takes. */
export function show(c: Cursor): Show {
  const words: Name[] = [];
  do {
    words.push(c.peek()?.kind === 'string' ? c.string('a text') : c.identifier('what to show'));
  } while (c.seesName() || c.peek()?.kind === 'string');
  if (c.peek() !== undefined) words.push(c.rest(''));
  return { kind: 'show', source: c.source, words };
}

/** `[CONCEPT] [schema.]c [OPTIONS (k = 'v', ...)]` */
export function describe(c: Cursor): Describe {
  const concept = c.sees('CONCEPT') && c.seesName(1);
  if (concept) c.advance();
  const first = name(c, 'the name of a concept or view');
  const second = c.acceptMark('.') ? name(c, 'the name of a concept or view') : null;
  const options = c.accept('OPTIONS') ? pairs(c, 'the name of an option') : [];
  c.end();
  return { kind: 'describe', source: c.source, concept, schema: second === null ? null : first, name: second ?? first, options };
}

/** `[(LOGICAL)] query`, to the end of the statement. */
export function explain(c: Cursor): Explain {
  const logical = c.seesMark('(') && c.sees('LOGICAL', 1) && c.seesMark(')', 2);
  if (logical) for (let i = 0; i < 3; i++) c.advance();
  if (!beginsQuery(c)) {
    if (c.peek() === undefined) throw c.unexpected('`SELECT`');
    throw badRequest('unknown_statement', 'EXPLAIN takes a SELECT', { offset: c.offset() });
  }
  return { kind: 'explain', source: c.source, logical, query: c.rest('`SELECT`') };
}
