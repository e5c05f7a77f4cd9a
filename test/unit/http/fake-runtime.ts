/** A runtime whose catalog answers one snapshot of the administrator. */
import type { Snapshot } from '../../../src/catalog/snapshot.ts';
import { forgetSnapshots } from '../../../src/catalog/snapshot.ts';
import { readConfig } from '../../../src/config.ts';
import { createApp } from '../../../src/http/app.ts';
import type { Runtime } from '../../../src/service.ts';

export function fakeRuntime(env: Record<string, string> = {}, parts: Partial<Runtime> = {}, snapshot: Partial<Snapshot> = {}): Runtime {
  forgetSnapshots();
  const whole: Snapshot = {
    verifiedAt: Date.now(),
    token: null,
    user: { id: '00000000-0000-4000-8000-000000000001', name: 'admin', email: null, tenant: null, active: true, emailBy: [] },
    roles: [],
    grants: [],
    ontologies: [],
    datasources: [],
    agents: [],
    cacheGeneration: 0,
    permissions: 0,
    maskKey: 'k',
    isWhole: true,
    ...snapshot,
  };
  return {
    config: readConfig(env),
    db: { query: async () => [{ snapshot: JSON.stringify(whole) }], batch: async (calls) => calls.map(() => []) },
    parser: {
      parse: () => {
        throw new Error('nothing is parsed here');
      },
    },
    now: Date.now,
    waitUntil: () => undefined,
    log: () => undefined,
    ...parts,
  };
}

/** The answer of the routes to a request. */
export const asked = async (path: string, init: RequestInit = {}, runtime: Runtime = fakeRuntime()): Promise<Response> =>
  createApp('svc', '1').fetch(new Request(`http://127.0.0.1:8787${path}`, init), { runtime });
