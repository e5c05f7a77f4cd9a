/** What `kg doctor` looks at in a datasource: its server, its role, and the way its answers come. */
import { send } from '../engine/client.ts';
import type { Datasource } from '../engine/datasource.ts';
import { fits, fromProbe, PROBE, type RoleSettings } from '../engine/settings.ts';
import { SvcError } from '../errors.ts';
import { identifier } from '../planner/print/lexical.ts';

/** One line of the doctor. */
export interface Diagnosis {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly about: string;
  /** What was seen, and what to do where it is no `ok`. */
  readonly text: string;
}

const TIMEOUT_MS = 15_000;
/** PostgreSQL's major versions that are supported. */
const VERSIONS = { least: 15, most: 18 } as const;

/** What `to_json` wrote must come as it was written: numbers as they are, members in their order. */
const EXACT = '{"b":1.10,"a":12345678901234567890}';

/** Schemas of users; those of the server are nobody's to write in. */
const USERS_OWN = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`;

const RIGHTS = `SELECT json_build_object(
  'role', current_user,
  'database', current_database(),
  'version', current_setting('server_version'),
  'number', current_setting('server_version_num')::int,
  'superuser', (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user),
  'catalog', EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname = 'kg_catalog' AND has_schema_privilege(n.oid, 'USAGE')),
  'create', has_database_privilege(current_database(), 'CREATE'),
  'temporary', has_database_privilege(current_database(), 'TEMPORARY'),
  'schemas', (SELECT coalesce(json_agg(n.nspname ORDER BY n.nspname), '[]') FROM pg_catalog.pg_namespace n WHERE ${USERS_OWN} AND has_schema_privilege(n.oid, 'CREATE')),
  'writable', (SELECT coalesce(json_agg(t.name), '[]') FROM (SELECT n.nspname || '.' || c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND ${USERS_OWN} AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY 1 LIMIT 3) t),
  'random_page_cost', current_setting('random_page_cost')::float8)::text`;

interface Rights {
  readonly role: string;
  readonly database: string;
  readonly version: string;
  readonly number: number;
  readonly superuser: boolean;
  readonly catalog: boolean;
  readonly create: boolean;
  readonly temporary: boolean;
  readonly schemas: readonly string[];
  readonly writable: readonly string[];
  readonly random_page_cost: number;
}

/** Lines about a datasource. `about`: how it is called in them. */
export async function examine(datasource: Datasource, about: string, statementTimeoutMs: number): Promise<Diagnosis[]> {
  const line = (state: Diagnosis['state'], text: string): Diagnosis => ({ state, about, text });
  try {
    const [probed] = await rowsOf(datasource, PROBE.sql);
    const [[rights] = []] = await rowsOf(datasource, RIGHTS);
    const role = JSON.parse(String(rights)) as Rights;
    return [
      versionLine(role, line),
      ...settingLines(role.role, fromProbe(probed), statementTimeoutMs, line),
      ...rightLines(role, line),
      await exactLine(datasource, line),
      costLine(role, line),
    ];
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    return [line('fail', `it does not answer${cause} (${e.code}); check the connection string, and the endpoint if it is not Neon's`)];
  }
}

type Line = (state: Diagnosis['state'], text: string) => Diagnosis;

function versionLine({ version, number }: Rights, line: Line): Diagnosis {
  const major = Math.floor(number / 10_000);
  if (major >= VERSIONS.least && major <= VERSIONS.most) return line('ok', `PostgreSQL ${version}`);
  return line(major < VERSIONS.least ? 'fail' : 'warn', `PostgreSQL ${version}: versions ${VERSIONS.least} to ${VERSIONS.most} are supported`);
}

