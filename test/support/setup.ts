/**
 * Setup of the integration project. Files of one process share the packages in node_modules and the folders ontology, language and planner of src, which keep
 * nothing between requests. The other modules of the service, which cache users, rights and plans, are loaded again for each file. A file that replaces a module
 * with vi.mock shares no module with others.
 *
 * Passwords are hashed with low cost: the real cost is 0.2 s of CPU time each, and test/unit/auth/passwords.test.ts covers it.
 */
import { readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';

/** What loading a module has made. */
interface Loaded {
  promise?: unknown;
  exports?: unknown;
  evaluated: boolean;
}

const shared = globalThis as {
  readonly __vitest_worker__?: { readonly evaluatedModules: { readonly idToModuleMap: ReadonlyMap<string, Loaded> } };
  /** The last file has replaced a module. */
  hasReplaced?: boolean;
};
/** The pure folders and the modules that they use, without nesting, which counts the memory of answers. */
const PURE = /\/src\/(?:(?:ontology|language|planner)\/|(?:budget|errors)\.ts$)/;

// a spy of the last file may be on a class that stays
vi.restoreAllMocks();
const replaces = /\bvi\.(mock|doMock)\(/.test(readFileSync(expect.getState().testPath ?? '', 'utf8'));
const kept: (readonly [Loaded, Loaded])[] = [];
if (!replaces && !shared.hasReplaced) {
  for (const [id, module] of shared.__vitest_worker__?.evaluatedModules.idToModuleMap ?? [])
    if (PURE.test(id) && module.evaluated) kept.push([module, { ...module }]);
}
shared.hasReplaced = replaces;
vi.resetModules();
for (const [module, { promise, exports, evaluated }] of kept) Object.assign(module, { promise, exports, evaluated });

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof import('node:crypto')>();
  const scrypt = ((password, salt, length, options, callback) => real.scrypt(password, salt, length, { ...options, N: 16 }, callback)) as typeof real.scrypt;
  return { ...real, scrypt };
});
