/** The baseline of the service: the bare driver, which gets the SQL to run. */
import { neon, neonConfig } from '@neondatabase/serverless';

interface Environment {
  readonly URL: string;
  readonly ENDPOINT: string;
}

export default {
  async fetch(request: Request, env: Environment): Promise<Response> {
    neonConfig.fetchEndpoint = env.ENDPOINT;
    const { sql, params } = (await request.json()) as { sql: string; params: unknown[] };
    const rows = await neon(env.URL, { disableWarningInBrowsers: true }).query(sql, params);
    return Response.json(rows);
  },
};
