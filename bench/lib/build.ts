/** The scripts to measure: the service as it would be deployed, and the small Workers of the benchmarks. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { bundle } from '../../scripts/bundle.ts';
import type { Provider } from '../../src/llm/providers/settings.ts';

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** The folder of built scripts, with a subfolder for each. */
export const OUT = join(PROJECT, 'dist', 'bench');

/** The compatibility settings of a Worker, as in wrangler.toml. */
export const COMPATIBILITY = {
  compatibilityDate: '2026-08-15',
  compatibilityFlags: [
    'nodejs_compat',
    'nodejs_compat_do_not_populate_process_env',
    'enable_request_signal',
    'global_fetch_strictly_public',
    'new_module_registry',
  ],
};

/** One module of a script, in Miniflare's form. */
export interface Module {
  type: 'ESModule' | 'CompiledWasm';
  path: string;
  contents: Uint8Array<ArrayBuffer>;
}

/** A built script: its modules, the main one first. */
export interface Script {
  modulesRoot: string;
  modules: Module[];
}

/**
 * The service, built as it is deployed. Simultaneous builds need separate folders. `entry`: an `index.ts` of the project to use as the Worker instead.
 * `providers`: the providers of language models to include (scripts/build.ts).
 */
export async function buildService(folder = 'service', entry?: string, providers?: readonly Provider[]): Promise<Script> {
  const outdir = join(OUT, folder);
  await bundle({ outdir, entry, providers });
  return readScript(outdir, 'index.js');
}

/** A Worker of `bench/worker/`; `instead`: modules of `src/` and the modules of `bench/worker/` that replace them. */
export async function buildBenchWorker(name: string, instead: Readonly<Record<string, string>> = {}): Promise<Script> {
  const dir = join(OUT, name);
  await rm(dir, { recursive: true, force: true });
  const grammar: Plugin = {
    name: 'grammar',
    setup: (b) => {
      b.onResolve({ filter: /libpg-query\.wasm$/ }, () => ({ path: './libpg-query.wasm', external: true }));
      b.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true }));
    },
  };
  const standIns: Plugin = {
    name: 'stand-ins',
    setup: (b) =>
      b.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir, importer }) => {
        const found = Object.entries(instead).find(([of]) => join(resolveDir, path) === join(PROJECT, 'src', of));
        const standIn = found && join(PROJECT, 'bench', 'worker', found[1]);
        return standIn === undefined || importer === standIn ? undefined : { path: standIn };
      }),
  };
  const result = await build({
    entryPoints: [join(PROJECT, 'bench', 'worker', `${name}.ts`)],
    outfile: join(dir, 'index.js'),
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    plugins: [grammar, standIns],
    metafile: true,
    logLevel: 'silent',
  });
  const script = await readScript(dir, 'index.js');
  if (Object.values(result.metafile.outputs).some((o) => o.imports.some((i) => i.path.endsWith('.wasm')))) {
    const contents = new Uint8Array(await readFile(join(PROJECT, 'dist', 'parser', 'libpg-query.wasm')));
    script.modules.push({ type: 'CompiledWasm', path: join(dir, 'libpg-query.wasm'), contents });
  }
  return script;
}

/** A script that was built into a folder; `main`: its main module, which is the first one. */
export async function readScript(dir: string, main: string): Promise<Script> {
  const names = (await readdir(dir)).filter((n) => /\.(js|wasm)$/.test(n));
  const modules = names.map(
    async (name): Promise<Module> => ({
      type: name.endsWith('.wasm') ? 'CompiledWasm' : 'ESModule',
      path: join(dir, name),
      contents: new Uint8Array(await readFile(join(dir, name))),
    }),
  );
  const first = join(dir, main);
  // Miniflare copies all earlier modules whenever it adds one: in this order it copies a sixth of the bytes
  const sorted = (await Promise.all(modules)).sort((a, b) => Number(b.path === first) - Number(a.path === first) || a.contents.length - b.contents.length);
  return { modulesRoot: dir, modules: sorted };
}

/** The names of a built service's modules that are loaded before the first request; others are loaded on demand. */
export async function firstModules({ modulesRoot }: Script): Promise<ReadonlySet<string>> {
  const { outputs } = JSON.parse(await readFile(join(modulesRoot, 'bundle-meta.json'), 'utf8')) as Metafile;
  const main = Object.keys(outputs).find((path) => basename(path) === 'index.js') ?? '';
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(next);
  };
  visit(main);
  return new Set([...found].map((path) => basename(path)));
}
