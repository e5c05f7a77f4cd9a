/**
 * `npm run scale:citus -- --source PATH [--dir DIR]`: builds Citus from its source in DIR (once), starts a cluster on the loopback interface, runs test/scale on it and
 * stops it. Where a cluster exists already, `CITUS_URL=... npx vitest run --project scale` runs the same tests there.
 */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCitus, startCitus } from '../dev/scratch-citus.ts';

const { values } = parseArgs({ options: { source: { type: 'string' }, dir: { type: 'string', default: join(tmpdir(), 'svc-citus') } } });
if (values.source === undefined) {
  console.error(
    'Usage: npm run scale:citus -- --source PATH [--dir DIR]\nPATH: the source of Citus, such as a clone of github.com/citusdata/citus at the tag v13.2.2.',
  );
  process.exit(1);
}
// Ctrl-C ends the tests; this process then stops the cluster
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
const cluster = await startCitus(buildCitus(resolve(values.source), resolve(values.dir)));
try {
  const tests = spawn('npx', ['vitest', 'run', '--project', 'scale'], { stdio: 'inherit', env: { ...process.env, CITUS_URL: cluster.url } });
  process.exitCode = await new Promise<number>((end) => tests.once('exit', (code) => end(code ?? 1)));
} finally {
  await cluster.stop();
}
