/** The queries of the pages of docs/, each with the model that its page has created before it. */
import { readFileSync } from 'node:fs';
import { graphOf, worldModel } from '../../examples/world/graph.ts';
import { SvcError } from '../../src/errors.ts';
import { parseStatement } from '../../src/language/classify.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import { splitScript } from '../../src/language/split.ts';
import type { Source } from '../../src/language/statements.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../src/ontology/model.ts';
import { run } from '../unit/ontology/script.ts';

/** A query and the graph that it reads. */
export interface DocsQuery {
  readonly graph: Graph;
  readonly text: string;
}

const pageOf = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const blocksOf = (page: string): string[] => [...pageOf(page).matchAll(/^```sql\n([\s\S]*?)\n```$/gm)].map(([, sql = '']) => sql);

/** The queries of docs/language.md. */
export function languageQueries(): DocsQuery[] {
  const found: DocsQuery[] = [];
  let model: Model = EMPTY_MODEL;
  for (const block of blocksOf('language.md')) {
    const statements = splitScript(block).flatMap((source) => ({ text: source.text.trim(), kind: kindOf(source) }));
    model = changed(
      model,
      statements
        .filter(({ kind }) => MODELLING.test(kind))
        .map(({ text }) => text)
        .join(';\n'),
    );
    for (const { kind, text } of statements) if (kind === 'select') found.push({ graph: compile(model, 'shop'), text });
  }
  return found;
}

/** The statements that create the tables of docs/language.md. */
export const languageTables = (): string[] =>
  [...pageOf('language.md').matchAll(/^```sql tables\n([\s\S]*?)\n```$/gm)].flatMap(([, sql = '']) => sql.split(/;$/m).filter((s) => s.trim() !== ''));

/** The queries of docs/world.md. */
export async function worldQueries(parser: SqlParser): Promise<DocsQuery[]> {
  const graph = graphOf(await worldModel(), 'world', parser);
  return blocksOf('world.md').map((text) => ({ graph, text }));
}

const MODELLING = /^(create_(property|measure|concept|mapping|view)|alter_tag|drop)$/;

/** The kind of a statement; '' for an invalid one. */
function kindOf(source: Source): string {
  try {
    return parseStatement(source).kind;
  } catch (error) {
    if (error instanceof SvcError) return '';
    throw error;
  }
}

function changed(model: Model, statement: string): Model {
  if (statement === '') return model;
  try {
    return run(statement, model).model;
  } catch {
    // the page shows it as an error
    return model;
  }
}
