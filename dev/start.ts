// `npm start` and `npm run dev`: the database, its SQL endpoint, the Worker and the sample graph, ready to use. See README.md.

import { createServer } from 'node:net';
import { loadWorldTables, worldLoaded } from '../examples/world/load.ts';
import { isSetting } from '../src/config.ts';
import { CATALOG_OWNER, DEVELOPER, READER } from './roles.ts';
import { connectionSetting, type Database, openDatabase } from './start/database.ts';
import { StartFailure } from './start/failure.ts';
import { lock, makeStateDir, type Places, readPlaces, writePrivate } from './start/places.ts';
import { consoleLink, ensureDemoToken, ensureSampleModel } from './start/provision.ts';
import { readSecrets, saveSecrets } from './start/secrets.ts';
import { type DevWorker, startBuilt, startWatching, untilHealthy } from './start/worker.ts';

/** `npm run dev`: wrangler dev, which restarts the Worker when a file is saved. */
const WATCH = process.argv.includes('--watch');

/** Set by npm start itself: a value of the environment is for another database. */
const OWN = new Set(['CATALOG_URL', 'DATASOURCE_MAIN']);

/** Lines of wrangler without information: its own request line in addition to the service's, and that it is offline. */
const NOISE = /^\s*$|^host: |^\[wrangler:info\]|Request\.cf|workers\.cloudflare\.com|GetAddrInfoReqWrap/;

/** Log lines of the Worker about settings at its first request, which is sent before it is ready. */
const SETTINGS = /"event":"(setting_refused|setting_warning|misconfigured)"/;

/** Actions to undo at the end, in reverse order. */
const undo: (() => unknown)[] = [];
let ending: Promise<void> | undefined;

function end(code: number): Promise<void> {
  ending ??= (async () => {
    for (const step of undo.splice(0).reverse()) {
      try {
        await step();
      } catch {
        // The other steps must still be taken.
      }
    }
    process.exit(code);
  })();
  return ending;
}

/** The settings for the Worker: all variables of the environment that it reads or may return by get_config, and our own. */
function workerSettings(env: NodeJS.ProcessEnv, own: Record<string, string>): Record<string, string> {
  const allowedNames = new Set((env.ALLOWED_CONFIG_ENVS_IN_API ?? '').split(',').map((name) => name.trim()));
  const given = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !OWN.has(entry[0]) && (isSetting(entry[0]) || (allowedNames.has(entry[0]) && /^[A-Za-z_]\w*$/.test(entry[0]))),
  );
  return { ...own, ...Object.fromEntries(given) };
}

async function checkPort(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(new StartFailure(error.code === 'EADDRINUSE' ? `port ${port} is in use; set PORT to another one` : `port ${port} cannot be used: ${error.code}`)),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  });
}

/** Roles, catalog and the sample's tables. */
async function fill(database: Database, places: Places): Promise<void> {
  const timeout = Number(process.env.STATEMENT_TIMEOUT_MS);
  const left = await database.prepare(Number.isSafeInteger(timeout) && timeout > 0 ? timeout : undefined);
  for (const line of left) console.log(line);
  if (places.sample && !(await worldLoaded((sql) => database.query(sql)))) {
    console.log('Loading the sample graph (250 countries, 135,000 cities) ...');
    await loadWorldTables((sql, params) => database.exec(sql, params)).catch((error: unknown) => {
      throw new StartFailure(`the sample's tables cannot be loaded: ${(error as Error).message} (SAMPLE=none starts without them)`);
    });
  }
}

