/** `kg doctor`: checks the service, the catalog and the datasources, and reports one line for each check. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { type CatalogDb, DbError, neonDb } from '../catalog/db.ts';
import { appliedMigrations, datasourceSecrets, type StoredReplicas, storedReplicas } from '../catalog/operator.ts';
import { keepPlacements } from '../catalog/placements.ts';
import type { Connection } from '../connection.ts';
import { SvcError } from '../errors.ts';
import { examine } from './doctor-datasource.ts';
import { replicaLines } from './doctor-replicas.ts';
import type { Diagnosis } from './doctor-role.ts';
import { Failure } from './failure.ts';
import { findService } from './service-client.ts';
import type { Report } from './validate-data.ts';
import { catalogConnection, secretConnection } from './validate-data-places.ts';

type Env = Readonly<Record<string, string | undefined>>;

const MIGRATIONS = new URL('../../migrations/', import.meta.url);

/** Runs all checks that it has a connection for. A missing connection is reported as a warning. */
export async function doctor(env: Env): Promise<Report> {
  const catalog = await examineCatalog(env);
  const lines = [
    ...(await examineService(env)),
    ...catalog.lines,
    ...(await examineDatasources(env, catalog)),
    ...(await examineReplicas(env, catalog.replicas)),
  ];
  const faults = lines.filter((l) => l.state === 'fail').length;
  return { lines: lines.map(({ state, about, text }) => `${state.padEnd(4)}  ${about}: ${text}`), exitCode: faults > 0 ? 1 : 0 };
}

/** The result of `read`, or a line that reports its error. */
async function attempt<T>(about: string, read: () => Promise<T>): Promise<{ readonly value: T } | { readonly line: Diagnosis }> {
  try {
    return { value: await read() };
  } catch (e) {
    if (e instanceof Failure) return { line: { state: 'fail', about, text: e.message } };
    throw e;
  }
}

async function examineService(env: Env): Promise<Diagnosis[]> {
  const found = await attempt('service', () => findService(env));
  if ('line' in found) return [found.line];
  const service = found.value;
  const product = env.PRODUCT_NAME?.trim() || 'svc';
  const health = await healthOf(`${service.base}/${product}/api/health`);
  if (health.state === 'fail') return [health];
  const asked = await attempt('token', () => service.query('SHOW ONTOLOGIES', ''));
  if ('line' in asked) return [health, asked.line];
  const { fault, rows } = asked.value;
  if (fault === undefined) return [health, { state: 'ok', about: 'token', text: `it works and sees ${rows.length} ontolog${rows.length === 1 ? 'y' : 'ies'}` }];
  const advice = fault.hint ?? (fault.code === 'catalog_unavailable' ? 'see the catalog below' : 'npm run kg -- token USER creates a new one');
  return [health, { state: 'fail', about: 'token', text: `${fault.message} (${fault.code}); ${advice}` }];
}

async function healthOf(url: string): Promise<Diagnosis> {
  const line = (state: Diagnosis['state'], text: string): Diagnosis => ({ state, about: 'service', text });
  const { origin, pathname } = new URL(url);
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(15_000) });
    const answer = (await response.json()) as { readonly status?: unknown; readonly version?: unknown } | null;
    if (response.ok && answer?.status === 'success') return line('ok', `${origin} answers, version ${String(answer.version)}`);
    return line('fail', `${origin}${pathname} answered ${response.status}, but not like this service; is PRODUCT_NAME the same as the service's?`);
  } catch (e) {
    const cause = e instanceof Error && e.cause instanceof Error && 'code' in e.cause ? e.cause.code : e instanceof SyntaxError ? 'no JSON' : 'no answer';
    return line('fail', `${origin}${pathname} does not answer like this service (${String(cause)}); is KG_URL right, and is the service running?`);
  }
}

interface Catalog {
  readonly lines: readonly Diagnosis[];
  /** Maps the variables that contain connections to the names of their datasources. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly replicas: readonly StoredReplicas[];
  /** undefined: it does not answer, or lacks a migration. */
  readonly db?: CatalogDb | undefined;
}

