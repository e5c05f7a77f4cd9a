/** The service's own client of the SQL endpoint, which gets the SQL to run: the cost of a request without the rest of the service. */
import { parseDatasourceSecret } from '../../src/engine/datasource.ts';
import { httpEngine } from '../../src/engine/engine.ts';
import { operatorText } from '../../src/engine/operator.ts';

export default {
  async fetch(request: Request, env: { readonly DATASOURCE_MAIN: string }): Promise<Response> {
    const { sql, params } = (await request.json()) as { sql: string; params: (string | null)[] };
    const rows = await httpEngine.rows(
      { name: 'main', ...parseDatasourceSecret(env.DATASOURCE_MAIN) },
      { text: operatorText(sql), params, timeoutMs: 30_000, maxBytes: 50_000_000, owner: 'bench', signal: request.signal },
    );
    return new Response(rows.body('{"data":', '}'), { headers: { 'content-type': 'application/json' } });
  },
};
