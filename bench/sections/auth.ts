/** (auth) The cost of a cached credential: the step by itself, and the point query against the same build without the check. */
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { createToken } from '../../src/auth/tokens.ts';
import { buildBenchWorker } from '../lib/build.ts';
import { interleaved, median, ms, quantile, timed, us } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const POINT = "SELECT name, population, country_code FROM svc.city WHERE entity_id = 'city:2761369'";
const ALGORITHMS = ['RS256', 'ES256'] as const;

interface Credentials {
  /** Settings of the tenants, one per algorithm. */
  readonly settings: Record<string, string>;
  /** Headers of a caller of that tenant; each call has another token. */
  readonly make: (alg: (typeof ALGORITHMS)[number]) => Promise<Record<string, string>>;
}

async function credentials(): Promise<Credentials> {
  const settings: Record<string, string> = { ENABLE_TOKEN: 'true' };
  const keys: Record<string, CryptoKey> = {};
  for (const alg of ALGORITHMS) {
    const { publicKey, privateKey } = await generateKeyPair(alg);
    settings[`JWT_${alg}_KEY`] = (await exportSPKI(publicKey)).replaceAll('\n', '\\n');
    settings[`JWT_${alg}_ALGORITHM`] = alg;
    settings[`JWT_${alg}_AUDIENCE`] = 'bench';
    keys[alg] = privateKey as CryptoKey;
  }
  const claims = { email: 'ann', aud: 'bench', sub: '4711', iss: 'https://id.example', realm_access: { roles: ['a', 'b'] }, groups: ['c', 'd'], dept: 'sales' };
  const make: Credentials['make'] = async (alg) => {
    const jwt = new SignJWT({ ...claims, jti: crypto.randomUUID() }).setProtectedHeader({ alg, typ: 'JWT', kid: 'bench' }).setExpirationTime('2h');
    return { 'x-jwt-token': await jwt.sign(keys[alg] as CryptoKey), 'x-jwt-tenant-id': alg };
  };
  return { settings, make };
}

export async function run(): Promise<void> {
  const given = await credentials();
  await stepAlone(given);
  await pointQuery(given);
}

async function stepAlone({ settings, make }: Credentials): Promise<void> {
  const running = await startScripts({ auth: { script: await buildBenchWorker('auth'), bindings: settings } });
  try {
    const n = 50;
    const rounds = 40;
    const warmUp = 10;
    const one = async (headers: Record<string, string>, times: number) => timed(() => post(running.urls.auth as string, { headers: [headers], n: times }));
    const token = { 'x-api-key': createToken() };
    const known = await make('RS256');
    /** Tokens that were not sent before: those of a round, `times` 0 or 1. */
    const fresh = (alg: (typeof ALGORITHMS)[number], times: number) => async () => {
      const headers = await Promise.all(Array.from({ length: n }, () => make(alg)));
      return timed(() => post(running.urls.auth as string, { headers, n: times }));
    };
    const took = await interleaved(
      {
        nothing: () => one(token, 0),
        token: () => one(token, n * 10),
        known: () => one(known, n * 10),
        unread: fresh('RS256', 0),
        RS256: fresh('RS256', 1),
        ES256: fresh('ES256', 1),
      },
      rounds,
      warmUp,
    );
    const each = (samples: readonly number[], without: readonly number[], times: number): string => us(Math.max(0, median(samples) - median(without)) / times);
    table(
      '(auth) checking a credential, workerd',
      ['API token', 'cached JWT', 'new JWT, RS256', 'new JWT, ES256'],
      [[each(took.token, took.nothing, n * 10), each(took.known, took.nothing, n * 10), each(took.RS256, took.unread, n), each(took.ES256, took.unread, n)]],
    );
  } finally {
    await running.stop();
  }
}

async function pointQuery({ settings, make }: Credentials): Promise<void> {
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  const all = { ...bindings, ...settings };
  const running = await startScripts({
    service: { script: await buildBenchWorker('whole'), bindings: all, more: SERVICE_BINDINGS },
    open: { script: await buildBenchWorker('open', { 'auth/authenticate.ts': 'no-auth.ts' }), bindings: all, more: SERVICE_BINDINGS },
  });
  try {
    const service = running.urls.service as string;
    const open = running.urls.open as string;
    await loadModel(service, adminToken);
    const as = async (sql: string): Promise<Record<string, unknown>> =>
      JSON.parse(String(await post(`${service}/svc/api/query/`, { ontology_name: '', query: sql }, { 'x-api-key': adminToken }))).data[0];
    await as('CREATE USER ann');
    await as('GRANT QUERY ON ALL ontology.world TO USER ann');
    const token = { 'x-api-key': String((await as('CREATE TOKEN FOR ann')).token) };
    const ask = (base: string, headers: Record<string, string>) => () => post(`${base}/svc/api/query/`, { ontology_name: 'world', query: POINT }, headers);
    const known = await make('RS256');
    const next = async () => timed(ask(service, fresh.pop() ?? {}));
    const variants = { open: ask(open, token), token: ask(service, token), known: ask(service, known) };
    const answers = await Promise.all(Object.values(variants).map(async (send) => String(await send())));
    if (new Set(answers).size !== 1 || JSON.parse(answers[0] as string).data.length !== 1) throw new Error(`the answers differ: ${answers.join(' ')}`);
    const [rounds, warmUp] = [1500, 200];
    const fresh = await Promise.all(Array.from({ length: rounds + warmUp }, () => make('RS256')));
    const took = await interleaved(
      { open: () => timed(variants.open), token: () => timed(variants.token), known: () => timed(variants.known), fresh: next },
      rounds,
      warmUp,
    );
    const row = (name: string, samples: readonly number[]): string[] => [
      name,
      ms(median(samples)),
      `${(median(samples) - median(took.open)).toFixed(2)} ms`,
      `${(quantile(samples, 0.95) - quantile(took.open, 0.95)).toFixed(2)} ms`,
    ];
    aim('auth', 'an API token in a request', median(took.token) - median(took.open), { most: 0.15 }, 'ms');
    aim('auth', 'a cached JWT in a request', median(took.known) - median(took.open), { most: 0.3 }, 'ms');
    table(
      `(auth) point query by credential, ${database.name}`,
      ['credential', 'p50', 'more, p50', 'more, p95'],
      [row('no check', took.open), row('API token', took.token), row('cached JWT', took.known), row('new JWT each time, RS256', took.fresh)],
    );
    note(
      'One request after the other on a kept-alive connection. "No check": the same build, except that the caller of its first request is used for all. Aims: 0.15 ms for API tokens, 0.3 ms for JWTs, p50.',
    );
  } finally {
    await running.stop();
  }
}
