/** list_ontologies: what the caller may see. */
import { z } from 'zod';
import { runScript } from '../../service.ts';
import { cutRows } from '../rows.ts';
import { maxResults, mostRows, requestOf, tool, truncatedOutput } from './tool.ts';

export const listOntologies = tool({
  name: 'list_ontologies',
  title: 'List knowledge graphs',
  description:
    'Knowledge graphs you may query, with descriptions. Call this first when you do not know which one holds the answer; then describe_knowledge_graph.',
  input: z.object({ max_results: maxResults }),
  output: z.object({ ontologies: z.array(z.looseObject({ name: z.string(), description: z.string() })), truncated: truncatedOutput }),
  async run(call, { max_results }) {
    const answer = await runScript(requestOf(call), { ontology: '', sql: 'SHOW ONTOLOGIES', limit: null, datasource: null, permitted: 'read' });
    const { rows, truncated } = await cutRows(answer, mostRows(call, max_results));
    return { ontologies: rows.map(({ ontology, description }) => ({ name: ontology, description: description ?? '' })), truncated };
  },
});
