import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { buildConsole } from '../../scripts/build-console.ts';
import { builtWorker } from './built.ts';
import { envFile } from './env-file.ts';
import { StartFailure } from './failure.ts';
import type { HostParameters } from './host.ts';
import { PROJECT, writePrivate } from './places.ts';
import { ProcessTree } from './process-tree.ts';

/** The variables that wrangler itself needs; all others reach the Worker only by the env file. */
const KEPT =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|LANG|LC_.*|TZ|SYSTEMROOT|COMSPEC|APPDATA|LOCALAPPDATA|XDG_.*|NODE_EXTRA_CA_CERTS|CI|npm_config_.*|SESSION_FILE|DATA_DIR)$/i;

const ORPHAN = new URL('orphan.ts', import.meta.url).href;
const STEADY = new URL('steady.ts', import.meta.url).href;

/** The parameters of the Worker. */
export interface WorkerOptions {
  port: number;
  /** The settings of the service. */
  settings: Record<string, string>;
  persistDir: string;
  stateDir: string;
  /** Called with each line that the Worker or wrangler prints. */
  onLine(line: string): void;
}

/** A running Worker. */
export interface DevWorker {
  /** Resolves with its last output if it ends by itself. */
  ended: Promise<string>;
  /** Resolves when it says that it listens. */
  listens: Promise<void>;
  /** Ends it and all its child processes. */
  stop(): Promise<void>;
}

/** Starts the built script in workerd on the loopback interface. It does not change when a file is saved. @throws StartFailure if it cannot be built */
export async function startBuilt({ port, settings, persistDir, stateDir, onLine }: WorkerOptions): Promise<DevWorker> {
  const [folder, console] = await Promise.all([builtWorker(), buildConsole()]);
  const child = spawn(process.execPath, ['--import', ORPHAN, join(PROJECT, 'dev', 'start', 'host.ts')], {
    cwd: PROJECT,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment(stateDir),
  });
  // the settings have secrets, which command lines would show
  child.stdin.on('error', () => undefined).end(JSON.stringify({ port, folder, console, persistDir, settings } satisfies HostParameters));
  return running(child, onLine);
}

/** Starts `wrangler dev` on the loopback interface: it builds and starts the Worker again when a file is saved. @throws StartFailure for a setting that cannot be quoted */
export function startWatching({ port, settings, persistDir, stateDir, onLine }: WorkerOptions): DevWorker {
  const file = join(stateDir, `worker-${port}.env`);
  writePrivate(file, envFile(settings));
  const wrangler = join(PROJECT, 'node_modules', 'wrangler', 'bin', 'wrangler.js');
  const options = ['--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0', '--env-file', file, '--persist-to', persistDir];
  rmSync(join(stateDir, 'logs'), { recursive: true, force: true });
  const child = spawn(
    process.execPath,
    ['--import', ORPHAN, '--import', STEADY, wrangler, 'dev', ...options, '--show-interactive-dev-session', 'false', '--log-level', 'log'],
    { cwd: PROJECT, stdio: ['ignore', 'pipe', 'pipe'], env: environment(stateDir) },
  );
  const worker = running(child, onLine);
  return {
    ...worker,
    stop: async () => {
      await worker.stop();
      rmSync(file, { force: true });
    },
  };
}

/** The environment of the process: the settings of the service are not part of it. */
const environment = (stateDir: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_LOG_PATH: join(stateDir, 'logs'),
  WRANGLER_REGISTRY_PATH: join(stateDir, 'registry'),
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  // pages at /cdn-cgi/explorer, on which anybody on this machine could read and write KV and Durable Objects
  X_LOCAL_EXPLORER: 'false',
  FORCE_COLOR: '0',
  NO_COLOR: '1',
});

function running(child: ChildProcess, onLine: (line: string) => void): DevWorker {
  let tail = '';
  const { promise: listens, resolve: ready } = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        tail = `${tail}${line}\n`.slice(-4000);
        if (/ready on /i.test(line)) ready();
        onLine(line);
      }
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(tail));
  });
  const tree = new ProcessTree(child);
  return { ended, listens, stop: () => tree.stop() };
}

/** Waits for `health`; throws StartFailure if the Worker ends or never answers. */
export async function untilHealthy(worker: DevWorker, address: string, timeoutMs = 120_000): Promise<void> {
  let tail: string | undefined;
  void worker.ended.then((said) => {
    tail = said;
  });
  const end = Date.now() + timeoutMs;
  // A connection to a port of this machine on which nobody listens may get the same port as its own, and then occupies it.
  await Promise.race([worker.listens, worker.ended, setTimeout(timeoutMs / 4, undefined, { ref: false })]);
  for (let status = 'no answer'; ; ) {
    if (tail !== undefined) throw new StartFailure(`the Worker could not be started: ${firstError(tail)}`);
    if (Date.now() > end) throw new StartFailure(`the Worker does not get ready: ${address} answers ${status}`);
    try {
      const response = await fetch(address, { signal: AbortSignal.timeout(5000) });
      await response.arrayBuffer();
      if (response.status === 200) return;
      status = `HTTP ${response.status}`;
    } catch {
      // Not listening yet.
    }
    await setTimeout(100);
  }
}

const firstError = (output: string): string => {
  const lines = output.split('\n').filter((line) => line.trim() && !/^\s+at /.test(line));
  return (lines.find((line) => /error|✘/i.test(line)) ?? lines.at(-1) ?? 'it ended without a word').trim();
};
