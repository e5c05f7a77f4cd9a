import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { can, canAll, canGrant, canSee, type Holder, includes } from '../../../src/auth/grants.ts';
import type { GrantRow, Privilege } from '../../../src/catalog/snapshot.ts';
import { generated } from '../../support/generated.ts';

const grant = (text: string): GrantRow => {
  const match = /^(\w+) ON (ALL )?(\S+)( WITH GRANT OPTION)?$/.exec(text) as RegExpExecArray;
  const resource = (match[3] as string).split('.');
  return {
    privilege: (match[1] as string).toLowerCase() as Privilege,
    resource,
    key: resource.map((p) => p.toLowerCase()),
    all: match[2] !== undefined,
    grantOption: match[4] !== undefined,
  };
};
const holder = (...grants: string[]): Holder => ({ isAdmin: false, grants: grants.map(grant) });
const on = (text: string): string[] => text.split('.');

describe('grants', () => {
  it('EDIT includes QUERY includes ACCESS; AUTH is separate', () => {
    const order: Privilege[] = ['access', 'query', 'edit'];
    for (const [i, held] of order.entries()) for (const [j, wanted] of order.entries()) expect(includes(held, wanted)).toBe(j <= i);
    for (const p of order) expect([includes('auth', p), includes(p, 'auth')]).toEqual([false, false]);
    expect(includes('auth', 'auth')).toBe(true);
  });

  it('without ALL cover only that object', () => {
    const h = holder('QUERY ON ontology.store');
    expect(can(h, 'query', on('ontology.store'))).toBe(true);
    expect(can(h, 'query', on('ontology.store.concept.city'))).toBe(false);
    expect(can(h, 'query', on('ontology'))).toBe(false);
    expect(canAll(h, 'query', on('ontology.store'))).toBe(false);
  });

  it('with ALL cover everything below', () => {
    const h = holder('QUERY ON ALL ontology');
    for (const r of ['ontology', 'ontology.store', 'ontology.store.view.v']) expect(can(h, 'query', on(r))).toBe(true);
    expect(can(h, 'edit', on('ontology.store'))).toBe(false);
    expect(can(h, 'query', on('datasource.main'))).toBe(false);
  });

  it('match names without case, and whole names only', () => {
    const h = holder('QUERY ON ALL ontology.Store');
    expect(can(h, 'query', on('ontology.STORE.concept.City'))).toBe(true);
    expect(can(h, 'query', on('ontology.store2'))).toBe(false);
  });

  it('on a concept show the name of its ontology, and no more', () => {
    const h = holder('QUERY ON ontology.store.concept.city');
    expect(canSee(h, on('ontology.store'))).toBe(true);
    expect(can(h, 'access', on('ontology.store'))).toBe(false);
    expect(canSee(h, on('ontology.other'))).toBe(false);
    expect(canSee(h, on('ontology.store.concept.line'))).toBe(false);
  });

  it('can be granted further only with grant option, as far as they cover', () => {
    const h = holder('QUERY ON ALL ontology.store WITH GRANT OPTION', 'EDIT ON ALL ontology.store');
    expect(canGrant(h, 'query', on('ontology.store.concept.city'), false)).toBe(true);
    expect(canGrant(h, 'access', on('ontology.store'), true)).toBe(true);
    expect(canGrant(h, 'edit', on('ontology.store'), false)).toBe(false);
    expect(canGrant(h, 'query', on('ontology'), true)).toBe(false);
    const one = holder('QUERY ON ontology.store WITH GRANT OPTION');
    expect(canGrant(one, 'query', on('ontology.store'), false)).toBe(true);
    expect(canGrant(one, 'query', on('ontology.store'), true)).toBe(false);
  });

  it('admins have all of it without any grant', () => {
    const admin: Holder = { isAdmin: true, grants: [] };
    expect([
      can(admin, 'edit', on('ontology.x')),
      canAll(admin, 'edit', on('user')),
      canSee(admin, on('role.r')),
      canGrant(admin, 'edit', on('datasource'), true),
    ]).toEqual([true, true, true, true]);
  });

  const names = fc.constantFrom('a', 'b', 'C');
  const resources = fc.oneof(
    fc.constant(['ontology']),
    names.map((n) => ['ontology', n]),
    fc.tuple(names, fc.constantFrom('concept', 'view'), names).map(([o, k, n]) => ['ontology', o, k, n]),
  );
  const rows = fc.record({
    privilege: fc.constantFrom<Privilege>('access', 'query', 'edit'),
    resource: resources,
    all: fc.boolean(),
    grantOption: fc.boolean(),
  });
  const grants = fc.array(
    rows.map((r): GrantRow => ({ ...r, key: (r.resource as string[]).map((p) => p.toLowerCase()) })),
    { maxLength: 5 },
  );

  it('obey these laws', () => {
    fc.assert(
      fc.property(grants, grants, resources, fc.constantFrom<Privilege>('access', 'query', 'edit'), (g, more, resource, privilege) => {
        const h: Holder = { isAdmin: false, grants: g };
        const wider: Holder = { isAdmin: false, grants: [...g, ...more] };
        // more grants never remove a right
        if (can(h, privilege, resource)) expect(can(wider, privilege, resource)).toBe(true);
        // a right on everything below is a right on the object and on each object below it
        if (canAll(h, privilege, resource)) {
          expect(can(h, privilege, resource)).toBe(true);
          expect(can(h, privilege, [...resource, 'x'])).toBe(true);
        }
        // a stronger privilege includes the weaker, and a user with one sees the object and what contains it
        if (can(h, 'edit', resource)) expect(can(h, 'query', resource)).toBe(true);
        if (can(h, 'query', resource)) expect(can(h, 'access', resource)).toBe(true);
        if (can(h, privilege, resource)) for (let n = 1; n <= resource.length; n++) expect(canSee(h, resource.slice(0, n))).toBe(true);
        // no user grants a right that it does not have
        if (canGrant(h, privilege, resource, false)) expect(can(h, privilege, resource)).toBe(true);
        if (canGrant(h, privilege, resource, true)) expect(canAll(h, privilege, resource)).toBe(true);
        // without a grant there is no right
        expect(can({ isAdmin: false, grants: [] }, privilege, resource)).toBe(false);
      }),
      generated(2000),
    );
  });
});

