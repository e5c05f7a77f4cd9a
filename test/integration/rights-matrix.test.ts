/**
 * Users x ontologies x concepts x operations: each cell is allowed or refused as an independent, simple evaluation of the grants says
 * (docs/design/rights-and-visibility.md#seeing-and-reading: 404 for names in the path, 400 for names in a statement, 403 for visible objects without the
 * right).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

type Privilege = 'ACCESS' | 'QUERY' | 'EDIT';

const USERS: Readonly<Record<string, readonly string[]>> = {
  nobody: [],
  sees_north: ['ACCESS ON ALL ontology.north'],
  reads_north: ['QUERY ON ALL ontology.north'],
  edits_north: ['EDIT ON ALL ontology.north'],
  owns_north: ['EDIT ON ALL ontology.north WITH GRANT OPTION'],
  reads_all: ['QUERY ON ALL ontology'],
  lists_north: ['QUERY ON ontology.north'],
  edits_bare_north: ['EDIT ON ontology.north'],
  sees_a: ['ACCESS ON ontology.north.concept.a'],
  reads_a: ['QUERY ON ontology.north.concept.a'],
  edits_a: ['EDIT ON ontology.north.concept.a', 'ACCESS ON ontology.north.concept.b'],
  gives_a: ['QUERY ON ontology.north.concept.a WITH GRANT OPTION', 'ACCESS ON user.other'],
  reads_view: ['QUERY ON ontology.north.view.va'],
  crosses: ['ACCESS ON ontology.north.concept.a', 'QUERY ON ontology.south.concept.b'],
  makes: ['EDIT ON ontology', 'EDIT ON user', 'EDIT ON role', 'EDIT ON agent'],
};
const ONTOLOGIES = ['north', 'south'];
const CONCEPTS = ['a', 'b'];
const RANK: Readonly<Record<Privilege, number>> = { ACCESS: 1, QUERY: 2, EDIT: 3 };

interface Held {
  readonly rank: number;
  readonly all: boolean;
  readonly on: string;
  readonly option: boolean;
}
const held = (user: string): readonly Held[] =>
  (USERS[user] ?? []).map((grant) => {
    const [, privilege, all, on, option] = /^(\w+) ON (ALL )?(\S+)( WITH GRANT OPTION)?$/.exec(grant) as RegExpExecArray;
    return { rank: RANK[privilege as Privilege], all: all !== undefined, on: on as string, option: option !== undefined };
  });
const covers = (g: Held, on: string): boolean => g.on === on || (g.all && on.startsWith(`${g.on}.`));
const has = (user: string, privilege: Privilege, on: string): boolean => held(user).some((g) => g.rank >= RANK[privilege] && covers(g, on));
const knows = (user: string, on: string): boolean => held(user).some((g) => covers(g, on) || g.on.startsWith(`${on}.`));
const gives = (user: string, privilege: Privilege, on: string): boolean => held(user).some((g) => g.option && g.rank >= RANK[privilege] && covers(g, on));
const givesAll = (user: string, on: string): boolean => held(user).some((g) => g.option && g.all && g.rank === 3 && covers(g, on));

let service: TestService;
const tokens: Record<string, string> = {};

const call = async (user: string, method: string, path: string, body?: string, type = 'application/json') => {
  const headers = { 'x-api-key': tokens[user] ?? '', ...(body === undefined ? {} : { 'content-type': type }) };
  const response = await service.fetch(path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
};
const sql = (user: string, query: string, ontology = '') => call(user, 'POST', '/svc/api/query/', JSON.stringify({ ontology_name: ontology, query }));

interface Operation {
  readonly name: string;
  readonly run: (user: string, ontology: string, concept: string) => Promise<{ readonly status: number; readonly text: string }>;
  readonly expected: (user: string, ontology: string, concept: string) => number;
}

/** The expected result of a cell that names the ontology first and then an object in it. */
const named = (seesOntology: boolean, seesThing: boolean, may: boolean, missing: number): number =>
  !seesOntology ? 404 : !seesThing ? missing : may ? 200 : 403;
const ofConcept = (privilege: Privilege, missing: number) => (u: string, o: string, c: string) =>
  named(knows(u, `ontology.${o}`), has(u, 'ACCESS', `ontology.${o}.concept.${c}`), has(u, privilege, `ontology.${o}.concept.${c}`), missing);
const ofView = (missing: number) => (u: string, o: string) =>
  named(knows(u, `ontology.${o}`), has(u, 'ACCESS', `ontology.${o}.view.va`), has(u, 'QUERY', `ontology.${o}.view.va`), missing);
const ofOntology = (may: (u: string, o: string) => boolean) => (u: string, o: string) => named(knows(u, `ontology.${o}`), true, may(u, o), 404);

