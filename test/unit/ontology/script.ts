/** Runs scripts of modelling statements on models, for the tests of this folder. */
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { parseStatement } from '../../../src/language/classify.ts';
import { createSqlReader } from '../../../src/language/expressions.ts';
import { splitScript } from '../../../src/language/split.ts';
import { type ApplyContext, applyStatement, type Finished, finish, isApplicable, Places } from '../../../src/ontology/apply.ts';
import { EMPTY_MODEL, type Model } from '../../../src/ontology/model.ts';

const parser = await loadNodeParser();

export const contextOf = (product = 'svc'): ApplyContext => ({
  ...createSqlReader(parser, product),
  ontology: 'zoo',
  datasources: ['main', 'archive'],
  activeDatasource: 'main',
  product,
  places: new Places(),
});

/** Applies a script and finishes it. */
export function run(script: string, before: Model = EMPTY_MODEL, product = 'svc'): Finished {
  const context = contextOf(product);
  let model = before;
  for (const source of splitScript(script)) {
    const statement = parseStatement(source);
    if (!isApplicable(statement)) throw new Error(`${statement.kind} is not for a model`);
    model = applyStatement(model, statement, context);
  }
  return finish(before, model, context);
}

/** The error of a script in which «marks» enclose the text at the expected position: `code: message`, and ` (elsewhere: n)` for another position. */
export function faultOf(marked: string, before?: Model): string {
  const [head = '', inside, tail = ''] = marked.split(/[«»]/);
  try {
    run(head + (inside ?? '') + tail, before);
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    if (e.status !== 400) throw new Error(`status ${e.status}`);
    const at = e.offset ?? -1;
    const there = inside === undefined ? at >= 0 : at >= head.length && at < head.length + inside.length;
    return `${e.code}: ${e.message}${there ? '' : ` (elsewhere: ${at})`}`;
  }
  return 'no error';
}
