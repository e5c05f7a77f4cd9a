/** list_agents: the agents that the caller may see. */
import { z } from 'zod';
import { budgetOf, cutValues } from '../../nesting/cut.ts';
import { listAgents as agentsOf } from '../../service.ts';
import { maxResults, maxRows, requestOf, tool, truncatedOutput } from './tool.ts';

export const listAgents = tool({
  name: 'list_agents',
  title: 'List agents',
  description: 'Pre-configured agents: each limits questions to some knowledge graphs, concepts and views. A connection selects one with the header x-agent.',
  input: z.object({ max_results: maxResults }),
  output: z.object({
    agents: z.array(z.looseObject({ name: z.string(), description: z.string(), ontologies: z.array(z.string()) })),
    truncated: truncatedOutput,
  }),
  async run(call, { max_results }) {
    const { rows, truncated } = cutValues(await agentsOf(requestOf(call)), maxRows(call, max_results), budgetOf(call));
    return { agents: rows.map((row) => ({ ...row, description: row.description ?? '' })), truncated };
  },
});
