import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../../src/auth/authenticate.ts';
import type { AccessLists } from '../../../../src/catalog/access.ts';
import { resourceText, visibleAccess } from '../../../../src/service/caller/system-access.ts';

const user = (name: string) => ({ name, email: null, tenant: null, active: true, firstName: null, lastName: null, created: '2026-01-01T00:00:00+00:00' });
const grant = (kind: 'user' | 'role', grantee: string, ...resource: string[]) => ({
  kind,
  grantee,
  privilege: 'query' as const,
  resource,
  all: true,
  grantOption: false,
});
const lists: AccessLists = {
  users: [user('admin'), user('Ann'), user('bob')],
  roles: [
    { role: 'admin', user: 'admin' },
    { role: 'clerks', user: 'Ann' },
    { role: 'clerks', user: 'bob' },
    { role: 'empty', user: null },
    { role: 'ops', user: 'bob' },
  ],
  grants: [
    grant('user', 'Ann', 'ontology', 'shop'),
    grant('user', 'bob', 'ontology', 'hidden'),
    grant('user', 'bob', 'ontology', 'shop'),
    grant('role', 'clerks', 'ontology', 'shop'),
    grant('role', 'ops', 'ontology', 'shop'),
  ],
};
const caller = (name: string, roles: string[], grants: string[][], isAdmin = false) =>
  ({
    principal: { name, roles, isAdmin, grants: grants.map((key) => ({ privilege: 'access', resource: key, key, all: true, grantOption: false })) },
  }) as unknown as Caller;

describe('users, roles and grants', () => {
  it('are all shown to an admin', () => {
    expect(visibleAccess(caller('root', [], [], true), lists)).toBe(lists);
  });

  it('are shown to another caller if they are its own', () => {
    const seen = visibleAccess(caller('ann', ['clerks'], [['ontology', 'shop']]), lists);
    expect(seen.users.map((u) => u.name)).toEqual(['Ann']);
    expect(seen.roles).toEqual([{ role: 'clerks', user: 'Ann' }]);
    expect(seen.grants.map((g) => [g.grantee, ...g.resource])).toEqual([
      ['Ann', 'ontology', 'shop'],
      ['clerks', 'ontology', 'shop'],
    ]);
  });

  it('are shown with rights on them, without hidden resources', () => {
    const seen = visibleAccess(
      caller(
        'ann',
        [],
        [
          ['ontology', 'shop'],
          ['user', 'bob'],
          ['role', 'empty'],
          ['role', 'admin'],
        ],
      ),
      lists,
    );
    expect(seen.users.map((u) => u.name)).toEqual(['Ann', 'bob']);
    expect(seen.roles).toEqual([
      { role: 'admin', user: null },
      { role: 'empty', user: null },
    ]);
    expect(seen.grants.map((g) => [g.grantee, ...g.resource])).toEqual([
      ['Ann', 'ontology', 'shop'],
      ['bob', 'ontology', 'shop'],
    ]);
  });

  it('name resources like GRANT', () => {
    expect(resourceText(['ontology', 'my shop', 'concept', 'a.b'])).toBe('ontology.`my shop`.concept.`a.b`');
    expect(resourceText(['ontology', 'store'])).toBe('ontology.store');
  });
});
