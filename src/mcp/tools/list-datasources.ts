/** list_datasources: all datasources that the caller may see, or those of an ontology or an agent. */
import { z } from 'zod';
import { budgetOf, cutRows, cutValues, type JsonRow } from '../../nesting/cut.ts';
import { runScript } from '../../service.ts';
import { maxResults, maxRows, ontologyFor, requestOf, type ToolCall, tool, truncatedOutput } from './tool.ts';

export const listDatasources = tool({
  name: 'list_datasources',
  title: 'List datasources',
  description:
    'Databases of the knowledge graphs: all, or those of one graph with the active one marked. Rarely needed: execute_sql selects the database automatically.',
  input: z.object({ ontology: z.string().optional().describe('Only those of this knowledge graph'), max_results: maxResults }),
  output: z.object({ datasources: z.array(z.looseObject({ name: z.string(), description: z.string(), type: z.string() })), truncated: truncatedOutput }),
  async run(call, { ontology, max_results }) {
    const found = new Map<string, JsonRow>();
    for (const name of ontologies(call, ontology)) for (const row of await shown(call, name)) found.set(String(row.name), row);
    const { rows, truncated } = cutValues([...found.values()], maxRows(call, max_results), budgetOf(call));
    return { datasources: rows, truncated };
  },
});

/** The ontologies whose datasources are listed. The empty name means all datasources. */
function ontologies(call: ToolCall, argument: string | undefined): readonly string[] {
  const { agent, isNamed } = call.target;
  if (argument?.trim() || isNamed) return [ontologyFor(call, argument)];
  return agent === undefined ? [''] : agent.ontologies;
}

async function shown(call: ToolCall, ontology: string): Promise<readonly JsonRow[]> {
  const answer = await runScript(requestOf(call), { ontology, sql: 'SHOW DATASOURCES', limit: null, datasource: null });
  const { rows } = await cutRows(answer, Number.POSITIVE_INFINITY, budgetOf(call));
  return rows.map(({ name, target_type, is_active }) => ({ name, description: '', type: target_type, ...(ontology === '' ? {} : { is_active }) }));
}
