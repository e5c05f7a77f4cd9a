/**
 * Random scripts of a user who may create users, roles, agents and ontologies, and sees all of them: no script changes an object of somebody else, gives its writer the
 * rights of an administrator, or fails. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkUntil } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { admins, ask, by, catalog, s, startCallers } from './callers.ts';

const SIZES = sizesOf('attacks/makers');
const KINDS = ['user', 'role', 'agent', 'ontology'];

let token = '';
beforeAll(async () => {
  await startCallers();
  await admins(
    "CREATE USER vic PASSWORD 'Vic-Password-1' OPTIONS (email = 'vic@corp.example', tenant = 't1'); CREATE USER chief; GRANT ROLE admin TO USER chief",
    'CREATE ROLE boss; GRANT ROLE boss TO USER vic; GRANT QUERY ON ALL ontology.shop TO ROLE boss; GRANT EDIT ON user.vic TO USER vic; GRANT AUTH ON user.vic TO USER chief',
    "CREATE TOKEN FOR vic; CREATE TOKEN FOR chief; CREATE AGENT clerk ONTOLOGY (shop) OPTIONS (max_limit = '5')",
    `CREATE USER maker; ${KINDS.map((kind) => `GRANT EDIT ON ${kind} TO USER maker; GRANT ACCESS ON ALL ${kind} TO USER maker`).join('; ')}`,
    'GRANT QUERY ON ALL ontology.shop TO USER maker; GRANT ACCESS ON ALL datasource TO USER maker',
  );
  await s.rows("CREATE POLICY some ON CONCEPT city TO PUBLIC USING (svc_has_role('boss')); CREATE EXAMPLE 'cities' AS SELECT name FROM svc.city", 'shop');
  token = String((await admins('CREATE TOKEN FOR maker'))[0]?.token);
});
afterAll(() => s?.close());

const from = <T>(...of: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...of);
const user = from('vic', 'VIC', '"Vic"', 'chief', 'admin', 'maker', 'new1', 'new2', 'vıc', 'ＶＩＣ');
const role = from('boss', 'BOSS', 'admin', 'Admin', 'newr', 'newr2');
const resource = from(
  ...['ontology', 'ontology.shop', 'ontology.shop.concept.city', 'ontology.newo', 'user', 'user.vic', 'user.chief', 'user.admin', 'user.new1'],
  ...['role', 'role.boss', 'role.admin', 'role.newr', 'agent', 'agent.clerk', 'agent.newa', 'datasource', 'datasource.main'],
);
const grantee = fc.oneof(
  user.map((u) => `USER ${u}`),
  role.map((r) => `ROLE ${r}`),
);
/** The beginning of a statement that creates an object of a kind. */
const create = (kind: string): fc.Arbitrary<string> => from(`CREATE ${kind}`, `CREATE ${kind} IF NOT EXISTS`, `CREATE OR REPLACE ${kind}`);
const password = " PASSWORD 'x-Long-Password-1'";
const options = ["email = 'vic@corp.example'", "email = 'VIC@corp.example'", "email = 'vic'", "tenant = 't2'", "email = 'chief', tenant = 't1'"].map(
  (o) => ` OPTIONS (${o})`,
);