/** The settings that the role should carry; where it lacks one the service sends it along with each query. */
function settingLines(name: string, role: RoleSettings | undefined, timeoutMs: number, line: Line): Diagnosis[] {
  if (!role) return [line('fail', `the settings of the role ${name} cannot be read`)];
  const alter = (setting: string): string => `ALTER ROLE ${identifier(name)} SET ${setting}`;
  const lines: Diagnosis[] = [];
  if (!role.readOnly) lines.push(line('fail', `the role ${name} is not read-only: ${alter('default_transaction_read_only = on')}`));
  if (role.timeoutMs !== timeoutMs) {
    const seen = role.timeoutMs === 0 ? 'no statement_timeout' : `a statement_timeout of ${role.timeoutMs} ms`;
    lines.push(
      line('warn', `the role ${name} has ${seen}, the service's is ${timeoutMs} ms (STATEMENT_TIMEOUT_MS): ${alter(`statement_timeout = '${timeoutMs}ms'`)}`),
    );
  }
  for (const [setting, value] of [
    ['search_path', ''],
    ['TimeZone', 'UTC'],
    ['DateStyle', 'ISO, MDY'],
  ] as const) {
    if (fits({ ...role, readOnly: true, timeoutMs }, { [setting]: value }, timeoutMs)) continue;
    const text = `the role ${name} has the ${setting} '${role.settings[setting]}', so each query takes the setting along: ${alter(`${identifier(setting)} = '${value}'`)}`;
    lines.push(line('warn', text));
  }
  return lines.length > 0 ? lines : [line('ok', `the role ${name} is read-only, with statement_timeout, search_path, TimeZone and DateStyle set`)];
}

function rightLines(r: Rights, line: Line): Diagnosis[] {
  const lines: Diagnosis[] = [];
  const role = identifier(r.role);
  if (r.superuser) return [line('fail', `the role ${r.role} is a superuser: make one that may only read, as docs/deploy.md has it`)];
  if (r.catalog)
    lines.push(line('fail', `the role ${r.role} reaches the catalog: REVOKE ALL ON SCHEMA kg_catalog FROM ${role}, and take it out of the roles that own it`));
  if (r.create) lines.push(line('fail', `the role ${r.role} may make schemas: REVOKE CREATE ON DATABASE ${identifier(r.database)} FROM PUBLIC, ${role}`));
  if (r.schemas.length > 0)
    lines.push(line('fail', `the role ${r.role} may make tables: REVOKE CREATE ON SCHEMA ${r.schemas.map(identifier).join(', ')} FROM PUBLIC, ${role}`));
  if (r.writable.length > 0)
    lines.push(line('fail', `the role ${r.role} may write to ${r.writable.join(', ')}: REVOKE INSERT, UPDATE, DELETE, TRUNCATE on its tables`));
  if (r.temporary) lines.push(line('warn', `the role ${r.role} may make temporary tables: REVOKE TEMPORARY ON DATABASE ${identifier(r.database)} FROM PUBLIC`));
  return lines.length > 0 ? lines : [line('ok', `the role ${r.role} reads alone: it makes nothing, writes nothing, and does not reach kg_catalog`)];
}

/** JSON comes through the server of the protocol as PostgreSQL wrote it. */
async function exactLine(datasource: Datasource, line: Line): Promise<Diagnosis> {
  const exchange = await send(
    datasource,
    { sql: `SELECT '${EXACT}'::json AS j`, params: [] },
    { timeoutMs: TIMEOUT_MS, rawText: false, retry: true, ownText: true },
  );
  try {
    const body = await exchange.watch(() => exchange.response.text());
    if (body.includes(EXACT)) return line('ok', 'JSON comes as PostgreSQL wrote it');
    return line('fail', 'the SQL-over-HTTP server rewrites JSON, so that long numbers and 1.10 lose digits: use npm run gateway or Neon as the endpoint');
  } finally {
    exchange.release();
  }
}

const costLine = ({ random_page_cost: cost }: Rights, line: Line): Diagnosis =>
  cost < 2
    ? line('ok', `random_page_cost is ${cost}`)
    : line(
        'warn',
        `random_page_cost is ${cost}, as for turning disks: on SSDs 1.1 keeps paths on their indexes (ALTER DATABASE ... SET random_page_cost = 1.1)`,
      );

/** Rows of one statement sent as it is, under the role's own settings. */
async function rowsOf(datasource: Datasource, sql: string): Promise<readonly (readonly unknown[])[]> {
  const exchange = await send(datasource, { sql, params: [] }, { timeoutMs: TIMEOUT_MS, rawText: true, retry: true, ownText: true });
  try {
    const answer = (await exchange.watch(() => exchange.response.json())) as { readonly rows?: readonly (readonly unknown[])[] } | null;
    return answer?.rows ?? [];
  } catch (error) {
    throw exchange.failure(error);
  } finally {
    exchange.release();
  }
}
