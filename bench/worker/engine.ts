/** The service's own client of the SQL endpoint, given the SQL that is to run: what a request costs without the rest of the service. */
import { parseDatasourceSecret } from '../../src/engine/datasource.ts';
import { httpEngine } from '../../src/engine/engine.ts';
import { operatorText } from '../../src/engine/operator.ts';

export default {
  async fetch(request: Request, env: { readonly DATASOURCE_MAIN: string }): Promise<Response> {
    const { sql, params } = (await request.json()) as { sql: string; params: (string | null)[] };
    const rows = await httpEngine.rows(
      { name: 'main', ...parseDatasourceSecret(env.DATASOURCE_MAIN) },
      { text: operatorText(sql), params, timeoutMs: 30_000, maxBytes: 50_000_000, signal: request.signal },
    );
    return new Response(rows.body('{"data":', '}'), { headers: { 'content-type': 'application/json' } });
  },
};
