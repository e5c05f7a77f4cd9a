/** The checks of `kg doctor` for the role of a datasource: its attributes, its rights and its limits. */
import { identifier } from '../planner/print/lexical.ts';
import { FUNCTION_FAMILIES, LISTED_FUNCTIONS } from './reader-functions.ts';

/** One line of the report. */
export interface Diagnosis {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly about: string;
  /** What was found and, unless the state is `ok`, what to do. */
  readonly text: string;
}

/** Creates a line about the datasource. */
export type Line = (state: Diagnosis['state'], text: string) => Diagnosis;

/** Roles that exist only in PostgreSQL as a service, where customers cannot become superusers. */
const HOSTS: Readonly<Record<string, string>> = {
  neon_superuser: 'Neon',
  rds_superuser: 'Amazon RDS',
  cloudsqlsuperuser: 'Cloud SQL',
  alloydbsuperuser: 'AlloyDB',
  azure_pg_admin: 'Azure',
  supabase_admin: 'Supabase',
  doadmin: 'DigitalOcean',
  avnadmin: 'Aiven',
};

/** Schemas of users, not of the server. */
const USERS_OWN = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`;
/** A role whose members can do more than read what was granted to them. */
const POWERFUL = `(x.rolname ~ '^pg_' OR x.rolsuper OR x.rolcreaterole OR x.rolcreatedb OR x.rolreplication OR x.rolbypassrls)`;

/** A statement to run as the role: one row with one text, the JSON of Rights. */
export const RIGHTS = `WITH me AS (SELECT * FROM pg_catalog.pg_roles WHERE rolname = current_user)
SELECT json_build_object(
  'role', current_user,
  'own', (SELECT coalesce(to_json(rolconfig), '[]') FROM me),
  'isDistributed', EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus'),
  'database', current_database(),
  'superuser', (SELECT rolsuper FROM me),
  'attributes', (SELECT array_remove(ARRAY[CASE WHEN rolcreaterole THEN 'CREATEROLE' END, CASE WHEN rolcreatedb THEN 'CREATEDB' END,
    CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END], NULL) FROM me),
  'connections', (SELECT rolconnlimit FROM me),
  'groups', (SELECT coalesce(json_agg(g.rolname ORDER BY g.rolname), '[]') FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles g ON g.oid = m.roleid
    WHERE m.member = (SELECT oid FROM me) AND EXISTS (SELECT FROM pg_catalog.pg_roles x WHERE pg_has_role(g.oid, x.oid, 'MEMBER') AND ${POWERFUL})),
  'hosts', (SELECT coalesce(json_agg(rolname), '[]') FROM pg_catalog.pg_roles WHERE rolname IN (${Object.keys(HOSTS)
    .map((name) => `'${name}'`)
    .join(', ')})),
  'catalog', EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname = 'kg_catalog'
    AND (has_schema_privilege(n.oid, 'USAGE') OR pg_has_role(n.nspowner, 'MEMBER'))),
  'create', has_database_privilege(current_database(), 'CREATE'),
  'temporary', has_database_privilege(current_database(), 'TEMPORARY'),
  'schemas', (SELECT coalesce(json_agg(n.nspname ORDER BY n.nspname), '[]') FROM pg_catalog.pg_namespace n WHERE ${USERS_OWN} AND has_schema_privilege(n.oid, 'CREATE')),
  'writable', (SELECT coalesce(json_agg(t.name), '[]') FROM (SELECT n.nspname || '.' || c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE ${USERS_OWN} AND (c.relkind IN ('r', 'p', 'v', 'f') AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
      OR CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, 'USAGE, UPDATE') END) ORDER BY 1 LIMIT 3) t),
  'definers', (SELECT coalesce(json_agg(t.name), '[]') FROM (SELECT DISTINCT n.nspname || '.' || p.proname AS name FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE p.prosecdef AND ${USERS_OWN} AND has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE') AND NOT pg_has_role(p.proowner, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e') ORDER BY 1 LIMIT 3) t),
  'functions', (SELECT coalesce(json_object_agg(o.family, o.names), '{}') FROM (SELECT f.family, array_agg(p.proname ORDER BY p.proname) AS names
    FROM (${LISTED_FUNCTIONS}) f JOIN pg_catalog.pg_proc p ON p.oid = f.oid WHERE has_function_privilege(f.oid, 'EXECUTE') GROUP BY 1) o))::text`;

/** The result of RIGHTS. */
export interface Rights {
  readonly role: string;
  /** The settings of ALTER ROLE, each `name=value`. */
  readonly own: readonly string[];
  /** True if the database is the coordinator of a Citus cluster. */
  readonly isDistributed: boolean;
  readonly database: string;
  readonly superuser: boolean;
  readonly attributes: readonly string[];
  /** -1 for no limit. */
  readonly connections: number;
  /** Roles that it is a member of, and that let it do more than read. */
  readonly groups: readonly string[];
  /** Roles of HOSTS that the server has. */
  readonly hosts: readonly string[];
  readonly catalog: boolean;
  readonly create: boolean;
  readonly temporary: boolean;
  readonly schemas: readonly string[];
  /** Tables and sequences that it may write to, at most three. */
  readonly writable: readonly string[];
  /** SECURITY DEFINER functions of users, at most three. */
  readonly definers: readonly string[];
  /** Names of the listed functions that it may execute, one for each signature, by what they do. */
  readonly functions: Readonly<Record<string, readonly string[]>>;
}

/** Lines about what the role may do. */
export function roleLines(r: Rights, settings: ReadonlyMap<string, string>, line: Line): Diagnosis[] {
  if (r.superuser) return [line('fail', `the role ${r.role} is a superuser: create one that may only read, as in docs/deploy.md`)];
  return [...rightLines(r, line), ...functionLines(r, line), ...limitLines(r, settings, line)];
}

function rightLines(r: Rights, line: Line): Diagnosis[] {
  const lines: Diagnosis[] = [];
  const role = identifier(r.role);
  const list = (names: readonly string[]) => names.map(identifier).join(', ');
  if (r.attributes.length > 0)
    lines.push(line('fail', `the role ${r.role} has ${r.attributes.join(', ')}: ALTER ROLE ${role} ${r.attributes.map((a) => `NO${a}`).join(' ')}`));
  if (r.groups.length > 0)
    lines.push(
      line(
        'fail',
        `the role ${r.role} has more rights through ${r.groups.join(', ')}: REVOKE ${list(r.groups)} FROM ${role}, or create the role again with CREATE ROLE`,
      ),
    );
  if (r.catalog)
    lines.push(
      line(
        'fail',
        `the role ${r.role} has access to the catalog: REVOKE ALL ON SCHEMA kg_catalog FROM ${role}, and remove it from the roles that own the schema`,
      ),
    );
  if (r.create) lines.push(line('fail', `the role ${r.role} may create schemas: REVOKE CREATE ON DATABASE ${identifier(r.database)} FROM PUBLIC, ${role}`));
  if (r.schemas.length > 0) lines.push(line('fail', `the role ${r.role} may create tables: REVOKE CREATE ON SCHEMA ${list(r.schemas)} FROM PUBLIC, ${role}`));
  if (r.writable.length > 0) {
    const revoke = 'REVOKE INSERT, UPDATE, DELETE, TRUNCATE on its tables, and USAGE, UPDATE on its sequences';
    lines.push(line('fail', `the role ${r.role} may write to ${r.writable.join(', ')}: ${revoke}`));
  }
  if (r.temporary)
    lines.push(line('warn', `the role ${r.role} may create temporary tables: REVOKE TEMPORARY ON DATABASE ${identifier(r.database)} FROM PUBLIC`));
  if (r.definers.length > 0)
    lines.push(
      line(
        'warn',
        `the role ${r.role} may execute ${r.definers.join(', ')} with the rights of their owners (SECURITY DEFINER): REVOKE EXECUTE ... FROM PUBLIC`,
      ),
    );
  return lines.length > 0 ? lines : [line('ok', `the role ${r.role} can only read: it creates nothing, writes nothing, and has no access to kg_catalog`)];
}

/** The number of functions of a family to name. */
const NAMED = 3;

function functionLines(r: Rights, line: Line): Diagnosis[] {
  const open = FUNCTION_FAMILIES.filter((f) => (r.functions[f.does]?.length ?? 0) > 0);
  if (open.length === 0)
    return [line('ok', `the role ${r.role} may execute no function that runs SQL texts, reads files or settings, shows sessions, waits or locks`)];
  const host = r.hosts.map((name) => HOSTS[name]).find((name) => name !== undefined);
  const say = (state: Diagnosis['state'], families: typeof open, advice: string): Diagnosis[] =>
    families.length === 0
      ? []
      : [line(state, `the role ${r.role} may execute functions that ${families.map((f) => family(f, r.functions[f.does] ?? [])).join('; ')}: ${advice}`)];
  if (host !== undefined) return say('warn', open, `${host} does not allow revoking the right, so only the planner's checks keep callers from using them`);
  const advice = 'a superuser can run docs/restrict-functions.sql';
  return [
    ...say(
      'fail',
      open.filter((f) => f.severe),
      advice,
    ),
    ...say(
      'warn',
      open.filter((f) => !f.severe),
      advice,
    ),
  ];
}

