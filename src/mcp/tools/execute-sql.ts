/** execute_sql: runs a statement of the caller, or only plans it. */
import { z } from 'zod';
import { budgetOf, cutTexts } from '../../nesting/cut.ts';
import { dryRun, type Permitted, runScript, type Script, type ServiceRequest } from '../../service.ts';
import { editsModel, maxResults, maxRows, ontologyArgument, ontologyFor, requestOf, rowsOutput, type ToolCall, tool, truncatedOutput } from './tool.ts';

const DESCRIPTION = `Run SQL on a knowledge graph and get rows. PostgreSQL SELECT over concepts: svc.concept (direct properties), dsvc.concept (relationship paths too), vsvc.view. \
A path is one back-quoted column: SELECT \`name\`, \`lives_in[city].name\` FROM dsvc.person; hops chain: \`works_for[company].based_in[city].name\`; \`parent[person*3].name\` follows a transitive one; ~ before a relationship inverts it. \
Paths replace JOINs; measures: SUM(\`measure.revenue\`). Also SHOW CONCEPTS, DESC dsvc.concept (columns and paths), EXPLAIN. \
Call describe_knowledge_graph first; never guess names. Aggregate or LIMIT instead of fetching everything. dry_run=true checks and plans without running. Errors name the nearest valid name: fix and retry.`;

export const executeSql = tool({
  name: 'execute_sql',
  title: 'Run SQL',
  description: DESCRIPTION,
  input: z.object({
    query: z.string().min(1).describe('The SQL'),
    ontology: ontologyArgument,
    datasource: z.string().optional().describe('Datasource, for a query without concepts'),
    max_results: maxResults,
    dry_run: z.boolean().optional().describe('Only check and explain'),
  }),
  output: z.object({
    rows: rowsOutput,
    row_count: z.number().int(),
    truncated: truncatedOutput,
    sql: z.string().optional().describe('dry_run: the SQL of the datasource, if you may see it'),
    plan: z.string().optional().describe('dry_run: its plan'),
  }),
  mayModel: editsModel,
  async run(call, { query, ontology, datasource, max_results, dry_run }) {
    const limit = maxRows(call, max_results);
    call.note({ sql: query });
    const script: Script = {
      ontology: ontologyFor(call, ontology),
      sql: query,
      // one more row shows whether there are more
      limit: limit + 1,
      datasource: datasource?.trim() || null,
    };
    const request: ServiceRequest = { ...requestOf(call), permitted: permittedIn(call) };
    if (dry_run) return dry(request, script);
    const found = await cutTexts(await runScript(request, script), limit, budgetOf(call));
    call.note({ rows: found.row_count });
    return found;
  },
});

/** The statements that a call may have. */
function permittedIn({ modelling, target }: ToolCall): Permitted {
  if (!modelling) return 'read';
  return target.agent === undefined ? 'model' : 'own_model';
}

async function dry(request: ServiceRequest, script: Script) {
  const { sql, plan } = await dryRun(request, script);
  return { rows: [], row_count: 0, truncated: false, ...(sql === null ? {} : { sql }), ...(plan === null ? {} : { plan }) };
}
