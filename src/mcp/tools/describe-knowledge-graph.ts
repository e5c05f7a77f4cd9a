/** describe_knowledge_graph: the model of an ontology in sections (docs/design/mcp.md#tools). */
import { z } from 'zod';
import { badRequest } from '../../errors.ts';
import { runScript } from '../../service.ts';
import { budgetOf, cutRows, cutValues, type JsonRow } from '../rows.ts';
import { maxResults, maxRows, names, ontologyArgument, ontologyFor, requestOf, rowsOutput, tool } from './tool.ts';

/** The statement that produces each section. */
const SECTIONS: Readonly<Record<string, string>> = {
  ontology: 'SHOW ONTOLOGY',
  properties: 'SHOW PROPERTIES',
  relationships: 'SELECT * FROM svc.SYS_CONCEPT_RELATIONSHIPS',
  views: 'SHOW VIEWS',
  mappings: 'SELECT * FROM svc.SYS_MAPPINGS',
  datasources: 'SHOW DATASOURCES',
  jobs: 'SELECT * FROM svc.SYS_JOBS',
};
const ALL = Object.keys(SECTIONS);
const DEFAULT: readonly string[] = ['ontology', 'properties', 'relationships', 'views'];
const section = rowsOutput.optional();

export const describeKnowledgeGraph = tool({
  name: 'describe_knowledge_graph',
  title: 'Describe a knowledge graph',
  description:
    'The model of a knowledge graph: concepts with keys and inheritance, properties with types, relationships with target concepts, views. Call it before writing SQL or choosing concepts. Default sections: ontology, properties, relationships, views; also mappings, datasources, jobs. On a large graph ask for single sections.',
  input: z.object({
    ontology: ontologyArgument,
    include: names('Sections; * = all'),
    max_results: maxResults,
  }),
  output: z.object({
    ontology: section,
    properties: section,
    relationships: section,
    views: section,
    mappings: section,
    datasources: section,
    jobs: section,
    truncated: z.array(z.string()).describe('Sections that were cut'),
  }),
  async run(call, { ontology, include, max_results }) {
    const name = ontologyFor(call, ontology);
    const sections = chosen(include ?? []);
    const limit = maxRows(call, max_results);
    const budget = budgetOf(call);
    const found: Record<string, unknown> = {};
    const truncated: string[] = [];
    for (const title of sections) {
      const answer = await runScript(requestOf(call), { ontology: name, sql: SECTIONS[title] as string, limit: null, datasource: null, permitted: 'read' });
      const cut = title === 'views' && answer.kind === 'value' ? cutValues(answer.data.filter(isNoCube), limit, budget) : await cutRows(answer, limit, budget);
      found[title] = cut.rows;
      if (cut.truncated) truncated.push(title);
    }
    return { ...found, truncated };
  },
});

const isNoCube = (row: unknown): boolean => (row as JsonRow).is_cube !== true;

/** @throws SvcError 400 `unknown_section` */
function chosen(include: readonly string[]): readonly string[] {
  const wanted = include.map((name) => name.toLowerCase()).filter((name) => name !== '');
  if (wanted.length === 0) return DEFAULT;
  if (wanted.includes('*')) return ALL;
  if (wanted.length === 1 && wanted[0] === 'none') return [];
  const unknown = wanted.find((name) => !ALL.includes(name));
  if (unknown !== undefined) throw badRequest('unknown_section', `unknown section '${unknown}'`, { hint: `Sections are ${ALL.join(', ')}` });
  return ALL.filter((name) => wanted.includes(name));
}
