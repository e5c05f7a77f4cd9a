/** The model of the sample graph without a service: for tests and benchmarks. */
import { readFile } from 'node:fs/promises';
import { parseStatement } from '../../src/language/classify.ts';
import { createSqlReader } from '../../src/language/expressions.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import { splitScript } from '../../src/language/split.ts';
import { applyStatement, finish, isApplicable, Places } from '../../src/ontology/apply.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../src/ontology/model.ts';

/** The text of model.kg. */
export const worldModel = (): Promise<string> => readFile(new URL('model.kg', import.meta.url), 'utf8');

/** Applies a script that begins with CREATE ONTOLOGY to an empty model. Throws what the service would answer with. */
export function graphOf(script: string, ontology: string, parser: SqlParser): Graph {
  const context = { ...createSqlReader(parser, 'svc'), ontology, datasources: ['main'], activeDatasource: 'main', product: 'svc', places: new Places() };
  let model: Model = EMPTY_MODEL;
  for (const source of splitScript(script)) {
    const statement = parseStatement(source);
    if (statement.kind === 'create_ontology') model = { ...model, description: statement.description };
    else if (isApplicable(statement)) model = applyStatement(model, statement, context);
    else throw new Error(`${statement.kind} is not a statement of a model`);
  }
  return finish(EMPTY_MODEL, model, context).graph;
}
