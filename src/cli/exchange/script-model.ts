/** A script of model statements as a model, and a model as a script, without a service: what the formats of kg export and kg import convert. */
import { positionOf, SvcError } from '../../errors.ts';
import { parseStatement } from '../../language/classify.ts';
import { createSqlReader } from '../../language/expressions.ts';
import type { SqlParser } from '../../language/parser.ts';
import { printModel } from '../../language/print.ts';
import { quoteLiteral } from '../../language/quote.ts';
import { splitScript } from '../../language/split.ts';
import { applyStatement, finish, isApplicable, Places, type SqlReader } from '../../ontology/apply.ts';
import { compile } from '../../ontology/compile.ts';
import type { Graph } from '../../ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../ontology/model.ts';
import { sameName, THING } from '../../ontology/names.ts';
import { Failure, faultText } from '../failure.ts';
import { placeIn, type ScriptFile } from '../script-file.ts';

/** The content of a script. */
export interface ScriptModel {
  readonly name: string;
  readonly graph: Graph;
  /** Statements that files may contain and that are not part of a model: policies and examples. */
  readonly others: readonly string[];
  /** Statements that files cannot contain, such as those of data sources. */
  readonly left: readonly string[];
  readonly reader: SqlReader;
}

/** What a line about a statement of `others` calls its object. */
export function titleOf(text: string): string {
  const statement = splitScript(text).map((source) => parseStatement(source))[0];
  if (statement?.kind === 'create_example') return `example ${quoteLiteral(statement.question.text)}`;
  return statement?.kind === 'create_policy' ? `policy ${statement.name.text}` : text;
}

/**
 * Reads scripts as one model.
 * @param given the name of the ontology, if no script creates one
 * @throws Failure with the place of the first error
 */
export function modelOfScripts(files: readonly ScriptFile[], given: string | undefined, parser: SqlParser, product: string): ScriptModel {
  let model: Model = EMPTY_MODEL;
  let name = given;
  const others: string[] = [];
  const left: string[] = [];
  const reader = createSqlReader(parser, product);
  const context = { ...reader, ontology: given ?? 'ontology', datasources: null, activeDatasource: 'main', product, places: new Places() };
  let file = files[0];
  try {
    // properties, measures and concepts may be in any order, but a description of a property must come before concepts list it
    const statements = files.flatMap((f) => splitScript(f.text).map((source) => ({ f, source })));
    for (const { f, source } of statements) {
      file = f;
      const statement = parseStatement(source);
      if (statement.kind === 'create_ontology') {
        name ??= statement.name.text;
        model = { ...model, description: statement.description };
      } else if (isApplicable(statement) && statement.kind !== 'drop') {
        model = applyStatement(model, { ...statement, ...('replace' in statement ? { replace: true } : {}) }, context);
      } else (statement.kind === 'create_policy' || statement.kind === 'create_example' ? others : left).push(source.text);
    }
    if (name === undefined) throw new Failure('--ontology NAME is missing, and no file starts with CREATE ONTOLOGY', 2);
    return { name, graph: finish(EMPTY_MODEL, model, { ...context, ontology: name }).graph, others, left, reader };
  } catch (e) {
    if (!(e instanceof SvcError) || file === undefined) throw e;
    throw new Failure(faultText(placeIn(file, e.offset === undefined ? undefined : positionOf(file.text, e.offset)), e.code, e.message, e.hint));
  }
}

/** A script without its relationships to `thing`, which other formats do not have, and their names as losses. */
export function withoutRoot(source: ScriptModel): { readonly source: ScriptModel; readonly losses: readonly string[] } {
  const { model } = source.graph;
  const toRoot = model.concepts.flatMap((c) =>
    c.relationships.filter((r) => sameName(r.target, THING)).map((r) => `relationship ${c.name}.${r.name}: it refers to ${THING}`),
  );
  if (toRoot.length === 0) return { source, losses: [] };
  const concepts = model.concepts.map((c) => ({ ...c, relationships: c.relationships.filter((r) => !sameName(r.target, THING)) }));
  return { source: { ...source, graph: compile({ ...model, concepts }, source.name) }, losses: toRoot };
}

/** The properties and measures that statements define, and the other statements. @throws SvcError for a statement that cannot be read */
export function definitionsOf(
  statements: readonly string[],
  reader: SqlReader,
): Pick<Model, 'properties' | 'measures'> & { readonly others: readonly string[] } {
  const context = { ...reader, ontology: 'ontology', datasources: null, activeDatasource: 'main', product: 'svc', places: new Places() };
  let model: Model = EMPTY_MODEL;
  const others = statements.filter((text) => {
    const statement = parseStatement({ text, offset: 0 });
    if (statement.kind !== 'create_property' && statement.kind !== 'create_measure') return true;
    model = applyStatement(model, { ...statement, replace: true }, context);
    return false;
  });
  return { properties: model.properties, measures: model.measures, others };
}

/** A model and further statements as a script. */
export const scriptOf = (model: Model, name: string, product: string, others: readonly string[]): string =>
  printModel(model, name, product) + others.map((text) => `${text};\n`).join('');
