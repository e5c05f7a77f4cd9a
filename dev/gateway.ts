// `npm run gateway`: the SQL-over-HTTP endpoint for a PostgreSQL that is not on Neon. docs/gateway.md
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import pg from 'pg';
import type { Backend } from './sql/backend.ts';
import { type Caller, LoginQueue } from './sql/login-queue.ts';
import { Metrics, type PoolState } from './sql/metrics.ts';
import { PgBackend } from './sql/pg-backend.ts';
import { type Login, RequestFault } from './sql/protocol.ts';
import { TimeLimit } from './sql/time-limit.ts';
import { LOOPBACK, sameSecret, startSqlServer } from './sql-server.ts';

/** The delay of the answer to a wrong password, and the number of simultaneous checks: they make guessing slow. */
const REFUSAL_MS = 500;
const CHECKS = 4;
/** After this time a password that PostgreSQL has accepted is checked again. */
const TRUST_MS = 60_000;

/** The time limit of a check: for its connection, for its query, and for its end. */
const CHECK_MS = 10_000;

/** The settings of `npm run gateway`. */
export interface GatewaySettings {
  /** The database; user and password in the URL are ignored. */
  target: URL;
  /** The roles that may log in. PostgreSQL has their passwords. */
  users: ReadonlySet<string>;
  host: string;
  port: number;
  tls: { cert: string; key: string } | undefined;
  poolSize: number;
  holdBytes: number;
  /** The port of `GET /metrics` on the loopback interface; undefined: there are no metrics. */
  metricsPort: number | undefined;
}

/** Reads the environment. Throws Error with one line for the operator. */
export function readGatewaySettings(env: NodeJS.ProcessEnv): GatewaySettings {
  const address = env.GATEWAY_DATABASE_URL?.trim() ?? '';
  if (!/^postgres(ql)?:\/\/.+\/.+/.test(address) || !URL.canParse(address))
    throw new Error('set GATEWAY_DATABASE_URL to postgresql://host:port/database, with ?sslmode=verify-full if it is not on this machine');
  const users = new Set((env.GATEWAY_USERS ?? '').split(',').map((u) => u.trim()));
  users.delete('');
  if (!users.size) throw new Error('set GATEWAY_USERS to the roles that may log in, such as kg_catalog_owner,kg_reader');
  const { GATEWAY_TLS_CERT: cert, GATEWAY_TLS_KEY: key } = env;
  if (!cert !== !key) throw new Error('GATEWAY_TLS_CERT and GATEWAY_TLS_KEY must be set together: files in PEM form');
  const host = env.GATEWAY_HOST?.trim() || '127.0.0.1';
  if (!cert && host !== '127.0.0.1' && host !== '::1')
    throw new Error(`without GATEWAY_TLS_CERT and GATEWAY_TLS_KEY the gateway listens on 127.0.0.1 only, not on ${host}`);
  return {
    target: new URL(address),
    users,
    host,
    port: wholeNumber(env, 'GATEWAY_PORT', 8789, 65_535),
    tls: cert && key ? { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') } : undefined,
    poolSize: wholeNumber(env, 'GATEWAY_POOL_SIZE', 10, 1000),
    holdBytes: wholeNumber(env, 'GATEWAY_HOLD_BYTES', 1024 * 1024, 2 ** 30),
    metricsPort: env.GATEWAY_METRICS_PORT?.trim() ? wholeNumber(env, 'GATEWAY_METRICS_PORT', 0, 65_535) : undefined,
  };
}

function wholeNumber(env: NodeJS.ProcessEnv, name: string, fallback: number, most: number): number {
  const value = env[name]?.trim() || String(fallback);
  if (!/^\d{1,10}$/.test(value) || Number(value) < 1 || Number(value) > most) throw new Error(`${name} must be a whole number from 1 to ${most}`);
  return Number(value);
}

/** A password that PostgreSQL has accepted. `again`: the check that runs after the time has passed. */
interface Trusted {
  readonly password: string;
  readonly until: number;
  again?: Promise<boolean> | undefined;
}

const isFresh = (trusted: Trusted | undefined): boolean => trusted !== undefined && trusted.until > Date.now();

/**
 * A back end that accepts the listed users with the password that PostgreSQL itself accepts. It refuses superusers, because they can
 * read the server's files.
 */
export class GatewayBackend implements Backend {
  #settings: GatewaySettings;
  #metrics: Metrics | undefined;
  #backend: PgBackend;
  /** The password that PostgreSQL accepted last, by user. */
  #trusted = new Map<string, Trusted>();
  #checks = new LoginQueue(CHECKS);
  #checkMs: number;

  /** @param checkMs the time limit for the steps of the check of a password */
  constructor(settings: GatewaySettings, metrics?: Metrics, checkMs = CHECK_MS) {
    this.#settings = settings;
    this.#checkMs = checkMs;
    this.#metrics = metrics;
    const onUnreachable = (error: unknown) => logUnreachable(settings.target, error);
    this.#backend = new PgBackend((login) => this.#config(login), { max: settings.poolSize, metrics, onUnreachable });
  }

  /** The connections of each role. */
  pools(): PoolState[] {
    return this.#backend.pools();
  }

  async accepts(login: Login, caller: Caller): Promise<boolean> {
    const { target, users } = this.#settings;
    if (!login.password || !users.has(login.user) || login.database !== decodeURIComponent(target.pathname.slice(1))) return refuse();
    const trusted = this.#trustedAs(login);
    // in its turn, another request may have brought the same password
    if (trusted === undefined) return this.#checks.run(caller, async () => isFresh(this.#trustedAs(login)) || (await this.#check(login)));
    if (isFresh(trusted)) return true;
    // not after the guesses of others, which may be many
    trusted.again ??= this.#check(login).finally(() => {
      trusted.again = undefined;
    });
    return trusted.again;
  }

  /** What PostgreSQL has accepted of this user, if it is this password. */
  #trustedAs({ user, password }: Login): Trusted | undefined {
    const trusted = this.#trusted.get(user);
    return trusted !== undefined && sameSecret(trusted.password, password) ? trusted : undefined;
  }

  run(...args: Parameters<Backend['run']>): ReturnType<Backend['run']> {
    return this.#backend.run(...args);
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  #config(login: Login): pg.ClientConfig {
    const target = new URL(this.#settings.target);
    target.username = encodeURIComponent(login.user);
    target.password = encodeURIComponent(login.password);
    return { connectionString: target.href };
  }

  async #check(login: Login): Promise<boolean> {
    const client = new pg.Client({ ...this.#config(login), connectionTimeoutMillis: this.#checkMs, query_timeout: this.#checkMs });
    const limit = new TimeLimit(client, this.#checkMs);
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ rolsuper: boolean }>('SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user');
      if (rows[0]?.rolsuper !== false) {
        console.error(`gateway: ${login.user} is a superuser and is refused`);
        return await refuse();
      }
      this.#trusted.set(login.user, { password: login.password, until: Date.now() + TRUST_MS });
      return true;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === '28P01' || code === '28000') return await refuse();
      this.#metrics?.unreachable();
      logUnreachable(this.#settings.target, error);
      throw new RequestFault(500, 'the database cannot be reached', '08006');
    } finally {
      limit.begin();
      await client.end().catch(() => undefined);
      limit.clear();
    }
  }
}

