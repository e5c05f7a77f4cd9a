/** The snapshot of a caller has exactly the ontologies and agents that its grants let it see: the condition in SQL agrees with `canSee`. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { canSee } from '../../src/auth/grants.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { fold, forgetSnapshots, loadSnapshot, type Snapshot } from '../../src/catalog/snapshot.ts';
import { readConnection } from '../../src/connection.ts';
import { generated, patience } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';

const NAMES = ['alpha', 'Beta', 'gamma delta', 'ontology', 'agent', 'über'];

/** Resources on every level, also of kinds and names that have no object. */
const resource = fc.oneof(
  fc.constant([] as string[]),
  fc.constantFrom(['ontology'], ['agent'], ['datasource'], ['user']),
  fc.tuple(fc.constantFrom('ontology', 'agent', 'datasource', 'user', 'role'), fc.constantFrom(...NAMES, 'absent')),
  fc.tuple(fc.constant('ontology'), fc.constantFrom(...NAMES), fc.constantFrom('concept', 'view'), fc.constantFrom('a', 'beta')),
);
const grant = fc.record({ privilege: fc.constantFrom('edit', 'query', 'access', 'auth'), resource, all: fc.boolean(), byRole: fc.boolean() });

describe('the snapshot of a caller', () => {
  let s: TestService;
  let load: (fresh: boolean) => Promise<Snapshot>;
  beforeAll(async () => {
    s = await startService();
    for (const name of NAMES) await s.rows(`CREATE ONTOLOGY "${name}"`);
    const agent = (name: string, ...of: string[]) => s.rows(`CREATE AGENT "${name}" ONTOLOGY (${of.map((o) => `"${o}"`).join(', ')})`);
    await agent('alpha', 'Beta');
    await agent('Beta', 'gamma delta', 'über');
    await agent('helper', 'ontology');
    await s.rows('CREATE USER ann; CREATE ROLE readers; GRANT ROLE readers TO USER ann');
    const db = neonDb(readConnection(s.database.secret(CATALOG_OWNER)));
    load = (fresh) => {
      forgetSnapshots(0);
      return loadSnapshot({ kind: 'name', name: 'ann', email: null }, { db, now: Date.now, waitUntil: () => undefined, fresh });
    };
  });
  afterAll(() => s?.close());

  const setGrants = async (grants: readonly { privilege: string; resource: readonly string[]; all: boolean; byRole: boolean }[]): Promise<void> => {
    const of = (kind: 'user' | 'role') => `(SELECT id FROM kg_catalog.${kind}s WHERE key = '${kind === 'user' ? 'ann' : 'readers'}')`;
    await s.database.superuser(`DELETE FROM kg_catalog.grants WHERE user_id = ${of('user')} OR role_id = ${of('role')}`);
    for (const { privilege, resource: parts, all, byRole } of grants) {
      const [name, key] = [JSON.stringify(parts), JSON.stringify(parts.map((part) => fold(part)))];
      await s.database.superuser(`INSERT INTO kg_catalog.grants (${byRole ? 'role_id' : 'user_id'}, privilege, resource, resource_key, is_all)
        VALUES (${of(byRole ? 'role' : 'user')}, '${privilege}', '${name}', '${key}', ${all}) ON CONFLICT DO NOTHING`);
    }
  };

  it(
    'has what its grants let it see, and no other ontology or agent',
    async () => {
      let seen = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(grant, { maxLength: 4 }), async (grants) => {
          await setGrants(grants);
          const [own, whole] = [await load(false), await load(true)];
          expect(whole.isWhole).toBe(true);
          expect(whole.ontologies.map((o) => o.name).sort()).toEqual([...NAMES].sort());
          const holder = { isAdmin: false, grants: whole.grants };
          expect(own.grants).toEqual(whole.grants);
          const visible = whole.ontologies.filter((o) => canSee(holder, ['ontology', o.name]));
          const keys = visible.map((o) => o.key);
          const agents = whole.agents.filter((a) => canSee(holder, ['agent', a.name]) || a.ontologies.some((key) => keys.includes(key)));
          seen += visible.length;
          if (own.isWhole) expect([own.ontologies, own.agents]).toEqual([whole.ontologies, whole.agents]);
          // a grant may be on the ontology although no privilege follows from it, such as one that is not ON ALL below it
          else expect([own.ontologies, own.agents]).toEqual([visible, agents]);
        }),
        generated(50),
      );
      expect(seen).toBeGreaterThan(0);
    },
    patience(60_000),
  );

  it('is whole for administrators, for the built-in one also without its role', async () => {
    await setGrants([]);
    expect((await load(false)).ontologies).toEqual([]);
    await s.rows('GRANT ROLE admin TO USER ann');
    expect((await load(false)).ontologies.map((o) => o.name).sort()).toEqual([...NAMES].sort());
    await s.rows('REVOKE ROLE admin FROM USER ann');
    expect((await load(false)).ontologies).toEqual([]);
    await s.database.superuser("DELETE FROM kg_catalog.role_members WHERE user_id = '00000000-0000-4000-8000-000000000001'");
    forgetSnapshots(0);
    expect((await s.rows('SHOW ONTOLOGIES')).length).toBe(NAMES.length);
  });
});