async function examineCatalog(env: Env): Promise<Catalog> {
  const line = (state: Diagnosis['state'], text: string): Catalog => ({ lines: [{ state, about: 'catalog', text }], secrets: new Map(), replicas: [] });
  const found = await attempt<Connection | undefined>('catalog', () => catalogConnection(env));
  if ('line' in found) return { lines: [found.line], secrets: new Map(), replicas: [] };
  if (found.value === undefined) return line('warn', 'not checked: set CATALOG_URL to the value that the service has');
  const db = neonDb(found.value);
  try {
    const lines = await migrationLines(db);
    const isWhole = !lines.some((l) => l.state === 'fail');
    return { lines, secrets: await datasourceSecrets(db), replicas: await storedReplicas(db), db: isWhole ? db : undefined };
  } catch (e) {
    if (e instanceof DbError && (e.sqlstate === '42P01' || e.sqlstate === '3F000')) return line('fail', 'it does not exist yet: npm run migrate creates it');
    if (e instanceof DbError && e.sqlstate === '42501') return line('fail', 'the role of CATALOG_URL may not read it: it must own the schema kg_catalog');
    if (e instanceof DbError) return line('fail', `${e.message} (${e.sqlstate})`);
    if (!(e instanceof SvcError)) throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    return line('fail', `it does not answer${cause}; check CATALOG_URL`);
  }
}

/** Compares the migrations of this checkout with those of the catalog. */
async function migrationLines(db: CatalogDb): Promise<Diagnosis[]> {
  const line = (state: Diagnosis['state'], text: string): Diagnosis => ({ state, about: 'migrations', text });
  const applied = await appliedMigrations(db);
  const files = (await readdir(MIGRATIONS)).filter((name) => /^\d{3}_.*\.sql$/.test(name)).sort();
  const missing = files.filter((name) => !applied.has(name));
  const changed: string[] = [];
  for (const name of files) {
    const script = (await readFile(new URL(name, MIGRATIONS), 'utf8')).replaceAll('\r\n', '\n');
    const known = applied.get(name);
    if (known !== undefined && known !== createHash('sha256').update(script).digest('hex')) changed.push(name);
  }
  const newer = [...applied.keys()].filter((name) => !files.includes(name));
  const lines: Diagnosis[] = [];
  if (missing.length > 0) lines.push(line('fail', `${missing.join(', ')} not applied: npm run migrate`));
  if (changed.length > 0) lines.push(line('fail', `${changed.join(', ')} changed since the catalog was created: restore the original file`));
  if (newer.length > 0) lines.push(line('warn', `the catalog is newer than this checkout: it also has ${newer.join(', ')}`));
  return [{ state: 'ok', about: 'catalog', text: 'it answers' }, ...(lines.length > 0 ? lines : [line('ok', `all ${files.length} applied`)])];
}

/** Checks the replicas of the datasources in the catalog. */
async function examineReplicas(env: Env, known: readonly StoredReplicas[]): Promise<Diagnosis[]> {
  const lines = await Promise.all(known.map((of) => replicaLines(of, (name, variable) => secretConnection(name, variable, env))));
  return lines.flat();
}

/** Checks the datasources in the catalog and those in the environment. */
async function examineDatasources(env: Env, { secrets: known, db }: Catalog): Promise<Diagnosis[]> {
  const timeout = Number(env.STATEMENT_TIMEOUT_MS);
  const timeoutMs = Number.isSafeInteger(timeout) && timeout > 0 ? timeout : 30_000;
  const named = new Map<string, string>();
  for (const variable of ['DATASOURCE_MAIN', ...Object.keys(env).filter((v) => /^DATASOURCE_./.test(v) && env[v]?.trim())]) {
    named.set(variable, variable.slice('DATASOURCE_'.length).toLowerCase());
  }
  for (const [name, variable] of known) named.set(variable, name);
  const lines: Diagnosis[] = [];
  for (const [variable, name] of named) {
    const about = `datasource ${name}`;
    const found = await attempt(about, () => secretConnection(name, variable, env));
    if ('line' in found) lines.push(found.line);
    else if (found.value)
      lines.push(...(await examine(found.value, about, timeoutMs, async (text) => db && keepPlacements(db, variable, text).catch(() => undefined))));
    else lines.push({ state: 'warn', about, text: `not checked: set ${variable} to the value that the service has` });
  }
  return lines;
}
