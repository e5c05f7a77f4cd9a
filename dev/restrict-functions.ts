// `node dev/restrict-functions.ts` prints docs/restrict-functions.sql.
import { FUNCTION_FAMILIES, LISTED_FUNCTIONS } from '../src/cli/reader-functions.ts';
import { quoteName, quoteText } from './sql/role-settings.ts';

/** The role of docs/restrict-functions.sql through which other roles keep the right to execute the listed functions. */
export const FUNCTION_USERS = 'kg_functions';

/**
 * One statement that revokes EXECUTE on the listed functions from PUBLIC and from `readers`, in the current database.
 * All other roles of the server keep it: they become members of the role `users`, which gets EXECUTE where PUBLIC had it.
 * Run it again for functions and roles that were created later. Functions that the current role does not own
 * (for a superuser: none) are not changed.
 */
export function restrictFunctions(readers: readonly string[], users: string = FUNCTION_USERS): string {
  const group = quoteName(users).replaceAll('%', '%%');
  return `DO $restrict$
DECLARE
  readers CONSTANT name[] := ARRAY[${readers.map(quoteText).join(', ')}];
  own CONSTANT oid[] := ARRAY(SELECT f.oid FROM (
${LISTED_FUNCTIONS}
  ) f JOIN pg_catalog.pg_proc p ON p.oid = f.oid WHERE pg_has_role(p.proowner, 'USAGE'));
  functions text;
  member name;
  reader name;
BEGIN
  IF own = '{}' THEN
    RAISE NOTICE 'the role % owns none of the functions: a superuser can restrict them', current_user;
    RETURN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = ${quoteText(users)}) THEN
    CREATE ROLE ${quoteName(users)} NOLOGIN;
  END IF;
  FOR member IN SELECT r.rolname FROM pg_catalog.pg_roles r
    WHERE NOT r.rolsuper AND r.rolname !~ '^pg_' AND r.rolname <> ALL (readers) AND NOT pg_has_role(r.oid, ${quoteText(users)}, 'MEMBER')
      AND NOT EXISTS (SELECT FROM unnest(readers) x WHERE pg_has_role(x, r.oid, 'MEMBER'))
  LOOP
    EXECUTE format('GRANT ${group} TO %I', member);
  END LOOP;
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO functions FROM pg_catalog.pg_proc p
    WHERE p.oid = ANY (own) AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0);
  IF functions IS NOT NULL THEN
    EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO ${group}', functions);
    EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', functions);
  END IF;
  FOREACH reader IN ARRAY readers LOOP
    SELECT string_agg(p.oid::regprocedure::text, ', ') INTO functions FROM pg_catalog.pg_proc p
      WHERE p.oid = ANY (own) AND EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = reader::regrole);
    IF functions IS NOT NULL THEN
      EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM %I', functions, reader);
    END IF;
  END LOOP;
END $restrict$`;
}

/** The file docs/restrict-functions.sql. */
export function restrictFunctionsScript(): string {
  const reasons = FUNCTION_FAMILIES.map(({ does, why }) => `--   ${does}: ${why.replaceAll('’', "'")}`);
  return `-- Takes the right to execute certain functions of PostgreSQL 15 to 18 and of its extensions from PUBLIC, and so from
-- kg_reader, in the database that it runs in. Run it as a superuser, in each database that is a datasource:
--
--   psql 'postgresql://postgres@db.internal/yourdb' -f docs/restrict-functions.sql
--
-- All other roles of the server keep the right: they become members of the role kg_functions, which gets it. A role that
-- is made later gets it by GRANT kg_functions TO it, or when the script runs again. Run it again too after CREATE EXTENSION
-- and after an upgrade of PostgreSQL. Put the roles of further datasources into "readers" below.
--
-- The functions, and why the role does not need them:
${reasons.join('\n')}
--
-- Made by \`node dev/restrict-functions.ts\` from the list in src/cli/reader-functions.ts.

${restrictFunctions(['kg_reader'])};
`;
}

if (import.meta.main) process.stdout.write(restrictFunctionsScript());
