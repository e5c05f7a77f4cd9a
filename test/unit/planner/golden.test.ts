/**
 * Golden plans: for each query of docs/language.md and docs/world.md its logical plan and its SQL. `npx vitest run --project unit test/unit/planner/golden.test.ts -u` writes
 * test/golden again; the diff shows the effect of a change of the planner.
 */
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import { type DocsQuery, languageQueries, worldQueries } from '../../support/docs-queries.ts';
import { bothPlans } from '../../support/logical.ts';

const parser = await loadNodeParser();

/** The plan and the SQL of a query, or its error. */
function shown(graph: Graph, text: string): string {
  const context = { graph, parser, product: 'svc', activeDatasource: 'main' };
  try {
    const { plan, logical } = bothPlans(context, { text, offset: 0 });
    const { sql, params } = plan;
    return `\`\`\`json\n${JSON.stringify(logical, null, 1)}\n\`\`\`\n\n\`\`\`sql\n${sql}\n\`\`\`\n${params.length > 0 ? `\nParameters: ${JSON.stringify(params)}\n` : ''}`;
  } catch (error) {
    if (error instanceof SvcError) return `\`${error.code}\`: ${error.message}\n`;
    throw error;
  }
}

const section = ({ graph, text }: DocsQuery): string => `## Query\n\n\`\`\`sql\n${text}\n\`\`\`\n\n${shown(graph, text)}`;

describe('golden plans', () => {
  it('of docs/language.md', async () => {
    const sections = languageQueries().map(section);
    expect(sections.length).toBeGreaterThan(40);
    await expect(`# The queries of docs/language.md\n\n${sections.join('\n')}`).toMatchFileSnapshot('../../golden/language.md');
  });

  it('of docs/world.md', async () => {
    const sections = (await worldQueries(parser)).map(section);
    expect(sections.length).toBeGreaterThan(5);
    await expect(`# The queries of docs/world.md\n\n${sections.join('\n')}`).toMatchFileSnapshot('../../golden/world.md');
  });
});
