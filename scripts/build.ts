/**
 * `npm run build` builds the Worker that would be deployed, `npm run deploy` deploys it. `-- --llm NAMES` selects the providers of language models to
 * include: `all` (the default), `none`, or names as in LLM_TYPE, separated by commas. Other arguments go to wrangler.
 */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROVIDERS, type Provider, providerOf } from '../src/llm/providers/settings.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const LEFT_OUT = './src/llm/providers/left-out.ts';

/** The selected providers. @throws Error for an unknown name */
export function chosen(choice: string): readonly Provider[] {
  if (choice === 'all') return PROVIDERS;
  if (choice === 'none') return [];
  return choice.split(',').map((name) => {
    const provider = providerOf(name);
    if (provider === undefined) throw new Error(`--llm takes all, none, or some of ${PROVIDERS.join(', ')}; not ${name}`);
    return provider;
  });
}

/** Replacements of omitted modules for the bundler: the specifiers of src/llm/models.ts. */
export function leftOut(providers: readonly Provider[]): Readonly<Record<string, string>> {
  const files = PROVIDERS.filter((p) => !providers.includes(p)).map((p) => `./providers/${p}.ts`);
  if (providers.length === 0) files.push('./providers/sdk.ts');
  return Object.fromEntries(files.map((file) => [file, LEFT_OUT]));
}

function main(args: readonly string[]): void {
  let choice = 'all';
  let deploy = false;
  const others: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '--llm') choice = args[++i] ?? '';
    else if (arg.startsWith('--llm=')) choice = arg.slice('--llm='.length);
    else if (arg === '--deploy') deploy = true;
    else others.push(arg);
  }
  const aliases = Object.entries(leftOut(chosen(choice))).flatMap(([from, to]) => ['--alias', `${from}:${to}`]);
  const folder = others.some((arg) => /^--outdir(=|$)/.test(arg)) ? [] : ['--outdir', 'dist/worker'];
  const target = deploy ? [] : ['--dry-run', ...folder];
  const wrangler = join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin', 'wrangler.js');
  execFileSync(process.execPath, [wrangler, 'deploy', ...target, ...aliases, ...others], { cwd: PROJECT, stdio: 'inherit' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    // wrangler has printed its own errors
    if (!(error instanceof Error && 'status' in error)) console.error((error as Error).message);
    process.exitCode = 1;
  }
}
