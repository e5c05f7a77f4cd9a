// `npm run gateway`: the SQL-over-HTTP endpoint for a PostgreSQL that is not on Neon. docs/gateway.md
import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Backend } from './sql/backend.ts';
import { PgBackend } from './sql/pg-backend.ts';
import { type Login, RequestFault } from './sql/protocol.ts';
import { sameSecret, startSqlServer } from './sql-server.ts';

/** The delay of the answer to a wrong password, and the number of simultaneous checks: they make guessing slow. */
const REFUSAL_MS = 500;
const CHECKS = 4;
/** After this time a password that PostgreSQL has accepted is checked again. */
const TRUST_MS = 60_000;

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
  };
}

function wholeNumber(env: NodeJS.ProcessEnv, name: string, fallback: number, most: number): number {
  const value = env[name]?.trim() || String(fallback);
  if (!/^\d{1,10}$/.test(value) || Number(value) < 1 || Number(value) > most) throw new Error(`${name} must be a whole number from 1 to ${most}`);
  return Number(value);
}

/**
 * A back end that accepts the listed users with the password that PostgreSQL itself accepts. It refuses superusers, because they can
 * read the server's files.
 */
export class GatewayBackend implements Backend {
  #settings: GatewaySettings;
  #backend: PgBackend;
  /** The password that PostgreSQL accepted last, by user. `again`: the check that runs after the time has passed. */
  #trusted = new Map<string, { password: string; until: number; again?: Promise<boolean> | undefined }>();
  #free = CHECKS;
  /** Logins that wait for a check. The last one is checked first, so that a new login does not wait for all the guesses that came before it. */
  #waiting: (() => void)[] = [];

  constructor(settings: GatewaySettings) {
    this.#settings = settings;
    this.#backend = new PgBackend((login) => this.#config(login), { max: settings.poolSize });
  }

  async accepts(login: Login): Promise<boolean> {
    const { target, users } = this.#settings;
    if (!login.password || !users.has(login.user) || login.database !== decodeURIComponent(target.pathname.slice(1))) return refuse();
    const trusted = this.#trusted.get(login.user);
    if (trusted && sameSecret(trusted.password, login.password)) {
      if (trusted.until > Date.now()) return true;
      // not after the guesses of others, which may be many
      trusted.again ??= this.#check(login).finally(() => {
        trusted.again = undefined;
      });
      return trusted.again;
    }
    return this.#inTurn(() => this.#check(login));
  }

  async #inTurn<T>(check: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await check();
    } finally {
      const next = this.#waiting.pop();
      if (next === undefined) this.#free++;
      else next();
    }
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
    const client = new pg.Client({ ...this.#config(login), connectionTimeoutMillis: 10_000 });
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
      const { code, message } = error as { code?: string; message?: string };
      if (code === '28P01' || code === '28000') return await refuse();
      console.error(`gateway: the database cannot be reached: ${code ?? message?.split('\n')[0]}`);
      throw new RequestFault(500, 'the database cannot be reached', '08006');
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

const refuse = (): Promise<boolean> => new Promise((resolve) => setTimeout(resolve, REFUSAL_MS, false));

async function main(): Promise<void> {
  const settings = readGatewaySettings(process.env);
  const { host, port, tls, holdBytes } = settings;
  const server = await startSqlServer({ backend: new GatewayBackend(settings), host, port, limits: { holdBytes }, ...(tls ? { tls } : {}) });
  console.log(`gateway: ${server.endpoint} for ${settings.target.host}${settings.target.pathname}, users ${[...settings.users].join(', ')}`);
  const end = () => void server.close().then(() => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    console.error(`gateway: ${(error as Error).message}`);
    process.exitCode = 1;
  });
}
