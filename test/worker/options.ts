/** The Worker of the tests in the Workers runtime, as wrangler.toml describes it. */
import { fileURLToPath } from 'node:url';
import type { WorkerFacts } from '../../dev/start/built.ts';

/** Vitest's own Worker in that process does not start with this flag. `npm start`, the benchmarks and the acceptance suite use it. */
const NOT_IN_VITEST = 'new_module_registry';

/** The main module of the Worker as it is deployed, which `host.ts` builds. */
export const BUILT_WORKER = fileURLToPath(new URL('../../dist/tests/worker/index.js', import.meta.url));

const CONSOLE = fileURLToPath(new URL('../../dist/console', import.meta.url));

/** Miniflare's options of the Worker, except its settings. */
export const workerOptions = ({ name, compatibilityDate, compatibilityFlags, kv, objects }: WorkerFacts) => ({
  name,
  compatibilityDate,
  compatibilityFlags: compatibilityFlags.filter((flag) => flag !== NOT_IN_VITEST),
  modulesRules: [{ type: 'CompiledWasm' as const, include: ['**/*.wasm'] }],
  kvNamespaces: [...kv],
  serviceBindings: { ASSETS: { disk: { path: CONSOLE, writable: false } } },
  durableObjects: Object.fromEntries(Object.entries(objects).map(([binding, className]) => [binding, { className, useSQLite: true }])),
});
