/** list_ontologies: the ontologies that the caller may see. */
import { z } from 'zod';
import { budgetOf, cutRows } from '../../nesting/cut.ts';
import { runScript } from '../../service.ts';
import { maxResults, maxRows, requestOf, tool, truncatedOutput } from './tool.ts';

export const listOntologies = tool({
  name: 'list_ontologies',
  title: 'List knowledge graphs',
  description:
    'Knowledge graphs you may query, with descriptions. Call this first if you do not know which one contains the answer; then describe_knowledge_graph.',
  input: z.object({ max_results: maxResults }),
  output: z.object({ ontologies: z.array(z.looseObject({ name: z.string(), description: z.string() })), truncated: truncatedOutput }),
  async run(call, { max_results }) {
    const answer = await runScript(requestOf(call), { ontology: '', sql: 'SHOW ONTOLOGIES', limit: null, datasource: null });
    const { rows, truncated } = await cutRows(answer, maxRows(call, max_results), budgetOf(call));
    return { ontologies: rows.map(({ ontology, description }) => ({ name: ontology, description: description ?? '' })), truncated };
  },
});
