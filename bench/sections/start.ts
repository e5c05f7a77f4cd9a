/** (start) `npm start`: the time until it is ready, and a request to it against the same script as the other sections run it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { buildService, PROJECT } from '../lib/build.ts';
import { interleaved, median, ms, ratio, timed } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const POINT = "SELECT name, population, country_code FROM svc.city WHERE entity_id = 'city:2761369'";
const [ROUNDS, WARM_UP] = [600, 100];

interface Started {
  readonly url: string;
  readonly token: string;
  /** From the command to READY. */
  readonly took: number;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts `npm start` with its files in `dir`, and waits until it is ready. `database`: instead of the embedded one. */
async function start(dir: string, database?: string): Promise<Started> {
  const port = await freePort();
  const session = join(dir, 'session.json');
  const begun = performance.now();
  const child: ChildProcess = spawn('npm', ['start'], {
    cwd: PROJECT,
    env: {
      ...process.env,
      PORT: String(port),
      DATA_DIR: join(dir, 'data'),
      SESSION_FILE: session,
      ...(database === undefined ? {} : { DATABASE_URL: database }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // the signal at the end is for the processes below npm too
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => line.startsWith('READY ') && resolve());
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}`)));
  });
  const took = performance.now() - begun;
  const { admin_token: token } = JSON.parse(await readFile(session, 'utf8')) as { admin_token: string };
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGINT');
    await ended;
  };
  return { url: `http://127.0.0.1:${port}`, token, took, stop };
}

export async function run(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-start-'));
  try {
    const took: number[] = [];
    for (let i = 0; i < 2; i++) {
      const started = await start(dir);
      took.push(started.took);
      await started.stop();
    }
    aim('start', 'npm start, the first time', (took[0] as number) / 1000, { most: 10 }, 's');
    table(
      '(start) from `npm start` to READY, embedded database',
      ['start', 'time'],
      [
        ['the first, which loads the sample graph', ms(took[0] as number)],
        ['the second', ms(took[1] as number)],
      ],
    );
    await request(join(dir, 'server'));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The point query over PostgreSQL through `npm start` and through the script as the other sections run it. */
async function request(dir: string): Promise<void> {
  const database = await worldDatabase();
  if (database.local.direct === undefined) return note('(start) compares no requests: it needs an installed PostgreSQL.');
  const server = await startScratchPostgres({ passwords: true });
  const { adminToken, bindings } = await serviceSettings(database);
  const running = await startScripts({ service: { script: await buildService('start'), bindings, more: SERVICE_BINDINGS } });
  let started: Started | undefined;
  try {
    await loadModel(running.urls.service as string, adminToken);
    started = await start(dir, server.url);
    const ask = (base: string, token: string) => () => post(`${base}/svc/api/query/`, { ontology_name: 'world', query: POINT }, { 'x-api-key': token });
    const variants = { bench: ask(running.urls.service as string, adminToken), started: ask(started.url, started.token) };
    const answers = await Promise.all(Object.values(variants).map(async (send) => JSON.stringify(JSON.parse(String(await send())).data)));
    if (answers[0] !== answers[1] || answers[0] === '[]') throw new Error(`the answers differ: ${answers.join(' ')}`);
    const took = await interleaved({ bench: () => timed(variants.bench), started: () => timed(variants.started) }, ROUNDS, WARM_UP);
    aim('start', 'a point query to npm start against only the script', median(took.started) / median(took.bench), { most: 1.3 });
    table(
      `(start) point query, ${database.name}`,
      ['request', 'only the script', 'npm start', 'ratio'],
      [['one city by its id', ms(median(took.bench)), ms(median(took.started)), ratio(median(took.started), median(took.bench))]],
    );
  } finally {
    await started?.stop();
    await running.stop();
    await server.stop();
  }
}
