/**
 * Builds the modules of the Worker: the main module, the modules that it loads when a request needs them (`import()` in src), and the grammar. This is what
 * is deployed, and what `npm start`, the tests and the benchmarks run.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin, transform } from 'esbuild';
import { SCRIPT } from '../src/http/docs-page-script.ts';
import { PROVIDERS, type Provider } from '../src/llm/providers/settings.ts';
import { buildParser } from './build-parser.ts';
import { shorten } from './shorten.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
/** The packages of the AI SDK. */
const SDK = /[/\\]node_modules[/\\](@ai-sdk[/\\][\w-]+|ai|workers-ai-provider)[/\\]dist[/\\].*\.m?js$/;
/** Calls in them that only make a schema or the description of a tool. They are not marked, so the bundler would keep those that nothing uses. */
const SCHEMAS =
  /^((?:var|const|let) [\w$]+ = )(?=(?:lazySchema\d*|createProvider\w+|create\w*Handler|withJsonValueCheck|createIdGenerator(?:\$\d)?|z\d*(?:\$\d)?\.\w+)\()/gm;
/** Methods that only Vercel's workflows call. Computed names of static methods make esbuild keep the class. */
const WORKFLOWS = /static \[WORKFLOW_(SERIALIZE|DESERIALIZE)\d*\]\(/g;
/** Models of Workers AI that answer no questions in words. Its provider can make all of them, so the bundler would keep them. */
const OTHER_MODELS = /new WorkersAI(?:Embedding|Image|Transcription|Speech|Reranking)Model\(/g;
const LEFT_OUT = './src/llm/providers/left-out.ts';

/** Replacements of omitted modules for the bundler: the specifiers of src/llm/models.ts. */
export function leftOut(providers: readonly Provider[]): Readonly<Record<string, string>> {
  const files = PROVIDERS.filter((p) => !providers.includes(p)).map((p) => `./providers/${p}.ts`);
  if (providers.length === 0) files.push('./providers/sdk.ts');
  return Object.fromEntries(files.map((file) => [file, LEFT_OUT]));
}

/** `[alias]` of wrangler.toml: replacements of modules, which `wrangler dev` uses too. */
export async function aliases(): Promise<Readonly<Record<string, string>>> {
  const { unstable_readConfig: readConfig } = await import('wrangler');
  return readConfig({ config: join(PROJECT, 'wrangler.toml') }, { hideWarnings: true }).alias ?? {};
}

/** What to build. */
export interface Bundle {
  /** The folder of the modules. Its previous content is removed. */
  readonly outdir: string;
  /** The main module, a path below the project. Default: src/index.ts. */
  readonly entry?: string | undefined;
  /** The providers of language models to include; all by default. */
  readonly providers?: readonly Provider[] | undefined;
}

/** Writes the modules, their source maps and `bundle-meta.json` (esbuild's metafile). The main module is `index.js`. @throws Error of esbuild */
export async function bundle({ outdir, entry = 'src/index.ts', providers = PROVIDERS }: Bundle): Promise<void> {
  const [replaced] = await Promise.all([aliases(), buildParser()]);
  const instead: Readonly<Record<string, string>> = { ...replaced, ...leftOut(providers) };
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const replacing: Plugin = {
    name: 'replacing',
    setup: (b) =>
      b.onResolve({ filter: /./ }, ({ path }) => {
        const to = Object.hasOwn(instead, path) ? instead[path] : undefined;
        return to === undefined ? undefined : { path: join(PROJECT, to) };
      }),
  };
  const pure: Plugin = {
    name: 'pure',
    setup: (b) =>
      b.onLoad({ filter: SDK }, async ({ path }) => ({
        contents: (await readFile(path, 'utf8'))
          .replace(SCHEMAS, '$1/* @__PURE__ */ ')
          .replace(WORKFLOWS, 'static WORKFLOW_$1(')
          .replace(OTHER_MODELS, 'new Object('),
      })),
  };
  // a script inside of a text, which esbuild leaves as it is
  const shortening: Plugin = {
    name: 'shortening',
    setup: (b) =>
      b.onLoad({ filter: /[/\\]docs-page-script\.ts$/ }, async () => {
        const { code } = await transform(SCRIPT, { minify: true, target: 'es2022' });
        return { contents: `export const SCRIPT = ${JSON.stringify(code)};` };
      }),
  };
  const { metafile } = await build({
    absWorkingDir: PROJECT,
    entryPoints: { index: join(PROJECT, entry) },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    legalComments: 'none',
    sourcemap: 'linked',
    // target, conditions and constants are those of wrangler
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    define: Object.fromEntries(['', 'global.', 'globalThis.'].map((of) => [`${of}process.env.NODE_ENV`, '"production"'])),
    // modules of the runtime; compatibility_date gives the Worker Node's own
    external: ['node:*', 'cloudflare:*'],
    loader: { '.wasm': 'copy' },
    assetNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    plugins: [replacing, shortening, pure],
    metafile: true,
    logLevel: 'silent',
  });
  const meta = await numbered(metafile);
  await shorten(Object.keys(meta.outputs).map((path) => join(PROJECT, path)));
  await writeFile(join(outdir, 'bundle-meta.json'), JSON.stringify(meta));
}

/** Names of modules that esbuild makes: hashes, because it knows no other unique names. */
const PART = /part-[A-Z0-9]{8}/g;

/** Gives the modules short names. Each import has the name of a module, and hashes cannot be compressed. @returns the metafile with these names */
async function numbered(metafile: Metafile): Promise<Metafile> {
  const files = Object.keys(metafile.outputs).filter((path) => /\.js(\.map)?$/.test(path));
  const names = new Map([...new Set(files.flatMap((path) => path.match(PART) ?? []))].sort().map((name, i) => [name, `p${i.toString(36)}`]));
  const short = (text: string): string => text.replace(PART, (name) => names.get(name) ?? name);
  await Promise.all(
    files.map(async (path) => {
      const file = join(PROJECT, path);
      if (path.endsWith('.js')) await writeFile(file, short(await readFile(file, 'utf8')));
      await rename(file, join(PROJECT, short(path)));
    }),
  );
  return JSON.parse(short(JSON.stringify(metafile)));
}
