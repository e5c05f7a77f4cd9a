/**
 * Cached rights: one isolate changes rights and the model, another one with warm caches answers. After 61 seconds it
 * must answer like an isolate without caches, after any changes. The sequences of changes are random (SEED, DEEP).
 */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { parseConnection } from '../../src/config.ts';
import { goesOn } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { inVariable, jws, rsa, spki } from '../unit/auth/by-hand.ts';

const SIZES = sizesOf('attacks/isolates');
const parser = await loadNodeParser();

const ROUNDS = Number(process.env.ROUNDS ?? SIZES.rounds);
const realm = rsa();
const ENV = { JWT_DEFAULT_KEY: inVariable(spki(realm)), ENABLE_TOKEN: 'true', RESULT_CACHE_TTL: '300' };

const clock = { ahead: 0 };
const now = (): number => Date.now() + clock.ahead;
const namespace = memoryNamespace();

type Headers = Readonly<Record<string, string>>;
/** Answers one request: status and text, without the parts that differ from request to request. */
type Isolate = (path: string, headers: Headers, body?: string) => Promise<string>;

let service: TestService;
const callers: Record<string, () => Headers> = {};
const tokens: Record<string, string> = {};

/** What an isolate is made of. The bundle is one file, so that a copy of it has its own memory, also that of modules that are loaded on demand. */
const ENTRY = `
export { ByteStore } from './src/cache.ts';
export { createApp } from './src/http/app.ts';
export { neonDb } from './src/catalog/db.ts';
export { keyValues } from './src/catalog/kv.ts';
export { readConfig } from './src/config.ts';
export { memoryStatements } from './test/support/async-memory.ts';
`;

let folder: string;
let isolates = 0;

async function bundled(): Promise<void> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  // inside the repository, where the packages are found
  folder = await mkdtemp(join(root, 'dist/isolates-'));
  const outfile = join(folder, 'service.mjs');
  await build({
    stdin: { contents: ENTRY, resolveDir: root },
    bundle: true,
    splitting: false,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outfile,
    logLevel: 'silent',
  });
}

/** The modules of the service once more, with their own memory. `cold`: caches nothing and has its own KV namespace. */
async function isolate(cold = false): Promise<Isolate> {
  isolates++;
  const own = join(folder, `isolate-${isolates}.mjs`);
  await copyFile(join(folder, 'service.mjs'), own);
  const { ByteStore, createApp, neonDb, keyValues, readConfig, memoryStatements } = await import(/* @vite-ignore */ pathToFileURL(own).href);
  if (cold) ByteStore.prototype.get = () => undefined;
  const config = readConfig({
    CATALOG_URL: service.database.secret(CATALOG_OWNER),
    DATASOURCE_MAIN: service.database.secret(READER),
    ADMIN_TOKEN: service.token,
    ...ENV,
  });
  // biome-ignore lint/suspicious/noExplicitAny: a runtime of modules that were imported again
  const runtime: any = {
    config,
    db: neonDb(parseConnection(service.database.secret(CATALOG_OWNER), 'CATALOG_URL')),
    parser,
    now,
    waitUntil: (work: Promise<unknown>) => void work.catch(() => undefined),
    log: () => undefined,
    asyncStatements: memoryStatements(() => runtime),
    kv: keyValues(cold ? memoryNamespace() : namespace, { scope: 'test', secret: 'test' }),
  };
  const app = createApp('svc', '0.1.0');
  return async (path, headers, body) => {
    const response = await app.fetch(
      new Request(`http://127.0.0.1${path}`, {
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { method: 'POST', body }),
      }),
      { runtime },
    );
    const text = await response.text();
    const version = response.headers.get('x-ontology-version');
    return `${response.status} ${version ?? ''} ${response.headers.get('etag') ?? ''} ${text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')}`;
  };
}

const MODEL = `CREATE ONTOLOGY shop;
CREATE MEASURE many bigint AS SELECT COUNT(id);
CREATE PROPERTY shout string AS SELECT upper(name);
CREATE CONCEPT city (id bigint, name string, shout string, many MEASURE bigint, PRIMARY KEY (id));
CREATE CONCEPT person (pid bigint, full_name string, city_id bigint, PRIMARY KEY (pid), CONSTRAINT lives_in FOREIGN KEY (city_id) REFERENCES city (id) INVERSEOF home_of);
CREATE CONCEPT northern INHERITS (city) FROM svc.city WHERE id > 1;
CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city;
CREATE MAPPING p INTO (person) AS SELECT pid, full_name, city_id FROM shop.t_person;
CREATE ONTOLOGY VIEW names AS SELECT name, id FROM svc.city;
CREATE ONTOLOGY CUBE cities AS SELECT name, COUNT(id) AS n FROM svc.city`;

