import { LISTED_FUNCTIONS } from '../src/cli/reader-functions.ts';
import { FUNCTION_USERS, restrictFunctions } from './restrict-functions.ts';
import { quoteName, quoteText } from './sql/role-settings.ts';

/** Runs one statement as a role that may create roles and schemas; returns its rows. */
export type Exec = (sql: string) => Promise<{ rows: Record<string, unknown>[] }>;

/** The parameters of restrictReader. */
export interface ReaderSetup {
  exec: Exec;
  reader: string;
  /** Roles that own objects which the reader must not have: the catalog, the tables. */
  owners: readonly string[];
  statementTimeoutMs: number;
  /** Whether EXECUTE on the functions of src/cli/reader-functions.ts is revoked from PUBLIC, which affects all roles of the database. */
  functions: boolean;
  /** The role through which other roles keep EXECUTE on these functions; the default is that of docs/restrict-functions.sql. */
  functionUsers?: string | undefined;
}

/** Limits of the reader on the server's resources; existing values of the role are kept. */
const LIMITS: readonly (readonly [name: string, value: string])[] = [
  ['lock_timeout', '10s'],
  ['idle_in_transaction_session_timeout', '2min'],
  ['temp_file_limit', '1GB'],
];
/** Four full pools of the SQL endpoint. */
const CONNECTIONS = 40;

const ATTRIBUTES = ['SUPERUSER', 'CREATEROLE', 'CREATEDB', 'REPLICATION', 'BYPASSRLS'] as const;
const COLUMNS: Readonly<Record<(typeof ATTRIBUTES)[number], string>> = {
  SUPERUSER: 'rolsuper',
  CREATEROLE: 'rolcreaterole',
  CREATEDB: 'rolcreatedb',
  REPLICATION: 'rolreplication',
  BYPASSRLS: 'rolbypassrls',
};

/**
 * Removes from the reading role what it does not need (attributes, memberships, functions), and sets its settings and
 * limits. It can be run again. Each change is a separate statement, so that one which the server refuses does not affect the
 * others.
 *
 * @returns a line for each change that was refused, with the statement for a role that may make it
 */
export async function restrictReader(setup: ReaderSetup): Promise<string[]> {
  const { exec, reader, statementTimeoutMs, functionUsers = FUNCTION_USERS } = setup;
  const owners = [...setup.owners, FUNCTION_USERS, functionUsers];
  const refused: string[] = [];
  const attempt = async (sql: string, name = sql) => {
    await exec(sql).catch((error: Error) => refused.push(notDone(name, error.message)));
  };
  const alter = `ALTER ROLE ${quoteName(reader)}`;
  const role = await one(exec, `SELECT * FROM pg_catalog.pg_roles WHERE rolname = ${quoteText(reader)}`);
  for (const attribute of ATTRIBUTES) if (role[COLUMNS[attribute]] === true) await attempt(`${alter} NO${attribute}`);
  await leaveRoles(exec, reader, owners, refused);

  await attempt(`${alter} SET default_transaction_read_only = on`);
  await attempt(`${alter} SET statement_timeout = ${quoteText(`${statementTimeoutMs}ms`)}`);
  await attempt(`${alter} SET search_path = ''`);
  await attempt(`${alter} SET "TimeZone" = 'UTC'`);
  await attempt(`${alter} SET "DateStyle" = 'ISO, MDY'`);
  await attempt(`${alter} SET jit = off`);
  const own = ((role.rolconfig as string[] | null) ?? []).map((setting) => setting.slice(0, setting.indexOf('=')));
  for (const [name, value] of LIMITS) if (!own.includes(name)) await attempt(`${alter} SET ${name} = ${quoteText(value)}`);
  if (role.rolconnlimit === -1) await attempt(`${alter} CONNECTION LIMIT ${CONNECTIONS}`);

  if (setup.functions) await attempt(restrictFunctions([reader], functionUsers), 'docs/restrict-functions.sql');
  return refused;
}

/** Memberships through which the role is a member of a predefined role, an owner, or a role with rights over others. */
const memberships = (reader: string, owners: readonly string[]): string => `SELECT g.rolname AS name, b.rolname AS grantor,
    current_setting('server_version_num')::int >= 160000 AS by_grantor
  FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles g ON g.oid = m.roleid JOIN pg_catalog.pg_roles r ON r.oid = m.member
  LEFT JOIN pg_catalog.pg_roles b ON b.oid = m.grantor
  WHERE r.rolname = ${quoteText(reader)} AND EXISTS (SELECT FROM pg_catalog.pg_roles x WHERE pg_has_role(g.oid, x.oid, 'MEMBER')
    AND (x.rolname ~ '^pg_' OR x.rolsuper OR x.rolcreaterole OR x.rolreplication OR x.rolbypassrls
      OR x.rolname IN (${owners.map(quoteText).join(', ')})))
  ORDER BY 1`;

async function leaveRoles(exec: Exec, reader: string, owners: readonly string[], refused: string[]): Promise<void> {
  const { rows } = await exec(memberships(reader, owners));
  const reasons = new Map<unknown, string>();
  for (const { name, grantor, by_grantor } of rows) {
    // Since PostgreSQL 16 the grants of each grantor are separate.
    const by = by_grantor && grantor !== null ? ` GRANTED BY ${quoteName(String(grantor))}` : '';
    await exec(`REVOKE ${quoteName(String(name))} FROM ${quoteName(reader)}${by}`).catch((error: Error) => reasons.set(name, error.message));
  }
  // A REVOKE that changes nothing is only a warning, so the remaining memberships are checked.
  const left = rows.length ? (await exec(memberships(reader, owners))).rows : [];
  for (const { name } of left)
    refused.push(notDone(`REVOKE ${quoteName(String(name))} FROM ${quoteName(reader)}`, reasons.get(name) ?? 'the membership is still there'));
}

const notDone = (statement: string, reason: string): string => `not done, a superuser can: ${statement} (${reason.split('\n')[0]})`;

async function one(exec: Exec, sql: string): Promise<Record<string, unknown>> {
  const [row] = (await exec(sql)).rows;
  if (!row) throw new Error(`no row: ${sql}`);
  return row;
}

/** The number of functions that the reader does not need and can still execute. */
export async function openFunctions(exec: Exec, reader: string): Promise<number> {
  const { n } = await one(exec, `SELECT count(*)::int AS n FROM (${LISTED_FUNCTIONS}) f WHERE has_function_privilege(${quoteText(reader)}, f.oid, 'EXECUTE')`);
  return Number(n);
}
