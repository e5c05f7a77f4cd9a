/** describe_knowledge_graph: the model of an ontology in sections (docs/design/mcp.md#tools). */
import { z } from 'zod';
import { badRequest } from '../../errors.ts';
import { describeModel } from '../../llm/describe.ts';
import { budgetOf, cutRows, cutValues, type JsonRow } from '../../nesting/cut.ts';
import { runScript } from '../../service.ts';
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
/** The section that is returned only if it is named: the whole model as one text. */
const MODEL = 'model';
const DEFAULT_TOKENS = 10_000;
const LEAST_TOKENS = 100;
const MOST_TOKENS = 100_000;
const DEFAULT: readonly string[] = ['ontology', 'properties', 'relationships', 'views'];
const section = rowsOutput.optional();

export const describeKnowledgeGraph = tool({
  name: 'describe_knowledge_graph',
  title: 'Describe a knowledge graph',
  description:
    'The model of a knowledge graph. Before you write SQL, call it with include=["model"]: one text with every concept and its columns, every relationship in both directions, how paths are written, views, cubes, values and examples. On a large graph name `concepts`. Other sections: ontology, properties, relationships, views (the default), mappings, datasources, jobs.',
  input: z.object({
    ontology: ontologyArgument,
    include: names('Sections; model is the best for writing SQL; * = all but model'),
    concepts: names('model: only these concepts or views, and what is next to them'),
    max_tokens: z.number().int().min(LEAST_TOKENS).max(MOST_TOKENS).optional().describe(`model: its maximum length; default ${DEFAULT_TOKENS}`),
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
    model: z.array(z.object({ text: z.string() })).optional(),
    truncated: z.array(z.string()).describe('Sections that were cut'),
  }),
  async run(call, { ontology, include, concepts, max_tokens, max_results }) {
    const name = ontologyFor(call, ontology);
    const sections = chosen(include ?? []);
    const limit = maxRows(call, max_results);
    const budget = budgetOf(call);
    const found: Record<string, unknown> = {};
    const truncated: string[] = [];
    for (const title of sections) {
      if (title === MODEL) {
        const wanted = { request: requestOf(call), ontology: name, about: concepts ?? [], maxTokens: max_tokens ?? DEFAULT_TOKENS };
        const { text, isCut } = await describeModel(wanted);
        found[title] = [{ text }];
        if (isCut) truncated.push(title);
        continue;
      }
      const answer = await runScript(requestOf(call), { ontology: name, sql: SECTIONS[title] as string, limit: null, datasource: null });
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
  if (wanted.includes('*')) return wanted.includes(MODEL) ? [...ALL, MODEL] : ALL;
  if (wanted.length === 1 && wanted[0] === 'none') return [];
  const known = [...ALL, MODEL];
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined) throw badRequest('unknown_section', `unknown section '${unknown}'`, { hint: `Sections are ${known.join(', ')}` });
  return known.filter((name) => wanted.includes(name));
}