/** Statements of the callers. */
const QUERIES = [
  'SELECT id, name, shout FROM svc.city ORDER BY id',
  'SELECT full_name, "lives_in[city].name" AS c FROM dsvc.person ORDER BY pid',
  'SELECT name FROM vsvc.names ORDER BY name',
  'SELECT SUM("measure.many") AS n FROM dsvc.city',
  'SELECT id FROM svc.northern',
  'SELECT name, SUM(n) AS n FROM vsvc.cities GROUP BY name ORDER BY name',
  'SELECT shop.twice(id) AS d FROM svc.city ORDER BY id',
  'SELECT count(*) AS n FROM shop.t_city',
  'DESCRIBE CONCEPT city',
  'SHOW CONCEPTS',
  'SELECT concept FROM svc.SYS_CONCEPTS ORDER BY concept',
  'SELECT ontology FROM svc.SYS_ONTOLOGIES ORDER BY ontology',
  'EXPLAIN SELECT name FROM svc.city',
  'SELECT * FROM svc.SYS_GRANTS',
  'SELECT * FROM svc.SYS_POLICIES',
  'SELECT * FROM svc.SYS_USERS',
  'SHOW CREATE CONCEPT city',
];
const PATHS = ['/svc/api/q/shop/concept/city?_order_=id', '/svc/api/openapi/shop.json'];

/** Changes of an administrator: statements to choose from at random. */
const CHANGES: readonly (readonly [ontology: string, ...statements: string[]])[] = [
  ['', 'GRANT QUERY ON ALL ontology.shop TO USER ann', 'REVOKE QUERY ON ALL ontology.shop FROM USER ann'],
  [
    '',
    'REVOKE QUERY ON ALL ontology.shop FROM USER bea',
    'GRANT QUERY ON ontology.shop.concept.city TO USER bea',
    'REVOKE QUERY ON ontology.shop.concept.city FROM USER bea',
    'GRANT QUERY ON ALL ontology.shop TO USER bea',
  ],
  ['', 'GRANT QUERY ON ALL ontology.shop TO ROLE staff', 'REVOKE QUERY ON ALL ontology.shop FROM ROLE staff'],
  ['', 'GRANT ACCESS ON ALL ontology.shop TO ROLE staff', 'REVOKE ACCESS ON ALL ontology.shop FROM ROLE staff'],
  ['', 'GRANT ROLE staff TO USER cyd', 'REVOKE ROLE staff FROM USER cyd'],
  ['', 'GRANT QUERY ON datasource.main TO USER ann', 'REVOKE QUERY ON datasource.main FROM USER ann'],
  ['', "ALTER USER ann SET ACTIVE = 'false'", "ALTER USER ann SET ACTIVE = 'true'"],
  ['', 'GRANT ROLE admin TO USER bea', 'REVOKE ROLE admin FROM USER bea'],
  ['', 'REVOKE AUTH ON user.ann FROM USER cyd', 'GRANT AUTH ON user.ann TO USER cyd'],
  ['', 'DROP ROLE staff', 'CREATE ROLE staff'],
  ['shop', "CREATE POLICY one ON CONCEPT city TO PUBLIC USING (name = 'Lyon')", 'DROP POLICY one'],
  ['shop', 'CREATE POLICY two ON CONCEPT city TO ROLE staff USING (id = 1)', 'DROP POLICY two'],
  ['shop', "CREATE POLICY tri ON CONCEPT person TO PUBLIC USING (svc_has_role('staff'))", 'DROP POLICY tri'],
  ['shop', 'CREATE POLICY veil ON PROPERTY name MASK FULL', 'DROP POLICY veil'],
  ['shop', "ALTER ONTOLOGY shop SET allowed_functions = 'shop.twice'", "ALTER ONTOLOGY shop SET allowed_functions = ''"],
  ['shop', 'CREATE OR REPLACE PROPERTY shout string AS SELECT lower(name)', 'CREATE OR REPLACE PROPERTY shout string AS SELECT upper(name)'],
  [
    'shop',
    'CREATE OR REPLACE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city WHERE id > 1',
    'CREATE OR REPLACE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city',
  ],
  ['shop', 'DROP VIEW names', 'CREATE ONTOLOGY VIEW names AS SELECT name, id FROM svc.city'],
];

