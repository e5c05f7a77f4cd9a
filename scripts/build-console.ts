/**
 * `npm run build:console`: builds the console into `dist/console/`: `index.html`, and `assets/` with scripts and styles whose names have a digest of their
 * content. The Worker serves them (src/http/console.ts). `apps/` has the pages of MCP Apps (src/mcp/apps.ts).
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { version } from 'vite';
import { buildApps } from './build-apps.ts';
import { buildDocs } from './build-docs.ts';
import { shorten } from './shorten.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
/** The folder of the built console. */
const CONSOLE = join(PROJECT, 'dist', 'console');
const SOURCE = join(PROJECT, 'console');
const MAIN = join(SOURCE, 'src', 'main.tsx');
const STAMP = join(CONSOLE, '.stamp');

/** A digest of everything that the result depends on. */
function inputs(): string {
  const digest = createHash('sha256');
  const files = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [
    ...files,
    join(PROJECT, 'package-lock.json'),
    join(PROJECT, 'scripts', 'build-apps.ts'),
    join(PROJECT, 'scripts', 'shorten.ts'),
    join(PROJECT, 'src', 'planner', 'guard', 'functions.ts'),
    join(PROJECT, 'editors', 'keywords.json'),
    fileURLToPath(import.meta.url),
  ])
    digest.update(file.slice(PROJECT.length)).update(readFileSync(file));
  return digest.digest('hex');
}

/**
 * Leaves out the SQL dialects that the editor does not use. They are marked as pure, but their arguments join texts, which the bundler does not leave out:
 * in a pure function it does.
 */
const usedDialects: Plugin = {
  name: 'used-dialects',
  setup: (b) =>
    b.onLoad({ filter: /@codemirror\/lang-sql\/dist\/index\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /^(const \w+ = )(?:\/\*@__PURE__\*\/)?(SQLDialect\.define\(\{\n[\s\S]*?\n\}\)|SQLTypes \+ "[^"]*");$/gm,
        '$1/*@__PURE__*/(() => $2)();',
      ),
    })),
};

/** Lets the script of the page, and each that it loads later, contain `shared.ts`. */
const oneSharedFile: Plugin = {
  name: 'one-shared-file',
  setup(b) {
    const scripts = new Set([MAIN]);
    b.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
      if (kind === 'dynamic-import') scripts.add(resolve(resolveDir, path));
      return undefined;
    });
    b.onLoad({ filter: /\.tsx$/ }, ({ path }) =>
      scripts.has(path) ? { contents: `import ${JSON.stringify(join(SOURCE, 'src', 'shared.ts'))};\n${readFileSync(path, 'utf8')}`, loader: 'tsx' } : undefined,
    );
  },
};

/** Part of each script before its name is made, because browsers keep a file of that name: what `shorten` makes of it also depends on the minifier. */
const minifier = (): string =>
  createHash('sha256')
    .update(version)
    .update(readFileSync(join(PROJECT, 'scripts', 'shorten.ts')))
    .digest('hex');

/** Builds the console if its inputs changed, and the pages for language models. @returns the folder */
export async function buildConsole(): Promise<string> {
  buildDocs(join(PROJECT, 'docs'), CONSOLE);
  const stamp = inputs();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return CONSOLE;
  const assets = join(CONSOLE, 'assets');
  const { metafile } = await build({
    absWorkingDir: PROJECT,
    entryPoints: [MAIN, join(SOURCE, 'src', 'style', 'index.css')],
    outdir: assets,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    minify: true,
    banner: { js: `/* ${minifier()} */` },
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    plugins: [usedDialects, oneSharedFile],
    metafile: true,
    logLevel: 'warning',
  });
  await shorten(Object.keys(metafile.outputs).map((file) => join(PROJECT, file)));
  const outputs = Object.entries(metafile.outputs).map(([file, output]) => ({ name: file.slice(file.lastIndexOf('/') + 1), output }));
  // files that are loaded later have an entry point, too
  const entry = (source: string): { readonly name: string; readonly imports: readonly string[] } => {
    const found = outputs.find(({ output }) => output.entryPoint === source);
    if (found === undefined) throw new Error(`the console has no entry ${source}`);
    const imports = found.output.imports.filter((i) => i.kind === 'import-statement').map((i) => i.path.slice(i.path.lastIndexOf('/') + 1));
    return { name: found.name, imports };
  };
  const [script, style] = [entry('console/src/main.tsx'), entry('console/src/style/index.css')];
  const html = readFileSync(join(SOURCE, 'index.html'), 'utf8')
    .replace('{{styles}}', `<link rel="stylesheet" href="assets/${style.name}">`)
    .replace(
      '{{scripts}}',
      [...script.imports.map((name) => `<link rel="modulepreload" href="assets/${name}">`), `<script type="module" src="assets/${script.name}"></script>`].join(
        '\n',
      ),
    );
  mkdirSync(CONSOLE, { recursive: true });
  writeFileSync(join(CONSOLE, 'index.html'), html);
  const current = new Set(outputs.map(({ name }) => name));
  for (const name of readdirSync(assets)) if (!current.has(name)) rmSync(join(assets, name));
  await buildApps(CONSOLE);
  writeFileSync(STAMP, stamp);
  return CONSOLE;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole();
