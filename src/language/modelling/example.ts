/** CREATE EXAMPLE and DROP EXAMPLE (docs/design/statements-and-versions.md#examples), after their keywords. */
import { badRequest } from '../../errors.ts';
import type { CreateExample, DropExample, Question } from '../statements.ts';
import { query, text } from './clauses.ts';
import type { Cursor } from './cursor.ts';

const MAX_QUESTION = 1000;
const MAX_DESCRIPTION = 4000;

/** `'question' [DESCRIPTION [=] 't'] AS select` */
export function createExample(c: Cursor, replace: boolean): CreateExample {
  const asked = question(c);
  let description: string | null = null;
  if (c.accept('DESCRIPTION')) {
    const written = text(c, 'the description in single quotes');
    checkText(written, MAX_DESCRIPTION, 'a description');
    description = written.text;
  }
  return { kind: 'create_example', source: c.source, replace, question: asked, description, sql: query(c) };
}

/** `'question'` */
export function dropExample(c: Cursor): DropExample {
  const asked = question(c);
  c.end();
  return { kind: 'drop_example', source: c.source, question: asked };
}

function question(c: Cursor): Question {
  const asked = c.string('the question in single quotes');
  checkText(asked, MAX_QUESTION, 'a question');
  if (/[\p{L}\p{N}]/u.test(asked.text)) return asked;
  throw badRequest('bad_example', 'a question must contain a word', { offset: asked.offset });
}

/** Checks that a text can be stored and sent to a language model. @throws SvcError 400 `bad_example` */
function checkText({ text: written, offset }: Question, most: number, what: string): void {
  if ([...written].length > most) throw badRequest('bad_example', `${what} has at most ${most} characters`, { offset });
  // line ends and tabs are white space; an unpaired surrogate is not a character
  if (/[^\P{Cc}\t\n\r]/u.test(written) || !written.isWellFormed()) throw badRequest('bad_example', `${what} cannot contain control characters`, { offset });
}
