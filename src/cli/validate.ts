/** `kg validate FILE`: checks a script on an empty ontology like the service does, but without a service. */
import { positionOf, SvcError } from '../errors.ts';
import { parseStatement } from '../language/classify.ts';
import { createSqlReader } from '../language/expressions.ts';
import type { SqlParser } from '../language/parser.ts';
import { splitScript } from '../language/split.ts';
import type { SqlText } from '../language/statements.ts';
import { type ApplyContext, applyStatement, finish, isApplicable, Places } from '../ontology/apply.ts';
import { EMPTY_MODEL, type Model } from '../ontology/model.ts';
import { checkModel, divisionWarnings } from '../planner/check.ts';
import { planSelect } from '../planner/index.ts';
import { Failure, faultText } from './failure.ts';
import { placeIn, type ScriptFile } from './script-file.ts';

export interface Validation {
  readonly parser: SqlParser;
  readonly product: string;
  /** The ontology's name if the script does not create one. */
  readonly ontology: string | undefined;
}

/**
 * Checks a script: its model, and the queries of its examples. Other statements (datasources, agents, grants, queries) are only parsed.
 *
 * @returns lines to print: warnings, then a summary
 * @throws Failure with the position of the first error
 */
export function validateScript(file: ScriptFile, { parser, product, ontology }: Validation): string[] {
  try {
    let name = ontology ?? 'ontology';
    let model: Model = EMPTY_MODEL;
    const places = new Places();
    const reader = createSqlReader(parser, product);
    const context: ApplyContext = { ...reader, ontology: name, datasources: null, activeDatasource: 'main', product, places };
    let count = 0;
    const examples: SqlText[] = [];
    for (const source of splitScript(file.text)) {
      count++;
      const statement = parseStatement(source);
      if (isApplicable(statement)) model = applyStatement(model, statement, context);
      else if (statement.kind === 'create_ontology') name = statement.name.text;
      else if (statement.kind === 'create_example') {
        reader.textOf(statement.sql, 'select');
        examples.push(statement.sql);
      }
    }
    const { graph, warnings, pieces } = finish(EMPTY_MODEL, model, { ...context, ontology: name });
    checkModel(
      graph,
      parser,
      pieces.flatMap((p) => (p.kind === 'measure' ? [] : [{ ...p, kind: p.kind }])),
      { product },
    );
    for (const sql of examples) planSelect({ graph, parser, product, activeDatasource: 'main' }, sql);
    const found = [...warnings, ...divisionWarnings(graph, parser, pieces, { product })];
    return [
      ...found.map((w) => `${placeIn(file, position(file, w.offset))}: warning: ${w.message} (${w.code})`),
      `${file.path}: ${count} statement${count === 1 ? '' : 's'}, ${found.length} warning${found.length === 1 ? '' : 's'}`,
    ];
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    throw new Failure(faultText(placeIn(file, position(file, e.offset)), e.code, e.message, e.hint));
  }
}

const position = (file: ScriptFile, offset: number | undefined): number | undefined => (offset === undefined ? undefined : positionOf(file.text, offset));