/** `run SQL texts (ts_stat, query_to_xml, 12 more)`. */
function family({ does, names }: (typeof FUNCTION_FAMILIES)[number], open: readonly string[]): string {
  const rank = (name: string): number => {
    const at = names.findIndex((n) => matches(n, name));
    return at < 0 ? names.length : at;
  };
  const named = [...new Set(open)].sort((a, b) => rank(a) - rank(b)).slice(0, NAMED);
  const more = open.length - open.filter((name) => named.includes(name)).length;
  return `${does} (${named.join(', ')}${more > 0 ? `, ${more} more` : ''})`;
}

const matches = (pattern: string, name: string): boolean => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern);

/** More memory than a sort or hash of one statement should use. */
const MEMORY_MB = 256;

function limitLines(r: Rights, settings: ReadonlyMap<string, string>, line: Line): Diagnosis[] {
  const alter = `ALTER ROLE ${identifier(r.role)}`;
  const missing = (
    [
      ['temp_file_limit', '-1', `SET temp_file_limit = '1GB'`],
      ['lock_timeout', '0', `SET lock_timeout = '10s'`],
      ['idle_in_transaction_session_timeout', '0', `SET idle_in_transaction_session_timeout = '2min'`],
    ] as const
  ).filter(([name, none]) => settings.get(name) === none);
  const lines = missing.map(([name, , set]) =>
    line('warn', `the role ${r.role} has no ${name}: ${alter} ${set}${name === 'temp_file_limit' ? ', which a superuser may run' : ''}`),
  );
  if (r.connections < 0) lines.push(line('warn', `the role ${r.role} has no connection limit: ${alter} CONNECTION LIMIT 40`));
  const memory = megabytes(settings.get('work_mem') ?? '') * Number(settings.get('hash_mem_multiplier') ?? 1);
  if (memory > MEMORY_MB)
    lines.push(
      line(
        'warn',
        `each hash in a statement of the role ${r.role} may use ${Math.round(memory)} MB (work_mem times hash_mem_multiplier): ${alter} SET work_mem = '16MB'`,
      ),
    );
  if (lines.length > 0) return lines;
  const limits = ['temp_file_limit', 'lock_timeout', 'idle_in_transaction_session_timeout'].map((name) => `${name} ${settings.get(name)}`);
  return [line('ok', `the role ${r.role} has ${limits.join(', ')}, and at most ${r.connections} connections`)];
}

/** Converts `4MB`, `65536kB` or `1GB` to megabytes. Returns 0 for other forms. */
function megabytes(text: string): number {
  const [, number, unit] = /^(\d+)(kB|MB|GB|TB)$/.exec(text) ?? [];
  return number === undefined ? 0 : Number(number) * { kB: 1 / 1024, MB: 1, GB: 1024, TB: 1024 * 1024 }[unit as 'MB'];
}
