/** Checks credentials inside workerd, many per request, timed from outside. */
import { type AuthOptions, authenticate } from '../../src/auth/authenticate.ts';
import { readConfig } from '../../src/config.ts';

interface Task {
  /** Credentials of callers, in order. */
  readonly headers: readonly Record<string, string>[];
  /** The number of repetitions. */
  readonly n: number;
}

const SNAPSHOT = {
  token: { id: 't', expires: null, revoked: false, by: [] },
  user: { id: 'u', name: 'ann', email: null, tenant: null, active: true, emailBy: [] },
};
const LISTS = { roles: [], grants: [], ontologies: [], datasources: [], agents: [], cacheGeneration: 1, permissions: 1, maskKey: 'k' };
const options: AuthOptions = {
  db: { query: async () => [{ snapshot: JSON.stringify({ verifiedAt: Date.now(), ...SNAPSHOT, ...LISTS }) }], batch: async () => [] },
  now: Date.now,
  waitUntil: () => undefined,
  log: () => undefined,
};

let settings: ReturnType<typeof readConfig> | undefined;

export default {
  async fetch(request: Request, env: Record<string, string>): Promise<Response> {
    settings ??= readConfig(env);
    const { headers, n } = (await request.json()) as Task;
    const given = headers.map((h) => new Headers(h));
    for (let i = 0; i < n; i++) for (const h of given) await authenticate(h, settings, options);
    return new Response('ok');
  },
};
