/** The built script: what every request waits for, and what is loaded on demand. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMPATIBILITY, firstModules, readScript, type Script } from '../../bench/lib/build.ts';
import { builtWorker, type WorkerFacts } from '../../dev/start/built.ts';

let folder: string;
let script: Script;
let first: ReadonlySet<string>;
/** The modules of the first request with the sources in each. */
let sources: ReadonlySet<string>;

beforeAll(async () => {
  folder = await builtWorker();
  script = await readScript(folder, 'index.js');
  first = await firstModules(script);
  const { outputs } = JSON.parse(await readFile(join(folder, 'bundle-meta.json'), 'utf8')) as Metafile;
  const loaded = Object.entries(outputs).filter(([path]) => first.has(basename(path)));
  sources = new Set(loaded.flatMap(([, { inputs }]) => Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []))));
});

const packageOf = (path: string): string | undefined => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
const kB = (names: (name: string) => boolean): number =>
  script.modules.filter((m) => names(basename(m.path))).reduce((total, m) => total + gzipSync(m.contents).length, 0) / 1000;

describe('the first request', () => {
  it('waits only for these packages', () => {
    expect([...new Set([...sources].flatMap((path) => packageOf(path) ?? []))].sort()).toEqual(['hono']);
  });

  it.each([
    'http/login.ts',
    'http/oauth.ts',
    'http/get-token.ts',
    'catalog/changes.ts',
    'catalog/rights.ts',
    'http/docs-page.ts',
    'http/openapi-routes.ts',
    'oauth/server.ts',
    'mcp/front.ts',
    'mcp/server.ts',
    'auth/jwt.ts',
    'service/write/draft.ts',
    'ontology/apply/finish.ts',
    'planner/logical/plan.ts',
  ])('does not wait for %s', (file) => {
    const inputs = [...sources].filter((path) => path.endsWith(`src/${file}`));
    expect(inputs).toEqual([]);
  });

  it('waits for a bounded script, which contains the planner and the grammar', () => {
    expect([...sources].some((path) => path.includes('src/planner/'))).toBe(true);
    expect([...first].some((name) => name.endsWith('.wasm'))).toBe(true);
    expect(kB((name) => first.has(name))).toBeLessThan(600);
  });
});

describe('the compatibility flags', () => {
  it('compile modules when they are first imported, and are the same for the benchmarks', async () => {
    const { compatibilityDate, compatibilityFlags } = JSON.parse(await readFile(join(folder, 'worker.json'), 'utf8')) as WorkerFacts;
    expect(compatibilityFlags).toContain('new_module_registry');
    expect(COMPATIBILITY).toEqual({ compatibilityDate, compatibilityFlags });
  });
});

describe('the script', () => {
  it('is minified, with a source map for each module', async () => {
    for (const { path, type } of script.modules.filter((m) => m.type === 'ESModule')) {
      const text = await readFile(path, 'utf8');
      expect(text, type).toContain(`//# sourceMappingURL=${basename(path)}.map`);
    }
    // comments and line breaks are gone
    const main = await readFile(join(folder, 'index.js'), 'utf8');
    expect(main.length / main.split('\n').length).toBeGreaterThan(500);
  });

  it('has a bounded size', () => {
    expect(kB(() => true)).toBeLessThan(1172);
  });
});