beforeAll(async () => {
  await bundled();
  service = await startService({ settings: ENV, parts: { now, kv: undefined } });
  const { exec } = service.database;
  for (const sql of [
    'CREATE SCHEMA shop',
    'CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)',
    "INSERT INTO shop.t_city VALUES (1, 'Berlin'), (2, 'Lyon'), (3, 'Oslo')",
    'CREATE TABLE shop.t_person (pid bigint PRIMARY KEY, full_name text, city_id bigint)',
    "INSERT INTO shop.t_person VALUES (1, 'Ada', 1), (2, 'Bob', 2)",
    "CREATE FUNCTION shop.twice(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'",
    'GRANT EXECUTE ON FUNCTION shop.twice(bigint) TO PUBLIC',
  ])
    await exec(sql);
  await service.rows(MODEL, 'shop');
  await service.rows('CREATE ROLE staff');
  for (const user of ['ann', 'bea', 'cyd']) {
    tokens[user] = String((await service.rows(`CREATE USER ${user}; CREATE TOKEN FOR ${user}`))[0]?.token);
    callers[user] = () => ({ 'x-api-key': tokens[user] as string });
  }
  await service.rows("ALTER USER ann SET EMAIL = 'ann@corp.example'");
  // refusals take time, so most callers see something
  for (const user of ['ann', 'bea', 'cyd']) await service.rows(`GRANT ACCESS ON ALL ontology.shop TO USER ${user}`);
  await service.rows('GRANT QUERY ON ALL ontology.shop TO USER bea; GRANT ROLE staff TO USER ann; GRANT AUTH ON user.ann TO USER cyd');
  callers.annByJwt = () => {
    const claims = { email: 'ann@corp.example', exp: Math.floor(now() / 1000) + 600 };
    return { 'x-jwt-token': jws({ alg: 'RS256' }, claims, realm) };
  };
  callers.cydAsAnn = () => ({ ...callers.cyd?.(), 'x-api-impersonate-user': 'ann' });
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

it('an isolate with warm caches answers like a cold one after 61 seconds', { timeout: patience(120_000) }, async () => {
  let state = SEED;
  const below = (n: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * n);
  };
  const warm = await isolate();
  const writer = await isolate();
  const cold = await isolate(true);
  const all = Object.keys(callers).flatMap((who) => [
    ...QUERIES.map((sql) => ({ who, name: sql, path: '/svc/api/query', body: JSON.stringify({ ontology_name: 'shop', query: sql }) })),
    ...PATHS.map((path) => ({ who, name: path, path, body: undefined })),
  ]);
  const probes = oneIn(SIZES.everyProbe, all, 0);
  const answers = async (ask: Isolate): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const { who, name, path, body } of probes) {
      // a cold isolate writes the JSON of rows in another form until it has an answer of the datasource; EXPLAIN shows the form
      found[`${who}: ${name}`] = (await ask(path, callers[who]?.() as Headers, body)).replace(/"PLAN":.*AS \\+"row\\+"/, '"SQL":"');
    }
    return found;
  };
  const next = CHANGES.map(() => 0);
  let changed = 0;
  // the changes do change answers
  const least = (ROUNDS * 5) / SIZES.everyProbe;
  for (let round = 0; goesOn(round, ROUNDS, () => changed > least); round++) {
    const before = await answers(warm);
    const done: string[] = [];
    for (let i = below(4); i >= 0; i--) {
      const at = below(CHANGES.length);
      const [ontology, ...statements] = CHANGES[at] as readonly [string, ...string[]];
      const sql = statements[next[at] as number] as string;
      const answer = await writer('/svc/api/query', { 'x-api-key': service.token }, JSON.stringify({ ontology_name: ontology, query: sql }));
      done.push(`${sql}: ${answer.slice(0, 200)}`);
      if (answer.startsWith('200')) next[at] = ((next[at] as number) + 1) % statements.length;
      // a statement that is not valid would never change anything
      else expect(answer).not.toContain('syntax_error');
      if (process.env.SHOW && !answer.startsWith('200')) console.error(sql, answer);
      // the warm isolate is queried in between, so that it caches intermediate states
      if (below(2) === 0) await answers(warm);
      clock.ahead += below(20_000);
    }
    clock.ahead += 61_000;
    const after = await answers(warm);
    const expected = await answers(cold);
    expect({ seed: SEED, round, done, after }).toEqual({ seed: SEED, round, done, after: expected });
    changed += Object.keys(before).filter((k) => before[k] !== after[k]).length;
  }
  expect(changed).toBeGreaterThan(least);
});
