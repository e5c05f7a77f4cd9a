/**
 * Makes and fills the tables of the second sample graph: `npx node examples/bikehire/load.ts` in the database of the `npm start`
 * that the session file names (SESSION_FILE), or tables.sql by psql in any other.
 */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { splitSql } from '../../dev/sql-script.ts';

/** Runs one statement. */
export type Exec = (sql: string) => Promise<unknown>;

/** The statements of tables.sql, in their order. */
export const bikehireTables = async (): Promise<readonly string[]> => splitSql(await readFile(new URL('tables.sql', import.meta.url), 'utf8'));

/** The text of model.kg. */
export const bikehireModel = (): Promise<string> => readFile(new URL('model.kg', import.meta.url), 'utf8');

/** The text of rights.kg: two users who do not see all of it. */
export const bikehireRights = (): Promise<string> => readFile(new URL('rights.kg', import.meta.url), 'utf8');

/** Creates the schema `bikehire` again. It does not change a schema that this sample has not created, and fails. The role needs CREATE on the database. */
export async function loadBikehireTables(exec: Exec): Promise<void> {
  await exec(`DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'bikehire'
               AND coalesce(obj_description(oid, 'pg_namespace'), '') NOT LIKE 'Second sample graph:%') THEN
      RAISE EXCEPTION 'schema bikehire exists and is not the sample graph''s';
    END IF;
  END $$`);
  await exec('DROP SCHEMA IF EXISTS bikehire CASCADE');
  for (const statement of await bikehireTables()) await exec(statement);
}

/** Posts statements to the SQL endpoint of an `npm start`. @throws Error with PostgreSQL's message */
function developer(session: { readonly sql_endpoint?: string; readonly database_url?: string }): Exec {
  const { sql_endpoint: endpoint, database_url: url } = session;
  if (!endpoint || !url) throw new Error('the session file names no database: is npm start running?');
  return async (query) => {
    const headers = { 'content-type': 'application/json', 'neon-connection-string': url };
    const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify({ query, params: [] }) });
    if (!response.ok) throw new Error(`${((await response.json()) as { message?: string }).message}\n  for ${query.slice(0, 200)}`);
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const file = process.env.SESSION_FILE?.trim() || '.dev/session.json';
  try {
    await loadBikehireTables(developer(JSON.parse(await readFile(file, 'utf8'))));
    console.log('bikehire: 20 tables made and filled');
  } catch (error) {
    console.error(`${file}: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
