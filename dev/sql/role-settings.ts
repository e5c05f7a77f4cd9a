import type pg from 'pg';
import { milliseconds } from '../../src/engine/settings.ts';

/** The settings of a role for a session of a database without logins. */
export interface RoleSettings {
  /** Makes the session that of this role; one string of several commands. */
  enter: string;
  /** The timeout of a statement in milliseconds; 0 = none. */
  timeoutMs: number;
}

const SETTINGS = `SELECT pg_catalog.unnest(s.setconfig) FROM pg_catalog.pg_db_role_setting s
  LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.setrole LEFT JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase
  WHERE (s.setrole = 0 OR r.rolname = $1) AND (s.setdatabase = 0 OR d.datname = pg_catalog.current_database())
  ORDER BY s.setrole <> 0, s.setdatabase <> 0`;

/** Settings whose stored value is a list of quoted names. */
const NAME_LISTS = new Set(['search_path', 'temp_tablespaces', 'session_preload_libraries', 'local_preload_libraries']);

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Reads the settings of `ALTER ROLE ... SET` and `ALTER DATABASE ... SET` that a login of this role would get. */
export async function readRoleSettings(client: pg.Client, role: string): Promise<RoleSettings> {
  const { rows } = await client.query<[string]>({ text: SETTINGS, values: [role], rowMode: 'array' });
  // PGlite starts with a search_path of its own.
  const settings = new Map([['search_path', '"$user", public']]);
  for (const [s] of rows) settings.set(s.slice(0, s.indexOf('=')), s.slice(s.indexOf('=') + 1));
  const commands = [...settings].map(([name, value]) => `SET ${quoteName(name)} = ${NAME_LISTS.has(name) ? nameList(value) : quoteText(value)}`);
  commands.push(`SET SESSION AUTHORIZATION ${quoteName(role)}`);
  let timeoutMs = 0;
  const timeout = settings.get('statement_timeout');
  if (timeout !== undefined) {
    await client.query(`BEGIN; SET LOCAL statement_timeout = ${quoteText(timeout)}`);
    timeoutMs = await currentTimeout(client);
    await client.query('ROLLBACK');
  }
  return { enter: commands.join('; '), timeoutMs };
}

/** The current statement_timeout, in milliseconds. By SHOW, which needs no right to execute a function. */
export async function currentTimeout(client: pg.Client): Promise<number> {
  const { rows } = await client.query<[string]>({ text: 'SHOW statement_timeout', rowMode: 'array' });
  return milliseconds(rows[0]?.[0] ?? '0') ?? 0;
}

/** `a, "B c", ""` as `'a', 'B c', ''`: SET accepts texts in place of names, including an empty one. */
function nameList(stored: string): string {
  const names = [...stored.matchAll(/"((?:[^"]|"")*)"|[^\s,"]+/g)].map((m) => (m[1] === undefined ? m[0] : m[1].replaceAll('""', '"')));
  return names.length ? names.map(quoteText).join(', ') : "''";
}