const OPERATIONS: readonly Operation[] = [
  { name: 'GET get_ontology', run: (u, o) => call(u, 'GET', `/svc/api/get_ontology/${o}/`), expected: ofOntology(() => true) },
  { name: 'POST get_ontology', run: (u, o) => call(u, 'POST', `/svc/api/get_ontology/${o}`), expected: ofOntology(() => true) },
  { name: 'GET openapi document', run: (u, o) => call(u, 'GET', `/svc/api/openapi/${o}.json`), expected: ofOntology(() => true) },
  { name: 'GET concept', run: (u, o, c) => call(u, 'GET', `/svc/api/q/${o}/concept/${c}`), expected: ofConcept('QUERY', 404) },
  { name: 'GET view', run: (u, o) => call(u, 'GET', `/svc/api/q/${o}/view/va`), expected: ofView(404) },
  { name: 'SELECT from a concept', run: (u, o, c) => sql(u, `SELECT id FROM svc.${c}`, o), expected: ofConcept('QUERY', 400) },
  {
    name: 'SELECT by the openapi family',
    run: (u, o, c) => call(u, 'POST', `/svc/openapi/ontology/${o}/query`, `SELECT id FROM svc.${c}`, 'text/plain'),
    expected: ofConcept('QUERY', 400),
  },
  { name: 'a concept in a sub-query', run: (u, o, c) => sql(u, `SELECT (SELECT count(*) FROM esvc.${c}) AS n`, o), expected: ofConcept('QUERY', 400) },
  { name: 'SELECT from the view', run: (u, o) => sql(u, 'SELECT id FROM vsvc.va', o), expected: ofView(400) },
  { name: 'EXPLAIN', run: (u, o, c) => sql(u, `EXPLAIN SELECT id FROM svc.${c}`, o), expected: ofConcept('QUERY', 400) },
  { name: 'DESC', run: (u, o, c) => sql(u, `DESC svc.${c}`, o), expected: ofConcept('ACCESS', 400) },
  { name: 'SHOW CONCEPTS', run: (u, o) => sql(u, 'SHOW CONCEPTS', o), expected: ofOntology(() => true) },
  { name: 'SHOW VERSIONS', run: (u, o) => sql(u, 'SHOW VERSIONS', o), expected: ofOntology(() => true) },
  { name: 'SHOW POLICIES', run: (u, o) => sql(u, 'SHOW POLICIES', o), expected: ofOntology(() => true) },
  { name: 'SELECT 1', run: (u, o) => sql(u, 'SELECT 1 AS one', o), expected: ofOntology(() => true) },
  { name: 'ALTER CONCEPT', run: (u, o, c) => sql(u, `ALTER CONCEPT ${c} UPDATE TAG t = 'x'`, o), expected: ofConcept('EDIT', 400) },
  {
    name: 'CREATE PROPERTY',
    run: (u, o) => sql(u, 'CREATE OR REPLACE PROPERTY spare string', o),
    expected: ofOntology((u, o) => has(u, 'EDIT', `ontology.${o}`)),
  },
  {
    name: 'ALTER ONTOLOGY',
    run: (u, o) => sql(u, `ALTER ONTOLOGY ${o} SET DESCRIPTION = 'x'`, o),
    expected: ofOntology((u, o) => has(u, 'EDIT', `ontology.${o}`)),
  },
  {
    name: 'CREATE EXAMPLE',
    run: (u, o) => sql(u, "CREATE OR REPLACE EXAMPLE 'which?' AS SELECT 1 AS one", o),
    expected: ofOntology((u, o) => has(u, 'EDIT', `ontology.${o}`)),
  },
  { name: 'SHOW EXAMPLES', run: (u, o) => sql(u, 'SHOW EXAMPLES', o), expected: ofOntology(() => true) },
  {
    name: 'CREATE POLICY',
    run: (u, o) => sql(u, 'CREATE OR REPLACE POLICY p ON PROPERTY spare MASK NULL', o),
    expected: ofOntology((u, o) => givesAll(u, `ontology.${o}`)),
  },
  {
    // for a caller who sees neither the ontology nor the concept, neither exists
    name: 'GRANT on a concept',
    run: (u, o, c) => sql(u, `GRANT QUERY ON ontology.${o}.concept.${c} TO USER other`),
    expected: (u, o, c) => {
      if (!knows(u, `ontology.${o}`) || !has(u, 'ACCESS', `ontology.${o}.concept.${c}`)) return 400;
      if (!gives(u, 'QUERY', `ontology.${o}.concept.${c}`)) return 403;
      return knows(u, 'user.other') ? 200 : 400;
    },
  },
  {
    name: 'DROP ONTOLOGY, refused',
    run: (u, o) => (has(u, 'EDIT', `ontology.${o}`) ? Promise.resolve({ status: 200, text: '' }) : sql(u, `DROP ONTOLOGY ${o}`)),
    expected: (u, o) => (!knows(u, `ontology.${o}`) ? 400 : has(u, 'EDIT', `ontology.${o}`) ? 200 : 403),
  },
];

