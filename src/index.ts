/** Worker entry: requests, the hourly housekeeping, and the Durable Object classes. */
import type { Hono } from 'hono';
import { glue } from '../dist/parser/glue.js';
import grammar from '../dist/parser/libpg-query.wasm';
import { version } from '../package.json';
import { AsyncObject, asyncStatements } from './async/object.ts';
import { reportSettings } from './auth/settings.ts';
import { loginAttempts } from './auth/throttle-object.ts';
import { neonDb, noDb } from './catalog/db.ts';
import { keyValues, type Owner } from './catalog/kv.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { parseConnectionString } from './connection.ts';
import { createApp } from './http/app.ts';
import type { AppEnv } from './http/context.ts';
import { pointOf } from './http/log.ts';
import { JobObject, jobObjects } from './jobs/object.ts';
import { createParser } from './language/parser.ts';
import { languageModels } from './llm/models.ts';
import type { AiBinding } from './llm/providers/open.ts';
import { remarksOnModel } from './llm/providers/settings.ts';
import type { LanguageModels } from './llm/types.ts';
import { mcpMounts } from './mcp/mounts.ts';
import { McpObject, mcpPrincipals } from './mcp/object.ts';
import { oauthStores } from './oauth/store-object.ts';
import type { OAuth } from './oauth/types.ts';
import { type Runtime, scheduled } from './service.ts';
import { spansOf } from './timing.ts';

/** The WebAssembly module is instantiated by the first statement. */
const parser = createParser(grammar, glue);

interface Prepared {
  readonly config: Config;
  readonly app: Hono<AppEnv>;
  readonly llm: LanguageModels | undefined;
  readonly owner: Owner;
}

const prepared = new WeakMap<object, Prepared>();

/** Returns configuration, routes and language model of an environment; created once per isolate. @throws ConfigError */
function prepare(env: Env): Prepared {
  const known = prepared.get(env);
  if (known !== undefined) return known;
  const config = readConfig({ ...env });
  const mounts = env.MCP_PRINCIPAL === undefined ? [] : mcpMounts(config.product, version, mcpPrincipals(env.MCP_PRINCIPAL, config.locationHint));
  const made = {
    config,
    app: createApp(config.product, version, mounts),
    llm: languageModels(config.llm, { log, ai: workersAi(env) }),
    owner: ownerOf(config),
  };
  prepared.set(env, made);
  return made;
}

const log = (line: Readonly<Record<string, unknown>>): void => console.log(JSON.stringify(line));

/** Writes a line after the answer has been sent, so that the caller does not wait for it. */
const logLater = (line: Readonly<Record<string, unknown>>): Promise<void> => scheduler.wait(0).then(() => log(line));

/** The context of an invocation. Durable Objects have no tracing. */
type Context = Pick<ExecutionContext, 'waitUntil'> & { readonly tracing?: Pick<Tracing, 'startSpan'> };

const runtime = ({ config, llm, owner }: Prepared, env: Env, context: Context): Runtime => ({
  config,
  db: config.catalog === null ? noDb : neonDb(config.catalog),
  parser,
  now: Date.now,
  waitUntil: (work) => context.waitUntil(work),
  log: (line) => context.waitUntil(logLater(line)),
  asyncStatements: env.ASYNC_STATEMENT === undefined ? undefined : asyncStatements(env.ASYNC_STATEMENT, config.locationHint),
  jobs: env.JOB === undefined ? undefined : jobObjects(env.JOB, config.locationHint),
  admit: admission(env),
  attempts: env.LOGIN_THROTTLE === undefined ? undefined : loginAttempts(env.LOGIN_THROTTLE, config.locationHint),
  oauth: env.OAUTH_STORE === undefined ? undefined : oauthOf(env.OAUTH_STORE, config),
  pause: (ms) => scheduler.wait(ms),
  llm,
  span: spans(context),
  measured: measurements(env),
  kv: env.CACHE === undefined ? undefined : keyValues(env.CACHE, owner),
});

/** Spans of the parts of a request, if the runtime has them (docs/operating.md#traces). */
const spans = ({ tracing }: Context): Runtime['span'] => (tracing?.startSpan === undefined ? undefined : spansOf((name) => tracing.startSpan(name)));