const statement: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(create('USER'), user, from('', password), from('', ...options)).map((parts) => `${parts[0]} ${parts.slice(1).join('')}`),
  fc
    .tuple(user, from("PASSWORD = 'x-Long-Password-2'", "ACTIVE = 'false'", "ACTIVE = 'true'", "EMAIL = 'vic@corp.example'", "EMAIL = 'maker2@x.example'"))
    .map(([u, what]) => `ALTER USER ${u} SET ${what}`),
  fc.tuple(from('DROP USER', 'CREATE TOKEN FOR', 'SHOW TOKEN FOR'), user).map((parts) => parts.join(' ')),
  fc.tuple(fc.oneof(create('ROLE'), from('DROP ROLE')), role).map((parts) => parts.join(' ')),
  fc.tuple(role, user).map(([r, u]) => `GRANT ROLE ${r} TO USER ${u}`),
  fc.tuple(role, user).map(([r, u]) => `REVOKE ROLE ${r} FROM USER ${u}`),
  fc
    .tuple(from('ACCESS', 'QUERY', 'EDIT', 'AUTH'), from('', 'ALL '), resource, grantee, from('', ' WITH GRANT OPTION'))
    .map(([privilege, all, on, to, more]) => `GRANT ${privilege} ON ${all}${on} TO ${to}${more}`),
  fc.tuple(from('ACCESS', 'QUERY', 'EDIT', 'AUTH'), from('', 'ALL '), resource, grantee).map(([p, all, on, of]) => `REVOKE ${p} ON ${all}${on} FROM ${of}`),
  fc
    .tuple(create('AGENT'), from('clerk', 'CLERK', 'newa'), from('shop', 'newo'), from('', " OPTIONS (max_limit = '9')"))
    .map(([begin, name, ontology, more]) => `${begin} ${name} ONTOLOGY (${ontology})${more}`),
  fc.tuple(fc.oneof(create('ONTOLOGY'), from('DROP ONTOLOGY')), from('shop', 'newo')).map((parts) => parts.join(' ')),
  from(
    ...['DROP AGENT clerk', 'DROP AGENT newa', "ALTER ONTOLOGY shop SET description = 'x'", "ALTER ONTOLOGY shop SET allowed_functions = 'pg_sleep'"],
    ...['DROP POLICY some', 'CREATE OR REPLACE POLICY some ON CONCEPT city TO PUBLIC USING (true)', 'REFRESH PERMISSIONS', 'DROP DATASOURCE main'],
    ...[
      "DROP EXAMPLE 'cities'",
      "CREATE OR REPLACE EXAMPLE 'cities' AS SELECT id FROM svc.city",
      'DROP CONCEPT city',
      'CREATE OR REPLACE CONCEPT city (id bigint)',
    ],
    ...["CREATE DATASOURCE more TYPE postgres SECRET 'DATASOURCE_MAIN'", "CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_MORE'"],
  ),
);

/** The rows of all objects that the maker did not create. */
async function others(): Promise<string> {
  const users = "(SELECT id FROM kg_catalog.users WHERE name IN ('vic', 'chief', 'admin'))";
  const roles = "(SELECT id FROM kg_catalog.roles WHERE name IN ('boss', 'admin'))";
  const rows = await Promise.all(
    [
      `users WHERE id IN ${users}`,
      `tokens WHERE user_id IN ${users}`,
      `roles WHERE id IN ${roles}`,
      `role_members WHERE role_id IN ${roles}`,
      "agents WHERE name = 'clerk'",
      "ontologies WHERE name = 'shop'",
      "grants WHERE resource_key ->> 1 IN ('shop', 'vic', 'chief', 'admin', 'boss', 'clerk', 'main')",
      'policies',
      'examples',
      'datasources',
    ].map((table) => catalog(`SELECT to_jsonb(t) - 'last_used' AS row FROM kg_catalog.${table.replace(/^\w+/, '$& t')} ORDER BY 1`)),
  );
  return JSON.stringify(rows);
}

it('change no object of others', { timeout: patience(120_000) }, async () => {
  const before = await others();
  let accepted = 0;
  const property = fc.asyncProperty(fc.array(statement, { minLength: 1, maxLength: 3 }), async (list) => {
    const sql = list.join('; ');
    const { status, json } = await ask(sql, by(token), /POLICY|EXAMPLE|CONCEPT/.test(sql) ? 'shop' : '');
    expect(status, `${sql}\n${JSON.stringify(json)}`).toBeLessThan(500);
    if (status !== 200) return;
    accepted++;
    expect(await others(), sql).toBe(before);
  });
  const { failed, errorInstance, counterexample } = await checkUntil(property, SIZES.scripts, () => accepted > SIZES.scripts / 40, true);
  if (failed) throw new Error(`SEED=${SEED} ${JSON.stringify(counterexample)}`, { cause: errorInstance });
  expect(accepted).toBeGreaterThan(SIZES.scripts / 40);
});