async function run(): Promise<void> {
  const places = readPlaces(process.env);
  await checkPort(places.port);
  makeStateDir(places.stateDir);
  undo.push(lock(places.stateDir));
  const secrets = readSecrets(places.stateDir);
  console.log(places.databaseUrl ? 'Connecting to the database of DATABASE_URL ...' : 'Starting the embedded PostgreSQL ...');
  const database = await openDatabase(places, secrets);
  undo.push(() => database.close());
  for (const name of OWN) if (process.env[name]) console.error(`${name} of the environment is not used: npm start sets it to its own database`);

  const settings = workerSettings(process.env, {
    ADMIN_TOKEN: secrets.adminToken,
    SESSION_SECRET: secrets.sessionSecret,
    CATALOG_URL: connectionSetting(database, CATALOG_OWNER),
    DATASOURCE_MAIN: connectionSetting(database, READER),
    // the role of a DATABASE_URL may do more than a writer of cached mappings needs
    ...(places.databaseUrl ? {} : { DATASOURCE_MAIN_WRITER: connectionSetting(database, DEVELOPER) }),
  });
  let ready = false;
  console.log('Starting the Worker ...');
  const base = `http://127.0.0.1:${places.port}`;
  const product = settings.PRODUCT_NAME?.trim() || 'svc';
  const started = async (): Promise<DevWorker> => {
    const worker = await (WATCH ? startWatching : startBuilt)({
      port: places.port,
      settings,
      persistDir: `${places.stateDir}/worker`,
      stateDir: places.stateDir,
      onLine: (line) => (ready || process.env.DEBUG || SETTINGS.test(line)) && !NOISE.test(line) && console.log(line),
    });
    undo.push(() => worker.stop());
    await untilHealthy(worker, `${base}/${product}/api/health`);
    return worker;
  };
  const [worker] = await Promise.all([started(), fill(database, places)]);

  const service = { base, product, adminToken: settings.ADMIN_TOKEN! };
  if (places.sample) await ensureSampleModel(service);
  const demoToken = await ensureDemoToken(service, secrets.demoToken, places.sample);
  if (demoToken !== secrets.demoToken) saveSecrets(places.stateDir, { ...secrets, demoToken });
  const session = {
    base_url: base,
    admin_token: service.adminToken,
    demo_token: demoToken,
    database_url: database.url(DEVELOPER),
    sql_endpoint: database.endpoint,
    catalog_url: database.url(CATALOG_OWNER),
    reader_url: database.url(READER),
  };
  writePrivate(places.sessionFile, `${JSON.stringify(session, null, 2)}\n`);
  announce(base, product, demoToken, places.sample, await consoleLink(service, demoToken));
  ready = true;
  watch(worker);
}

function announce(base: string, product: string, demoToken: string, sample: boolean, link: string | undefined): void {
  const key = `-H 'x-api-key: ${demoToken}'`;
  const post = (query: string) =>
    `curl -s ${base}/${product}/api/query/ ${key} -H 'content-type: application/json' -d '${JSON.stringify({ ontology_name: 'world', query }).replaceAll("'", "'\\''")}'`;
  console.log(`READY ${base}\n`);
  // browsers keep the fragment when the link leads on
  if (link !== undefined) console.log(`Console: ${link}${sample ? '#/world/model' : ''}\n(signs you in as demo, once; later: ${base}/)\n`);
  console.log(`Demo token: ${demoToken}\n`);
  console.log(`curl -s ${base}/${product}/api/get_ontologies/ ${key}`);
  if (sample) announceSample(post, product);
  const mcp = `${base}/${product}/api/mcp`;
  console.log(`\nMCP, in Claude Code and in VS Code (more clients: docs/clients.md):\n`);
  console.log(`claude mcp add --transport http ${product} ${mcp} --header 'x-api-key: ${demoToken}'`);
  console.log(`code --add-mcp '${JSON.stringify({ name: product, type: 'http', url: mcp, headers: { 'x-api-key': demoToken } })}'`);
}

function announceSample(post: (query: string) => string, product: string): void {
  const columns = '"borders[country*3].entity_label" AS neighbour, "borders[country*3]_transitivity_level" AS distance';
  console.log(post(`SELECT entity_label, population FROM ${product}.megacity ORDER BY population DESC LIMIT 5`));
  console.log(post(`SELECT ${columns} FROM d${product}.country WHERE name = 'Portugal' ORDER BY distance, neighbour`));
}

/** Ends when the Worker or npm ends: a killed parent process cannot pass Ctrl-C on. */
function watch(worker: DevWorker): void {
  void worker.ended.then(() => {
    if (!ending) console.error('The Worker has ended.');
    void end(1);
  });
}

const parent = process.ppid;
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && void end(1), 1000).unref();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(signal === 'SIGINT' ? 130 : 143));

try {
  await run();
} catch (error) {
  if (!ending) {
    const stack = process.env.DEBUG ? `\n${(error as Error).stack}` : '';
    console.error(`npm start: ${(error as Error).message.split('\n')[0]}${stack}`);
  }
  await end(1);
}