/** Analytics Engine, if the binding exists (docs/operating.md#the-worker). */
function measurements({ METRICS }: Env & { readonly METRICS?: AnalyticsEngineDataset }): Runtime['measured'] {
  return METRICS === undefined ? undefined : (line) => METRICS.writeDataPoint(pointOf(line));
}

/** The authorization servers, whose code is loaded with the first one. */
const oauthOf = (namespace: NonNullable<Env['OAUTH_STORE']>, { locationHint }: Config): OAuth => ({
  at: async (place, parts) => (await import('./oauth/server.ts')).oauthServers(oauthStores(namespace, locationHint)).at(place, parts),
});

/** The owner of KV entries. The catalog identifies the service, and its password is a secret that all isolates of the service know. */
function ownerOf({ catalog }: Config): Owner {
  if (catalog === null) return { scope: '', secret: '' };
  const { username, host, pathname } = parseConnectionString(catalog.url);
  return { scope: `${username}@${host}${pathname} ${catalog.endpoint ?? ''}`, secret: catalog.url };
}

/** Cloudflare's rate limit, if the binding exists (docs/deploy.md). */
function admission({ RATE_LIMIT }: Env & { readonly RATE_LIMIT?: RateLimit }): Runtime['admit'] {
  return RATE_LIMIT === undefined ? undefined : async (key) => (await RATE_LIMIT.limit({ key })).success;
}

/** Workers AI, if the binding exists (docs/ai.md). */
const workersAi = ({ AI }: Env & { readonly AI?: AiBinding }): AiBinding | undefined => AI;

/** The answer if a setting is invalid. The log names the variable; the answer does not. */
function misconfigured(error: unknown, request_id: string): Response {
  log({
    level: 'error',
    request_id,
    event: 'misconfigured',
    ...(error instanceof ConfigError ? { variable: error.variable, message: error.message } : { message: String(error) }),
  });
  const body = { status: 'error', data: 'The service is not configured correctly', code: 'misconfigured', hint: 'The log names the setting', request_id };
  return Response.json(body, { status: 500, headers: { 'x-request-id': request_id, 'cache-control': 'private, no-store' } });
}

export default {
  async fetch(request, env, context) {
    let ready: Prepared;
    const isFirst = !prepared.has(env);
    try {
      ready = prepare(env);
    } catch (error) {
      return misconfigured(error, crypto.randomUUID());
    }
    if (isFirst) context.waitUntil(reportSettings(ready.config, log, remarksOnModel(ready.config.llm, workersAi(env) !== undefined)));
    return ready.app.fetch(request, { runtime: runtime(ready, env, context), assets: env.ASSETS }, context);
  },
  async scheduled(_event, env, context) {
    const ready = prepare(env);
    const parts = runtime(ready, env, context);
    const { housekeeping, inTurn } = await import('./catalog/housekeeping.ts');
    // jobs first: what takes long or fails must not keep them from running
    await inTurn([
      async () => (await scheduled()).sweepJobs(parts),
      () => housekeeping(parts.db, ready.config),
      async () => (await scheduled()).sweepCaches(parts),
    ]);
  },
} satisfies ExportedHandler<Env>;

/** The MCP server of one principal. */
export class McpPrincipal extends McpObject<Env> {
  protected override readonly version = version;

  protected override runtime(): Runtime {
    return { ...runtime(prepare(this.env), this.env, this.ctx), log };
  }

  protected override pages(): ((name: string) => Promise<string | undefined>) | undefined {
    const { ASSETS } = this.env as Partial<Env>;
    return ASSETS === undefined ? undefined : (name) => fileOf(ASSETS, name);
  }
}

/** The text of a static file; undefined if there is no such file. */
async function fileOf(assets: Fetcher, name: string): Promise<string | undefined> {
  const found = await assets.fetch(new Request(`https://assets.invalid/${name}`));
  if (found.ok) return found.text();
  await found.body?.cancel();
  return undefined;
}

export { LoginThrottle } from './auth/throttle-object.ts';
export { OAuthStore } from './oauth/store-object.ts';

/** A statement that continues after its request. */
export class AsyncStatement extends AsyncObject<Env> {
  protected override runtime(): Runtime {
    return { ...runtime(prepare(this.env), this.env, this.ctx), log };
  }
}

/** A statement that runs by a schedule. */
export class ScheduledJob extends JobObject<Env> {
  protected override runtime(): Runtime {
    return { ...runtime(prepare(this.env), this.env, this.ctx), log };
  }
}
