import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { type Exec, restrictReader } from './reader.ts';
import { quoteName, quoteText } from './sql/role-settings.ts';

/** The role that owns the catalog (schema kg_catalog); CATALOG_URL logs in as this role. */
export const CATALOG_OWNER = 'kg_catalog_owner';
/** The role that runs queries; read-only, without any right on the catalog. DATASOURCE_MAIN logs in as this role. */
export const READER = 'kg_reader';
/** The role that may create schemas and tables: the database's owner on the embedded database, an alias of DATABASE_URL's role otherwise. */
export const DEVELOPER = 'kg_dev';

/** Names of the roles that setUpRoles makes. */
export interface RoleNames {
  /** Owns the catalog. */
  readonly owner: string;
  /** Runs the queries. */
  readonly reader: string;
  /** Keeps EXECUTE on the functions that are revoked from PUBLIC, for all other roles. */
  readonly functions?: string;
}

const DEPLOYED: RoleNames = { owner: CATALOG_OWNER, reader: READER };

/** The parameters of setUpRoles. */
export interface RoleSetup {
  exec: Exec;
  /** The default is the names of a deployment. */
  names?: RoleNames;
  /** Passwords of the two roles. */
  passwords: { [CATALOG_OWNER]: string; [READER]: string };
  /** The role that will own the tables; the reader may read all that it creates. The role is created if `developerPassword` is given. */
  developer: string;
  developerPassword?: string;
  /** The database's name. */
  database: string;
  statementTimeoutMs?: number | undefined;
  /** Whether EXECUTE on the functions of src/cli/reader-functions.ts is revoked from PUBLIC. */
  restrictFunctions: boolean;
}

/**
 * Creates the two roles, the owner of the catalog and the reader (docs/design/statements-and-versions.md#datasources-and-secrets), the schema of the catalog,
 * and the reader's right to read what the developer's role creates. Can be run again: passwords and settings are set again.
 *
 * @returns a line for each restriction of the reader that the server refused
 */
export async function setUpRoles(setup: RoleSetup): Promise<string[]> {
  const { exec, passwords, developer, developerPassword, database, statementTimeoutMs = 30_000, names = DEPLOYED } = setup;
  const [owner, reader] = [quoteName(names.owner), quoteName(names.reader)];
  await ensureRole(exec, names.owner, passwords[CATALOG_OWNER]);
  await ensureRole(exec, names.reader, passwords[READER]);
  if (developerPassword !== undefined) {
    await ensureRole(exec, developer, developerPassword);
    await exec(`ALTER DATABASE ${quoteName(database)} OWNER TO ${quoteName(developer)}`);
    await exec(`REVOKE TEMPORARY ON DATABASE ${quoteName(database)} FROM PUBLIC`);
    await exec(`GRANT TEMPORARY ON DATABASE ${quoteName(database)} TO ${owner}`);
  }
  await exec('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await exec(`ALTER ROLE ${owner} SET "TimeZone" = 'UTC'`);
  await exec(`ALTER ROLE ${owner} SET "DateStyle" = 'ISO, MDY'`);
  const owners = [names.owner, developer];
  const refused = await restrictReader({
    exec,
    reader: names.reader,
    owners,
    statementTimeoutMs,
    functions: setup.restrictFunctions,
    functionUsers: names.functions,
  });
  // Only a member of the owner can give the schema to the owner.
  await exec(`DO $$ BEGIN IF NOT pg_has_role(current_user, ${quoteText(names.owner)}, 'MEMBER') THEN GRANT ${owner} TO CURRENT_USER; END IF; END $$`);
  await exec(`CREATE SCHEMA IF NOT EXISTS kg_catalog AUTHORIZATION ${owner}`);
  if (developerPassword !== undefined) {
    // like DATABASE_URL's role, which is a member of the owner: to read, not to write
    await exec(`GRANT USAGE ON SCHEMA kg_catalog TO ${quoteName(developer)}`);
    await exec(`GRANT SELECT ON ALL TABLES IN SCHEMA kg_catalog TO ${quoteName(developer)}`);
    await exec(`ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA kg_catalog GRANT SELECT ON TABLES TO ${quoteName(developer)}`);
  }
  await exec(`ALTER DEFAULT PRIVILEGES FOR ROLE ${quoteName(developer)} GRANT USAGE ON SCHEMAS TO ${reader}`);
  await exec(`ALTER DEFAULT PRIVILEGES FOR ROLE ${quoteName(developer)} GRANT SELECT ON TABLES TO ${reader}`);
  return refused;
}

/** Lets the reader read all existing objects on which the right can be granted, except the catalog and the system's schemas. */
export async function grantExisting(exec: Exec, reader: string): Promise<void> {
  await exec(`DO $$ DECLARE s name; BEGIN
    FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('kg_catalog', 'information_schema') LOOP
      BEGIN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', s, ${quoteText(reader)});
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', s, ${quoteText(reader)});
      EXCEPTION WHEN insufficient_privilege THEN NULL;
      END;
    END LOOP;
  END $$`);
}

async function ensureRole(exec: Exec, role: string, password: string): Promise<void> {
  await exec(`DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${quoteText(role)}) THEN CREATE ROLE ${quoteName(role)}; END IF; END $$`);
  await exec(`ALTER ROLE ${quoteName(role)} LOGIN PASSWORD ${quoteText(scramVerifier(password))}`);
}

/**
 * The form in which PostgreSQL stores a password (RFC 5802, RFC 7677; the form of pg_authid.rolpassword). It is sent instead of the password, so
 * that no password appears in a server's log. For ASCII passwords, which need no SASLprep.
 */
export function scramVerifier(password: string, salt = randomBytes(16)): string {
  const iterations = 4096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (key: string) => createHmac('sha256', salted).update(key).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}

/** A password of 32 letters and digits, which needs no escaping anywhere. */
export const newPassword = (): string => randomBytes(24).toString('base64url').replace(/[-_]/g, 'x');
