/**
 * CREATE EXAMPLE and DROP EXAMPLE (docs/design/statements-and-versions.md#examples). Examples are not part of a version, but they are checked against the model
 * at the end of their script.
 */
import { can } from '../../auth/grants.ts';
import { stepsOfStored, visited } from '../../budget.ts';
import type { Call } from '../../catalog/db.ts';
import * as catalog from '../../catalog/examples.ts';
import { badRequest, quoted, type SvcError } from '../../errors.ts';
import { createSqlReader } from '../../language/expressions.ts';
import type { CreateExample, DropExample, Question } from '../../language/statements.ts';
import { lacks } from '../caller/lookup.ts';
import { checkExample, questionKey, seesExample, unknownExample } from '../describe/examples.ts';
import { type Changing, type Done, done, type Examples } from './changing.ts';
import type { Draft } from './draft.ts';
import type { Kinds } from './kinds.ts';

/** The maximum number of examples of an ontology. Each of them is checked again after every change of the model. */
const MAX_EXAMPLES = 1000;
/** The most characters of all examples of an ontology: questions in words read all of them. */
const EXAMPLE_CHARACTERS = 4_000_000;

/** What an example takes, in characters. */
const sizeOf = ({ question, description, query }: Pick<catalog.ExampleRow, 'question' | 'description' | 'query'>): number =>
  question.length + (description?.length ?? 0) + query.length;

/** @throws SvcError 400 `no_ontology`; 403 without EDIT on the ontology. `settle` throws 400 `exists`, `too_many_examples`, `examples_too_large`, or an error in the query. */
async function createExample(ctx: Changing, statement: CreateExample): Promise<Done> {
  const draft = draftOf(ctx, statement.source.offset);
  const row = { example: statement.question.text.trim(), ontology: draft.name };
  return { ...done([], row), settle: () => created(ctx, draft, statement) };
}

async function created(ctx: Changing, draft: Draft, { question, description, replace, ifNotExists, source, sql }: CreateExample): Promise<readonly Call[]> {
  const { row } = draft;
  const { runtime } = ctx.session.request;
  const graph = await draft.graph();
  draft.within(() => visited(stepsOfStored(sql.text.length)), source.offset);
  const all = await examplesIn(ctx, row.id);
  const key = questionKey(question.text);
  const old = all.rows.get(key);
  if (old !== undefined && !(await seesExample(ctx.session.request, ctx.caller, row, graph, old))) throw hidden(question);
  if (old !== undefined && ifNotExists) return [];
  if (old !== undefined && !replace) {
    throw badRequest('exists', `an example of the question ${quoted(old.question)} already exists`, {
      offset: question.offset,
      hint: 'Use CREATE OR REPLACE EXAMPLE to replace it; case, white space and punctuation at the end are ignored in questions',
    });
  }
  if (old === undefined && all.rows.size >= MAX_EXAMPLES)
    throw badRequest('too_many_examples', `an ontology may have at most ${MAX_EXAMPLES} examples`, { offset: source.offset, hint: 'Drop some examples first' });
  const query = createSqlReader(runtime.parser, runtime.config.product).textOf(sql, 'select');
  await checkExample(ctx.session.request, ctx.caller, row, graph, sql);
  const { userId, name } = ctx.principal;
  const made = { question: question.text.trim(), description, query };
  const characters = all.characters + sizeOf(made) - (old === undefined ? 0 : sizeOf(old));
  if (characters > EXAMPLE_CHARACTERS && characters > all.characters) {
    throw badRequest('examples_too_large', `all examples of an ontology together may have at most ${EXAMPLE_CHARACTERS} characters`, {
      offset: source.offset,
      hint: 'Drop some of them, or write shorter queries',
    });
  }
  all.characters = characters;
  const changedOn = new Date(runtime.now()).toISOString();
  all.rows.set(key, { ...made, changedBy: name, changedById: userId, changedOn });
  return catalog.createExample(row.id, key, made, { userId, name }, old !== undefined);
}

/** @throws SvcError 400 `no_ontology`; 403 without EDIT on the ontology. `settle` throws 400 `unknown_example`. */
async function dropExample(ctx: Changing, { question, source }: DropExample): Promise<Done> {
  const draft = draftOf(ctx, source.offset);
  let dropped = question.text;
  const settle = async (): Promise<readonly Call[]> => {
    const { row } = draft;
    const all = await examplesIn(ctx, row.id);
    const key = questionKey(question.text);
    const old = all.rows.get(key);
    if (old === undefined || !(await seesExample(ctx.session.request, ctx.caller, row, await draft.graph(), old))) throw unknownExample(question);
    dropped = old.question;
    all.rows.delete(key);
    all.characters -= sizeOf(old);
    return catalog.dropExample(row.id, key);
  };
  return { calls: [], rows: () => [{ example: dropped, dropped: true }], settle };
}

/** @throws SvcError 400 `no_ontology`; 403 without EDIT on the ontology */
function draftOf(ctx: Changing, offset: number): Draft {
  const { draft } = ctx.session;
  if (draft === undefined) {
    throw badRequest('no_ontology', 'An example belongs to an ontology, but the request names none', {
      offset,
      hint: 'Send the name of the ontology in ontology_name',
    });
  }
  if (!can(ctx.principal, 'edit', ['ontology', draft.name])) throw lacks('EDIT', `ontology.${draft.name}`, offset);
  return draft;
}

/** The examples of an ontology after the statements so far. */
async function examplesIn(ctx: Changing, ontologyId: string): Promise<Examples> {
  const known = ctx.examples.get(ontologyId);
  if (known !== undefined) return known;
  const stored = await catalog.readExamples(ctx.db, ontologyId);
  const read = { rows: new Map(stored.map((e) => [questionKey(e.question), e])), characters: stored.reduce((sum, e) => sum + sizeOf(e), 0) };
  ctx.examples.set(ontologyId, read);
  return read;
}

/** 400: a hidden example of the question exists. */
const hidden = ({ offset }: Question): SvcError =>
  badRequest('exists', 'the statement conflicts with a part of the ontology that you may not see', {
    offset,
    hint: 'Ask a user who may see the whole ontology',
  });

export const EXAMPLES: Kinds<'create_example' | 'drop_example'> = {
  create_example: { apply: createExample },
  drop_example: { apply: dropExample },
};
