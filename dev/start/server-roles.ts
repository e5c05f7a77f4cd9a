import { createHash } from 'node:crypto';
import type { Exec } from '../reader.ts';
import type { RoleNames } from '../roles.ts';
import { quoteName, quoteText } from '../sql/role-settings.ts';
import { StartFailure } from './failure.ts';

/**
 * The roles that `npm start` makes on the server of DATABASE_URL. Roles belong to the whole server, where another service may use the names of
 * docs/deploy.md. So these have names of their own, one set for each database, and a comment by which `npm start` recognizes them.
 */
export function serverRoles(database: string): Required<RoleNames> {
  const id = createHash('sha256').update(database).digest('hex').slice(0, 8);
  return { owner: `kg_start_owner_${id}`, reader: `kg_start_reader_${id}`, functions: `kg_start_functions_${id}` };
}

const mark = (database: string): string => `Made by npm start for database ${database}`;
/** Added to the comment if PUBLIC could create objects in schema public before. */
const OPEN_PUBLIC = '; PUBLIC could create in schema public';

const STATE = (database: string, names: Required<RoleNames>): string => `SELECT
  ARRAY(SELECT r.rolname::text FROM pg_roles r WHERE r.rolname IN (${Object.values(names).map(quoteText).join(', ')}) ORDER BY 1) AS existing,
  ARRAY(SELECT r.rolname::text FROM pg_roles r WHERE r.rolname IN (${Object.values(names).map(quoteText).join(', ')})
    AND NOT starts_with(coalesce(shobj_description(r.oid, 'pg_authid'), ''), ${quoteText(mark(database))}) ORDER BY 1) AS others,
  coalesce(shobj_description(to_regrole(${quoteText(names.owner)}), 'pg_authid'), '') LIKE ${quoteText(`%${OPEN_PUBLIC}`)} AS was_open,
  (SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = 'kg_catalog' AND nspowner IS DISTINCT FROM to_regrole(${quoteText(names.owner)})) AS catalog_of,
  EXISTS (SELECT FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
    WHERE n.nspname = 'public' AND a.grantee = 0 AND a.privilege_type = 'CREATE') AS is_open`;

interface State {
  /** Which of the roles exist. */
  existing: string[];
  /** Existing roles without the comment. */
  others: string[];
  was_open: boolean;
  is_open: boolean;
  /** The owner of the catalog, if that is another role. */
  catalog_of: string | null;
}

/** @throws StartFailure if a role or the catalog belongs to somebody else */
async function ownState(exec: Exec, database: string, names: Required<RoleNames>): Promise<State> {
  const state = (await exec(STATE(database, names))).rows[0] as unknown as State;
  if (state.catalog_of !== null)
    throw new StartFailure(
      `the database ${database} has a catalog of the role ${state.catalog_of}, which npm start did not make: use another database, or remove it with DROP SCHEMA kg_catalog CASCADE`,
    );
  if (state.others.length)
    throw new StartFailure(`npm start did not make the role ${state.others.join(', ')} of the server and does not change it: use another database`);
  return state;
}

/**
 * Creates and marks those of the roles that are missing, after a check that none of them and no catalog belongs to somebody else.
 *
 * @param functions true if EXECUTE on functions will be revoked from PUBLIC
 * @returns a line for each thing that it makes or that setUpRoles will change
 * @throws StartFailure if a role or the catalog belongs to somebody else
 */
export async function claimRoles(exec: Exec, database: string, developer: string, functions: boolean): Promise<string[]> {
  const names = serverRoles(database);
  const state = await ownState(exec, database, names);
  const opened = state.is_open && !state.existing.includes(names.owner);
  const uses: readonly (readonly [name: string, use: string])[] = [
    [names.owner, 'owns the schema kg_catalog, which stores the ontologies'],
    [names.reader, `runs the queries: it may read what ${developer} may let it read, and the tables that ${developer} makes later`],
    ...(functions ? [[names.functions, 'keeps, for all other roles, the functions that PUBLIC loses'] as const] : []),
  ];
  const made: string[] = [];
  for (const [name, use] of uses.filter(([name]) => !state.existing.includes(name))) {
    const comment = mark(database) + (opened && name === names.owner ? OPEN_PUBLIC : '');
    // One statement, because the next start would refuse a role without its comment.
    await exec(`DO $$ BEGIN CREATE ROLE ${quoteName(name)}; COMMENT ON ROLE ${quoteName(name)} IS ${quoteText(comment)}; END $$`);
    made.push(`made the role ${name}: it ${use}`);
  }
  if (opened) made.push('revoked CREATE on schema public from PUBLIC');
  return made.length ? [...made, 'npm run reset -- --database removes all of this'] : [];
}

/**
 * Removes from the database and its server what `npm start` made there: the catalog, the sample's tables, the roles and their rights. All or nothing.
 *
 * @returns a line for each thing that was removed
 * @throws StartFailure if a role or the catalog belongs to somebody else
 */
export async function removeRoles(exec: Exec, database: string): Promise<string[]> {
  const names = serverRoles(database);
  const { existing, was_open: wasOpen } = await ownState(exec, database, names);
  if (existing.length === 0) return [];
  await exec('BEGIN');
  try {
    for (const name of existing)
      await exec(`DO $$ BEGIN IF NOT pg_has_role(${quoteText(name)}, 'MEMBER') THEN GRANT ${quoteName(name)} TO CURRENT_USER; END IF; END $$`);
    if (existing.includes(names.functions)) await exec(giveBack(names.functions));
    const removed = ['DROP SCHEMA IF EXISTS kg_catalog CASCADE'];
    const [sample] = (await exec(SAMPLE)).rows;
    if (sample) removed.push('DROP SCHEMA world CASCADE');
    for (const sql of removed) await exec(sql);
    if (wasOpen) await exec('GRANT CREATE ON SCHEMA public TO PUBLIC');
    for (const name of existing) await exec(`DROP OWNED BY ${quoteName(name)}`);
    for (const name of existing) await exec(`DROP ROLE ${quoteName(name)}`);
    await exec('COMMIT');
    return ['the schema kg_catalog', ...(sample ? ['the schema world'] : []), ...existing.map((name) => `the role ${name}`)].map((what) => `removed ${what}`);
  } catch (error) {
    await exec('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

const SAMPLE = "SELECT FROM pg_namespace WHERE nspname = 'world' AND obj_description(oid, 'pg_namespace') LIKE 'Sample graph world:%'";

/** Grants EXECUTE on the functions of this role to PUBLIC again. */
const giveBack = (role: string): string => `DO $$ DECLARE functions text; BEGIN
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO functions FROM pg_proc p
    WHERE EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = ${quoteText(role)}::regrole AND a.privilege_type = 'EXECUTE');
  IF functions IS NOT NULL THEN EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', functions); END IF;
END $$`;
