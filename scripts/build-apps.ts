/** Builds the pages of MCP Apps (console/src/apps) into `dist/console/apps/`: each is one HTML file with its script and styles, and loads nothing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const SOURCE = join(PROJECT, 'console', 'src');

/** The pages, by the names of their files; their titles are for screen readers. */
const PAGES: Readonly<Record<string, string>> = { result: 'Result', graph: 'Knowledge graph' };

async function bundled(file: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: PROJECT,
    entryPoints: [join(SOURCE, file)],
    outdir: 'unused',
    write: false,
    bundle: true,
    // inline scripts must not contain `</script`, which esbuild escapes
    format: 'iife',
    target: 'es2023',
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  return (outputFiles[0]?.text ?? '').trim();
}

/** Writes the pages below a folder. */
export async function buildApps(folder: string): Promise<void> {
  const apps = join(folder, 'apps');
  mkdirSync(apps, { recursive: true });
  for (const [name, title] of Object.entries(PAGES)) {
    const [script, style] = await Promise.all([bundled(join('apps', `${name}.tsx`)), bundled(join('style', `apps-${name}.css`))]);
    const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}</style>`;
    writeFileSync(join(apps, `${name}.html`), `<!doctype html><html lang="en"><head>${head}</head><body><script>${script}</script></body></html>\n`);
  }
}
