/**
 * `npm run scale:citus -- --source PATH [--dir DIR]`: builds Citus from its source in DIR (once), starts a cluster on the loopback interface, runs test/scale on it and
 * stops it. Where a cluster exists already, `CITUS_URL=... npx vitest run --project scale` runs the same tests there.
 *
 * With `--acceptance FILE` (the runner of an acceptance suite that starts the service by `npm start`) it runs that with the given groups instead: each data folder of
 * `npm start` gets a database of its own on the cluster, with distributed tables (test/scale/on-coordinator.ts).
 * With `--bench` it runs `npm run bench -- citus` there.
 */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCitus, startCitus } from '../dev/scratch-citus.ts';

const { values, positionals } = parseArgs({
  options: {
    source: { type: 'string' },
    dir: { type: 'string', default: join(tmpdir(), 'svc-citus') },
    acceptance: { type: 'string' },
    distributed: { type: 'string', default: '' },
    bench: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.source === undefined) {
  console.error(`Usage: npm run scale:citus -- --source PATH [--dir DIR] [--bench | --acceptance FILE [--distributed TABLES] GROUP ...]
PATH: the source of Citus, such as a clone of github.com/citusdata/citus at the tag v13.2.2.
FILE: a program that starts the service by npm start. TABLES: names with commas; the other tables become reference tables. Default: all are distributed.`);
  process.exit(1);
}
// Ctrl-C ends the tests; this process then stops the cluster
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
const cluster = await startCitus(buildCitus(resolve(values.source), resolve(values.dir)));
const preload = new URL('../test/scale/on-coordinator.ts', import.meta.url).href;
const [program, args, env] = values.bench
  ? ['node', ['bench/run.ts', 'citus'], {}]
  : values.acceptance === undefined
    ? ['npx', ['vitest', 'run', '--project', 'scale'], {}]
    : ['node', [resolve(values.acceptance), ...positionals], { CITUS_DISTRIBUTED: values.distributed, NODE_OPTIONS: `--import ${preload}` }];
try {
  const tests = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env, CITUS_URL: cluster.url } });
  process.exitCode = await new Promise<number>((end) => tests.once('exit', (code) => end(code ?? 1)));
} finally {
  await cluster.stop();
}
