/** A user whom others add to thousands of roles. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { startService, type TestService } from '../support/service.ts';

/** With the square of this number of steps, a statement takes longer than the service waits for the catalog. */
const ROLES = 20_000;

let s: TestService;
beforeAll(async () => {
  s = await startService();
});
afterAll(() => s?.close());

it('still gets an answer, with the rights of all of them', async () => {
  await s.rows('CREATE ONTOLOGY shop');
  await s.rows('CREATE CONCEPT last (a bigint, PRIMARY KEY (a)); CREATE CONCEPT other (b bigint, PRIMARY KEY (b))', 'shop');
  const token = await s.user('mia');
  const catalog = (sql: string) => s.database.exec(sql, [], CATALOG_OWNER);
  await catalog(`INSERT INTO kg_catalog.roles (name, key) SELECT 'r' || i, 'r' || i FROM generate_series(1, ${ROLES}) i`);
  await catalog(
    "INSERT INTO kg_catalog.role_members (role_id, user_id) SELECT r.id, u.id FROM kg_catalog.roles r, kg_catalog.users u WHERE r.key ~ '^r\\d' AND u.key = 'mia'",
  );
  await catalog(
    `INSERT INTO kg_catalog.grants (role_id, privilege, resource, resource_key) SELECT id, 'query', part, part FROM kg_catalog.roles,
      LATERAL (SELECT jsonb_build_array('ontology', 'shop', 'concept', CASE key WHEN 'r${ROLES}' THEN 'last' ELSE key END)) p(part) WHERE key ~ '^r\\d'`,
  );
  await s.rows('REFRESH PERMISSIONS');
  expect((await s.rows('SHOW CONCEPTS', 'shop', token)).map((c) => Object.values(c)[0])).toEqual(['last']);
});