const refuse = (): Promise<boolean> => new Promise((resolve) => setTimeout(resolve, REFUSAL_MS, false));

/** One line of the log for this time, however many requests fail. */
const QUIET_MS = 5000;
let loggedAt = Number.NEGATIVE_INFINITY;

function logUnreachable(target: URL, error: unknown): void {
  if (performance.now() - loggedAt < QUIET_MS) return;
  loggedAt = performance.now();
  const { code, message } = error as { code?: string; message?: string };
  console.error(`gateway: the database ${target.host}${target.pathname} cannot be reached: ${code ?? message?.split('\n')[0]}`);
}

/** Opens and closes a TCP connection to the database, to log at the start that it cannot be reached. A socket in the file system is not tried. */
async function tryToReach(target: URL): Promise<void> {
  if (target.hostname === '') return;
  const socket = connect({ host: target.hostname.replace(/^\[|\]$/g, ''), port: Number(target.port || 5432), timeout: 5000 });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
      socket.once('timeout', () => reject(new Error('no answer within 5 s')));
    });
  } catch (error) {
    logUnreachable(target, error);
  } finally {
    socket.destroy();
  }
}

/** Serves `GET /metrics` on the loopback interface. @returns the address */
async function serveMetrics(port: number, text: () => string): Promise<string> {
  const server = createServer((request, response) => {
    const here = LOOPBACK.test(request.headers.host ?? '');
    const found = request.method === 'GET' && request.url === '/metrics';
    response.writeHead(!here ? 421 : found ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(!here ? 'the metrics are for the loopback interface only\n' : found ? text() : 'only GET /metrics exists\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.unref();
  return `http://127.0.0.1:${port}/metrics`;
}

/** How long running requests may continue after SIGTERM. */
const GRACE_MS = 10_000;

async function main(): Promise<void> {
  const settings = readGatewaySettings(process.env);
  const { host, port, tls, holdBytes, metricsPort } = settings;
  const metrics = new Metrics();
  const backend = new GatewayBackend(settings, metrics);
  const server = await startSqlServer({ backend, host, port, limits: { holdBytes }, metrics, ...(tls ? { tls } : {}) });
  console.log(`gateway: ${server.endpoint} for ${settings.target.host}${settings.target.pathname}, users ${[...settings.users].join(', ')}`);
  if (metricsPort !== undefined) console.log(`gateway: metrics at ${await serveMetrics(metricsPort, () => metrics.text(backend.pools()))}`);
  const end = (why: string) => {
    console.log(`gateway: ${why}, ends after the requests that run`);
    void server.close(GRACE_MS).then(() => process.exit(0));
    // a second signal, or a database that does not answer
    setTimeout(() => process.exit(1), 2 * GRACE_MS).unref();
    for (const again of SIGNALS) process.on(again, () => process.exit(1));
  };
  for (const signal of SIGNALS) process.once(signal, end);
  // npm sends a signal to the shell between, which does not pass it on
  if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(() => end('npm has ended'));
  await tryToReach(settings.target);
}

/** Calls back when the process that started this one has ended. */
function whenOrphaned(then: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    then();
  }, 200);
  timer.unref();
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

if (import.meta.main) {
  await main().catch((error: unknown) => {
    console.error(`gateway: ${(error as Error).message}`);
    process.exitCode = 1;
  });
}