describe('many grants', () => {
  const parts = fc.constantFrom('ontology', 'a', 'b', 'concept', 'A');
  const grant = fc.record({
    privilege: fc.constantFrom('auth' as const, 'access' as const, 'query' as const, 'edit' as const),
    key: fc.array(fc.constantFrom('ontology', 'a', 'b', 'concept'), { minLength: 1, maxLength: 4 }),
    all: fc.boolean(),
    grantOption: fc.boolean(),
  });

  it('answer as if each of them were compared', () => {
    const rank = { auth: 0, access: 1, query: 2, edit: 3 };
    const includes = (g: keyof typeof rank, w: keyof typeof rank) => g === w || (g !== 'auth' && w !== 'auth' && rank[g] >= rank[w]);
    const prefix = (p: readonly string[], of: readonly string[]) => p.length <= of.length && p.every((x, i) => x === of[i]);
    fc.assert(
      fc.property(
        fc.array(grant, { maxLength: 6 }),
        grant.map((g) => g.privilege),
        fc.array(parts, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (given, wanted, resource, all) => {
          const grants = given.map((g) => ({ ...g, resource: g.key }) as unknown as GrantRow);
          const holder = { isAdmin: false, grants };
          const key = resource.map((r) => r.toLowerCase());
          const covers = (g: GrantRow) => prefix(g.key, key) && (g.all || g.key.length === key.length);
          expect([can(holder, wanted, resource), canAll(holder, wanted, resource), canSee(holder, resource), canGrant(holder, wanted, resource, all)]).toEqual([
            grants.some((g) => includes(g.privilege, wanted) && covers(g)),
            grants.some((g) => g.all && includes(g.privilege, wanted) && prefix(g.key, key)),
            grants.some((g) => covers(g) || (g.key.length > key.length && prefix(key, g.key))),
            grants.some((g) => g.grantOption && includes(g.privilege, wanted) && (all ? g.all && prefix(g.key, key) : covers(g))),
          ]);
        },
      ),
      generated(2000),
    );
  });

  it('are not visited by each check', () => {
    const read = vi.fn((key: readonly string[]) => key);
    const grants = Array.from({ length: 10_000 }, (_, i) => ({
      privilege: 'query' as const,
      resource: [],
      get key() {
        return read(['ontology', 'a', 'concept', `x${i}`]);
      },
      all: false,
      grantOption: false,
    })) as unknown as GrantRow[];
    const holder = { isAdmin: false, grants };
    for (let i = 0; i < 100; i++)
      expect([can(holder, 'query', ['ontology', 'a', 'concept', `x${i}`]), canSee(holder, ['ontology', 'b'])]).toEqual([true, false]);
    expect(read.mock.calls.length).toBe(10_000);
    // a script adds a grant to its own list
    grants.push({ privilege: 'edit', resource: ['ontology', 'b'], key: ['ontology', 'b'], all: true, grantOption: true } as unknown as GrantRow);
    expect(can(holder, 'edit', ['ontology', 'b', 'view', 'v'])).toBe(true);
  });
});

it('grants that a script adds are put into the tree, and the others are not read again', () => {
  let reads = 0;
  const row = (name: string): GrantRow => ({
    ...{ privilege: 'edit', resource: ['user', name], all: false, grantOption: false },
    get key() {
      reads++;
      return ['user', name];
    },
  });
  const grants = Array.from({ length: 1000 }, (_, i) => row(`u${i}`));
  const holder = { isAdmin: false, grants };
  expect(can(holder, 'edit', ['user', 'u7'])).toBe(true);
  reads = 0;
  for (let i = 0; i < 10; i++) {
    grants.push(row(`new${i}`));
    expect([can(holder, 'edit', ['user', `new${i}`]), can(holder, 'edit', ['user', 'u8']), can(holder, 'edit', ['user', 'other'])]).toEqual([
      true,
      true,
      false,
    ]);
  }
  expect(reads).toBe(10);
});
