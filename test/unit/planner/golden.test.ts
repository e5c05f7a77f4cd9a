/**
 * Golden plans: for each query of docs/language.md and docs/world.md its logical plan and its SQL. `npx vitest run --project unit test/unit/planner/golden.test.ts -u` writes
 * test/golden again; the diff shows the effect of a change of the planner.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { graphOf, worldModel } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { parseStatement } from '../../../src/language/classify.ts';
import { splitScript } from '../../../src/language/split.ts';
import type { Source } from '../../../src/language/statements.ts';
import { compile } from '../../../src/ontology/compile.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../../src/ontology/model.ts';
import { planSelect } from '../../../src/planner/index.ts';
import { logicalPlan } from '../../../src/planner/logical/index.ts';
import { run } from '../ontology/script.ts';

const parser = await loadNodeParser();
const blocksOf = (page: string): string[] =>
  [...readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8').matchAll(/^```sql\n([\s\S]*?)\n```$/gm)].map(([, sql = '']) => sql);

/** The plan and the SQL of a query, or its error. */
function shown(graph: Graph, text: string): string {
  const context = { graph, parser, product: 'svc', activeDatasource: 'main' };
  const source = { text, offset: 0 };
  try {
    const { sql, params } = planSelect(context, source);
    const plan = JSON.stringify(logicalPlan(context, source), null, 1);
    return `\`\`\`json\n${plan}\n\`\`\`\n\n\`\`\`sql\n${sql}\n\`\`\`\n${params.length > 0 ? `\nParameters: ${JSON.stringify(params)}\n` : ''}`;
  } catch (error) {
    if (error instanceof SvcError) return `\`${error.code}\`: ${error.message}\n`;
    throw error;
  }
}

const section = (graph: Graph, sql: string): string => `## Query\n\n\`\`\`sql\n${sql}\n\`\`\`\n\n${shown(graph, sql)}`;

/** The queries of the page, each over the model that the page has created before it. */
function languagePage(): string[] {
  const sections: string[] = [];
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
    for (const { kind, text } of statements) if (kind === 'select') sections.push(section(compile(model, 'shop'), text));
  }
  return sections;
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

describe('golden plans', () => {
  it('of docs/language.md', async () => {
    const sections = languagePage();
    expect(sections.length).toBeGreaterThan(40);
    await expect(`# The queries of docs/language.md\n\n${sections.join('\n')}`).toMatchFileSnapshot('../../golden/language.md');
  });

  it('of docs/world.md', async () => {
    const graph = graphOf(await worldModel(), 'world', parser);
    const sections = blocksOf('world.md').map((sql) => section(graph, sql));
    expect(sections.length).toBeGreaterThan(5);
    await expect(`# The queries of docs/world.md\n\n${sections.join('\n')}`).toMatchFileSnapshot('../../golden/world.md');
  });
});
