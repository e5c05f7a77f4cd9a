/**
 * `npm run load -- [--minutes 10] [--rate 50]`: the built Worker over PostgreSQL with one hot standby. It finds how many requests a second are answered, then sends
 * 70 % of that for some minutes, while a job refreshes a cached mapping and the model is changed. The standby is killed and comes back. Every answer is compared with
 * rows of hand-written SQL. `--rate`: the requests a second, without the ramp, for a machine that has other work.
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { closeConnections, closeDatabase, post } from '../lib/stack.ts';
import { tableLines } from '../lib/table.ts';
import { LoadClient, lineOf, type Phase } from './client.ts';
import { MIX, requestsOf } from './requests.ts';
import { JOB, MODEL, type Servers, startServers } from './servers.ts';

const RAMP = [1, 2, 4, 8, 16, 32];
const RAMP_MS = 4000;
const SHARE = 0.7;
const CHANGE_PAUSE_MS = 5000;
/** RUN JOB is sent at this distance; the schedule of the job is longer. */
const RUN_PAUSE_MS = 30_000;
/** Parts of the time at which the standby is killed and comes back. */
const [KILLED, BACK] = [0.4, 0.6];
const HEAD = ['', 'requests', '/s', 'wrong', 'failed', 'refused', 'repeated', 'by the replica', 'p50', 'p95', 'p99'];

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, rate: { type: 'string' } } });
const minutes = Number(values.minutes);
const fixed = values.rate === undefined ? undefined : Number(values.rate);
if (!(minutes > 0) || (fixed !== undefined && !(fixed > 0))) {
  console.error('npm run load -- [--minutes 10] [--rate 50]');
  process.exit(1);
}

/** The most answers a second, and how many requests at once gave them. */
async function capacity(client: LoadClient): Promise<number> {
  await client.atOnce(4, RAMP_MS);
  let best = 0;
  for (const width of RAMP) {
    const rate = await client.atOnce(width, RAMP_MS);
    console.log(`${width} at once: ${rate.toFixed(0)}/s`);
    // no more comes of more at once
    if (rate < best * 1.02) break;
    best = Math.max(best, rate);
  }
  return best;
}

/** Watches the runs of the job. */
class Runs {
  readonly #servers: Servers;
  readonly #seen = new Set<string>();
  readonly failed: string[] = [];

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  get count(): number {
    return this.#seen.size;
  }

  async #ask(query: string): Promise<readonly Readonly<Record<string, string | null>>[]> {
    const { base, adminToken } = this.#servers;
    return JSON.parse(String(await post(`${base}/svc/api/query`, { ontology_name: 'shop', query }, { 'x-api-key': adminToken }))).data;
  }

  /** Lets the job run once more. */
  async begin(): Promise<void> {
    await this.#ask('RUN JOB refresh');
  }

  async look(): Promise<void> {
    const [job] = await this.#ask('SHOW JOBS');
    if (job?.status === 'succeeded' && job.last_run) this.#seen.add(job.last_run);
    if (job?.status === 'failed') this.failed.push(String(job.message));
  }
}

const phases = (names: readonly string[]): Phase[] => names.map(() => ({ outcomes: [], begun: 0, ended: 0 }));
const NAMES = ['before the kill', 'without the replica', 'with a replica again'];

/** Runs the mix, kills the standby in the middle, and starts it again. */
async function sustained(servers: Servers, client: LoadClient, rate: number, runs: Runs): Promise<Phase[]> {
  const all = phases(NAMES);
  let current = 0;
  let over = false;
  const phase = (): Phase => all[current] as Phase;
  const begin = (n: number): void => {
    const at = performance.now();
    if (n > 0) phase().ended = at;
    current = n;
    phase().begun = at;
  };
  begin(0);
  const ended = (): boolean => over;
  const work = [client.atRate(rate, phase, ended), client.changes(CHANGE_PAUSE_MS, phase, ended)];
  const noted = (work: Promise<void>): void => void work.catch((error: unknown) => runs.failed.push(String(error)));
  const watching = [setInterval(() => noted(runs.look()), 5000), setInterval(() => noted(runs.begin()), RUN_PAUSE_MS)];
  const until = (part: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, Math.max(0, (all[0] as Phase).begun + part * minutes * 60_000 - performance.now())));
  try {
    await until(KILLED);
    await servers.kill();
    begin(1);
    console.log('the standby was killed');
    await until(BACK);
    await servers.restart();
    begin(2);
    console.log('the standby is back');
    await until(1);
  } finally {
    over = true;
    await Promise.all(work);
    for (const timer of watching) clearInterval(timer);
    phase().ended = performance.now();
  }
  return all;
}

function report(all: readonly Phase[], { name }: Servers, client: LoadClient, runs: Runs, rate: number): void {
  const seconds = (p: Phase): number => (p.ended - p.begun) / 1000;
  const every = all.flatMap((p) => p.outcomes);
  const total = all.reduce((sum, p) => sum + seconds(p), 0);
  const kinds = [...Object.keys(MIX), 'model'].map((kind) =>
    lineOf(
      kind,
      every.filter((o) => o.kind === kind),
      total,
    ),
  );
  console.log(`\n${minutes} minutes at ${rate.toFixed(0)} requests/s, ${name}, ${cpus().length} processors, load ${loadavg()[0]?.toFixed(1)}\n`);
  console.log(tableLines(HEAD, [...all.map((p, i) => lineOf(NAMES[i] ?? '', p.outcomes, seconds(p))), ...kinds, lineOf('all', every, total)]).join('\n'));
  console.log(`\nruns of the job that succeeded: ${runs.count}; failed: ${runs.failed.length}${runs.failed.length > 0 ? ` (${runs.failed[0]})` : ''}`);
  console.log(`requests that waited at the same time: at most ${client.mostWaiting}`);
  for (const fault of client.faults) console.log(`  ${fault}`);
  const bad = every.filter((o) => o.result !== 'right').length;
  const unseen = runs.count === 0 || !all[0]?.outcomes.some((o) => o.replica) || !all[2]?.outcomes.some((o) => o.replica);
  if (unseen) console.log('the job did not run, or the replica did not answer before the kill and after it');
  if (bad > 0 || runs.failed.length > 0 || unseen) process.exitCode = 1;
}

const servers = await startServers();
let client: LoadClient | undefined;
try {
  const { base, adminToken, primary } = servers;
  const run = (ontology_name: string, query: string) => post(`${base}/svc/api/query`, { ontology_name, query }, { 'x-api-key': adminToken });
  await run('', MODEL);
  await run('shop', JOB);
  await run('shop', 'RUN JOB refresh');
  client = new LoadClient(base, adminToken, await requestsOf(primary));
  const most = fixed === undefined ? await capacity(client) : undefined;
  if (most !== undefined) console.log(`capacity ${most.toFixed(0)}/s`);
  const rate = fixed ?? SHARE * (most as number);
  const runs = new Runs(servers);
  report(await sustained(servers, client, rate, runs), servers, client, runs, rate);
} finally {
  client?.close();
  closeConnections();
  await servers.stop();
  await closeDatabase();
}