/** Statements without an ontology: by the kind of object on which EDIT is needed; null: only administrators. */
const WHOLE: readonly (readonly [string, string | null])[] = [
  ['CREATE USER u_%', 'user'],
  ['CREATE ROLE r_%', 'role'],
  ['CREATE ONTOLOGY o_%', 'ontology'],
  ["CREATE DATASOURCE d_% TYPE postgres SECRET 'DATASOURCE_MAIN'", null],
  ['REFRESH PERMISSIONS', null],
];

beforeAll(async () => {
  service = await startService();
  await service.database.exec('CREATE SCHEMA m');
  await service.database.exec('CREATE TABLE m.t (id bigint PRIMARY KEY)');
  for (const o of ONTOLOGIES) {
    await service.rows(
      `CREATE ONTOLOGY ${o}; CREATE CONCEPT a (id bigint, PRIMARY KEY (id)); CREATE CONCEPT b (id bigint, PRIMARY KEY (id)); CREATE PROPERTY spare string;
      CREATE MAPPING ma INTO (a) AS SELECT id FROM m.t; CREATE MAPPING mb INTO (b) AS SELECT id FROM m.t; CREATE ONTOLOGY VIEW va AS SELECT id FROM svc.a`,
      o,
    );
  }
  await service.rows(['other', ...Object.keys(USERS)].map((user) => `CREATE USER ${user}`).join('; '));
  for (const [user, grants] of Object.entries(USERS)) {
    const statements = grants.map(
      (grant) => `GRANT ${grant.replace(' WITH GRANT OPTION', '')} TO USER ${user}${grant.endsWith('OPTION') ? ' WITH GRANT OPTION' : ''}`,
    );
    if (statements.length > 0) await service.rows(statements.join('; '));
    tokens[user] = String((await service.rows(`CREATE TOKEN FOR ${user}`))[0]?.token);
  }
});
afterAll(() => service?.close());

describe('the rights of users', () => {
  it.each(OPERATIONS.map((o) => [o.name, o] as const))('%s', async (_, { run, expected }) => {
    const wrong: string[] = [];
    let cells = 0;
    const outcomes = new Set<number>();
    for (const user of Object.keys(USERS)) {
      for (const ontology of ONTOLOGIES) {
        for (const concept of CONCEPTS) {
          const { status, text } = await run(user, ontology, concept);
          const wanted = expected(user, ontology, concept);
          outcomes.add(wanted);
          cells++;
          if (status !== wanted) wrong.push(`${user} ${ontology}.${concept}: ${status} instead of ${wanted} ${text.slice(0, 160)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(cells).toBe(Object.keys(USERS).length * ONTOLOGIES.length * CONCEPTS.length);
    expect(outcomes.size).toBeGreaterThan(1);
  });

  it.each(WHOLE)('%s', async (statement, kind) => {
    const wrong: string[] = [];
    for (const user of Object.keys(USERS)) {
      const { status } = await sql(user, statement.replace('%', user));
      const wanted = kind !== null && has(user, 'EDIT', kind) ? 200 : 403;
      if (status !== wanted) wrong.push(`${user}: ${status} instead of ${wanted}`);
    }
    expect(wrong).toEqual([]);
  });

  it('list for each the ontologies and concepts that it may see, and no others', async () => {
    for (const user of Object.keys(USERS)) {
      const own = user === 'makes' ? ['o_makes'] : [];
      const seen = ONTOLOGIES.filter((o) => knows(user, `ontology.${o}`));
      const all = has(user, 'ACCESS', 'ontology.o_makes') ? ['o_makes'] : [];
      expect([user, ...(await call(user, 'GET', '/svc/api/get_ontologies/')).json.data].sort()).toEqual([user, ...seen, ...own, ...all].sort());
      for (const o of seen) {
        const names = CONCEPTS.filter((c) => has(user, 'ACCESS', `ontology.${o}.concept.${c}`));
        expect([user, o, (await sql(user, 'SELECT concept FROM svc.SYS_CONCEPTS ORDER BY concept', o)).json.data]).toEqual([
          user,
          o,
          names.map((concept) => ({ concept })),
        ]);
        const detail = (await call(user, 'GET', `/svc/api/get_ontology/${o}`)).json.data;
        expect([user, o, detail.ontology.map((c: { concept: string }) => c.concept).sort()]).toEqual([user, o, names]);
      }
    }
  });
});
