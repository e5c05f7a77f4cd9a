/** The built Worker for `npm start` and the tests: what `npm run deploy` would deploy. It is built again only if one of its inputs changed. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle.ts';
import { StartFailure } from './failure.ts';
import { PROJECT } from './places.ts';

const OUT = join(PROJECT, 'dist', 'start');
const RECORD = join(OUT, 'built.json');
/** Inputs that the bundler does not list. */
const MORE = ['wrangler.toml', 'package-lock.json', 'scripts/bundle.ts', 'scripts/shorten.ts', 'scripts/build-parser.ts', 'src/llm/providers/settings.ts'];

/** What the host process needs of wrangler.toml; the file `worker.json` of a build. */
export interface WorkerFacts {
  readonly name: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly kv: readonly string[];
  /** The class names of the Durable Objects, by binding. */
  readonly objects: Readonly<Record<string, string>>;
}

/** A finished build: its folder, and the size and time of each of its inputs. */
interface Built {
  readonly folder: string;
  readonly inputs: Readonly<Record<string, string>>;
}

/** The folder with the modules of the Worker. Builds it if an input changed since the last build. @throws StartFailure */
export async function builtWorker(): Promise<string> {
  const kept = record();
  if (kept !== undefined && isFresh(kept)) return kept.folder;
  const folder = join(OUT, randomBytes(6).toString('hex'));
  mkdirSync(OUT, { recursive: true });
  // a file that is saved during the build may not be part of it
  const before = Date.now();
  const [found] = await Promise.all([readFacts(), build(folder)]);
  writeFileSync(join(folder, 'worker.json'), JSON.stringify(found));
  const meta = JSON.parse(readFileSync(join(folder, 'bundle-meta.json'), 'utf8')) as { readonly inputs: Readonly<Record<string, unknown>> };
  const files = [...Object.keys(meta.inputs).filter((file) => existsSync(join(PROJECT, file))), ...MORE];
  const inputs = Object.fromEntries(files.map((file) => [file, stamp(file)]));
  // the build itself writes the parser
  const isSettled = files.every((file) => file.startsWith('dist/') || statSync(join(PROJECT, file)).mtimeMs < before);
  if (isSettled) {
    writeFileSync(`${RECORD}.${process.pid}`, JSON.stringify({ folder, inputs } satisfies Built));
    renameSync(`${RECORD}.${process.pid}`, RECORD);
  }
  removeOld(folder);
  return folder;
}

function record(): Built | undefined {
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8')) as Built;
  } catch {
    return undefined;
  }
}

const isFresh = ({ folder, inputs }: Built): boolean =>
  existsSync(join(folder, 'worker.json')) && Object.entries(inputs).every(([file, was]) => stamp(file) === was);

/** The size and the time of a file; for a file that git may write again with the same content, also a digest. */
function stamp(file: string): string {
  const path = join(PROJECT, file);
  if (!existsSync(path)) return 'missing';
  const { size, mtimeMs } = statSync(path);
  // files of packages are numerous and do not change by themselves
  return file.startsWith('node_modules/') ? `${size} ${mtimeMs}` : createHash('sha256').update(readFileSync(path)).digest('base64url');
}

/** Reads wrangler.toml as wrangler does. */
export async function readFacts(): Promise<WorkerFacts> {
  const { unstable_readConfig: readConfig } = await import('wrangler');
  const config = readConfig({ config: join(PROJECT, 'wrangler.toml') });
  return {
    name: config.name ?? 'svc',
    compatibilityDate: config.compatibility_date ?? '',
    compatibilityFlags: config.compatibility_flags,
    kv: config.kv_namespaces.map((k: { binding: string }) => k.binding),
    objects: Object.fromEntries(config.durable_objects.bindings.map((o: { name: string; class_name: string }) => [o.name, o.class_name])),
  };
}

async function build(folder: string): Promise<void> {
  try {
    await bundle({ outdir: folder });
  } catch (error) {
    throw new StartFailure(
      `the Worker cannot be built: ${(error as Error).message
        .split('\n')
        .find((line) => /error/i.test(line))
        ?.trim()}`,
    );
  }
}

/** Removes builds that are older than an hour: another start may still read a younger one. */
function removeOld(current: string): void {
  for (const name of readdirSync(OUT)) {
    const path = join(OUT, name);
    if (path !== current && path !== RECORD && Date.now() - statSync(path).mtimeMs > 3_600_000) rmSync(path, { recursive: true, force: true });
  }
}
