import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { neon, neonConfig } from '@neondatabase/serverless';
import pg from 'pg';
import { splitSql } from './sql-script.ts';

/** One statement with its parameters. */
export interface Command {
  sql: string;
  params?: string[];
}

/** Runs statements in one transaction, as the catalog's owner, and returns the rows of the last one. */
export type Run = (commands: Command[]) => Promise<Record<string, unknown>[]>;

/** The reason why the migrations cannot be applied, as a message for the operator. */
export class MigrationError extends Error {}

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));
const TABLE = `CREATE TABLE IF NOT EXISTS kg_catalog.migrations (
  name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;

/**
 * Applies the files `NNN_*.sql` that have not been applied yet, in the order of their names, each in its own transaction
 * together with its entry in kg_catalog.migrations. Creates the schema if it is missing. It is safe to run twice at the same time.
 * @returns the names that were applied now
 * @throws MigrationError if an applied file has changed or is missing; errors of PostgreSQL unchanged
 */
export async function migrate(run: Run, directory: string = MIGRATIONS): Promise<string[]> {
  const files = readdirSync(directory)
    .filter((name) => /^\d{3}_.*\.sql$/.test(name))
    .sort();
  const [schema] = await run([{ sql: "SELECT to_regnamespace('kg_catalog')::text AS found" }]);
  if (!schema?.found) await create(run, 'CREATE SCHEMA IF NOT EXISTS kg_catalog');
  const [table] = await run([{ sql: "SELECT to_regclass('kg_catalog.migrations')::text AS found" }]);
  if (!table?.found) await create(run, TABLE);
  const done = new Map<string, string>();
  for (const row of await run([{ sql: 'SELECT name, checksum FROM kg_catalog.migrations' }])) done.set(String(row.name), String(row.checksum));
  for (const name of done.keys()) {
    if (!files.includes(name)) throw new MigrationError(`the database has the migration ${name}, which this version does not know: the database is newer`);
  }
  const applied: string[] = [];
  for (const name of files) {
    const script = readFileSync(join(directory, name), 'utf8').replaceAll('\r\n', '\n');
    const checksum = createHash('sha256').update(script).digest('hex');
    const before = done.get(name);
    if (before !== undefined && before !== checksum) throw new MigrationError(`the migration ${name} has changed since it was applied`);
    if (before === undefined && (await apply(run, name, checksum, script))) applied.push(name);
  }
  return applied;
}

/** Runs a CREATE ... IF NOT EXISTS. It fails if another runner commits the same object while it runs: then the object exists. */
async function create(run: Run, sql: string): Promise<void> {
  try {
    await run([{ sql }]);
  } catch (error) {
    // unique_violation of the system catalogs, duplicate_schema, duplicate_table, duplicate_object
    if (!['23505', '42P06', '42P07', '42710'].includes((error as { code?: string }).code ?? '')) throw error;
  }
}

async function apply(run: Run, name: string, checksum: string, script: string): Promise<boolean> {
  // The entry comes first: a second runner waits for it, and then fails on it.
  const entry = { sql: 'INSERT INTO kg_catalog.migrations (name, checksum) VALUES ($1, $2)', params: [name, checksum] };
  try {
    await run([entry, ...splitSql(script).map((sql) => ({ sql }))]);
    return true;
  } catch (error) {
    const { code, table } = error as { code?: string; table?: string };
    if (code === '23505' && table === 'migrations') return false;
    (error as Error).message = `${name}: ${(error as Error).message}`;
    throw error;
  }
}

/** Runs over an SQL-over-HTTP endpoint; the default is Neon's own. */
export function runOverHttp(url: string, endpoint?: string): Run {
  return async (commands) => {
    if (endpoint) neonConfig.fetchEndpoint = endpoint;
    const sql = neon(url, { disableWarningInBrowsers: true });
    const results = await sql.transaction(commands.map((c) => sql.query(c.sql, c.params ?? [])));
    return (results.at(-1) ?? []) as Record<string, unknown>[];
  };
}

/** Runs over PostgreSQL's own protocol. */
export function runOverTcp(client: pg.Client): Run {
  return async (commands) => {
    await client.query('BEGIN');
    try {
      let rows: Record<string, unknown>[] = [];
      for (const { sql, params } of commands) rows = (await client.query({ text: sql, values: params ?? [] })).rows;
      await client.query('COMMIT');
      return rows;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  };
}

/** `npm run migrate`: the database is that of CATALOG_OWNER_URL, or else of CATALOG_URL (a connection string, or JSON with url and endpoint). */
async function main(): Promise<void> {
  const value = (process.env.CATALOG_OWNER_URL ?? process.env.CATALOG_URL ?? '').trim();
  if (!value)
    throw new MigrationError('set CATALOG_OWNER_URL (or CATALOG_URL) to the connection string of the catalog, with a role that owns it or may create it');
  const { url, endpoint } = value.startsWith('{') ? (JSON.parse(value) as { url: string; endpoint?: string }) : { url: value, endpoint: undefined };
  const report = (names: string[]) => console.log(names.length ? `applied ${names.join(', ')}` : 'nothing to apply');
  if (endpoint || /\.neon\.tech$/.test(new URL(url).hostname)) {
    report(await migrate(runOverHttp(url, endpoint)));
    return;
  }
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    report(await migrate(runOverTcp(client)));
  } finally {
    await client.end().catch(() => undefined);
  }
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    console.error(`migrate: ${(error as Error).message}`);
    process.exitCode = 1;
  });
}
