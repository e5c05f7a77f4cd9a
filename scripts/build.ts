/**
 * `npm run build` builds the Worker and checks it, `npm run deploy` deploys it. `-- --llm NAMES` selects the providers of language models to include: `all`
 * (the default), `none`, or names as in LLM_TYPE, separated by commas. `--outdir FOLDER` is where the modules are written (dist/worker). Other arguments go to
 * wrangler, which uploads the modules as they are.
 */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROVIDERS, type Provider, providerOf } from '../src/llm/providers/settings.ts';
import { buildConsole } from './build-console.ts';
import { bundle } from './bundle.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));

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

/** The parsed arguments. */
interface Arguments {
  readonly llm: string;
  readonly outdir: string;
  readonly deploy: boolean;
  /** For wrangler. */
  readonly others: readonly string[];
}

function argumentsOf(args: readonly string[]): Arguments {
  const values = { llm: 'all', outdir: 'dist/worker' };
  const others: string[] = [];
  let deploy = false;
  for (let i = 0; i < args.length; i++) {
    const [, name, value] = /^--(llm|outdir)(?:=(.*))?$/.exec(args[i] as string) ?? [];
    if (name !== undefined) values[name as keyof typeof values] = value ?? args[++i] ?? '';
    else if (args[i] === '--deploy') deploy = true;
    else others.push(args[i] as string);
  }
  return { ...values, deploy, others };
}

async function main(args: readonly string[]): Promise<void> {
  const { llm, outdir, deploy, others } = argumentsOf(args);
  const folder = resolve(PROJECT, outdir);
  await Promise.all([bundle({ outdir: folder, providers: chosen(llm) }), buildConsole()]);
  const wrangler = join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin', 'wrangler.js');
  const command = ['deploy', join(folder, 'index.js'), '--no-bundle', ...(deploy ? [] : ['--dry-run'])];
  execFileSync(process.execPath, [wrangler, ...command, ...others], { cwd: PROJECT, stdio: 'inherit' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    // wrangler has printed its own errors
    if (!(error instanceof Error && 'status' in error)) console.error((error as Error).message);
    process.exitCode = 1;
  }
}
