/** Requests with many statements, and the expected answers. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ByteStore } from '../../src/cache.ts';
import { housekeeping } from '../../src/catalog/housekeeping.ts';
import type { PolicyRow } from '../../src/catalog/policies.ts';
import { LIMITS } from '../../src/service/spending.ts';
import { requireRoomForOntology, withPolicy } from '../../src/service/write/snapshot-room.ts';
import { runScript } from '../../src/service.ts';
import { startService, type TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('attacks/bounds');

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: ['CREATE SCHEMA shop', 'CREATE TABLE shop.t_city (id bigint PRIMARY KEY)'] });
  await s.rows('CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, PRIMARY KEY (id)); CREATE MAPPING m INTO (city) AS SELECT id FROM shop.t_city', 'shop');
});
afterAll(() => s?.close());

const many = (n: number, statement = 'SELECT 1 AS x') => Array(n).fill(statement).join('; ');

describe('statements that read', () => {
  it('are a hundred in one request', async () => {
    expect(await s.rows(`${many(LIMITS.reads.most - 1)}; SELECT 2 AS x`)).toEqual([{ x: 2 }]);
  });

  it.each(['SELECT 1 AS x', 'SHOW CONCEPTS', 'DESC svc.city', 'EXPLAIN SELECT 1', 'VALUES (1)', 'WITH a AS (SELECT 1) SELECT * FROM a', '(SELECT 1)'])(
    'are limited to that: %s',
    async (statement) => {
      const text = many(LIMITS.reads.most + 1, statement);
      const { status, json } = await s.query(text, 'shop');
      expect([status, json.code, json.position]).toEqual([400, 'too_many_statements', text.length - statement.length + 1]);
    },
  );

  it('are counted before any of them reaches a datasource or a parser', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    // none of these statements is valid
    expect(await s.fault(many(2000, 'SELECT FROM WHERE'))).toBe('400 too_many_statements');
    expect(fetched.mock.calls.filter(([, init]) => new Headers(init?.headers).get('neon-connection-string')?.includes('kg_reader'))).toEqual([]);
    fetched.mockRestore();
  });

  it('share one budget', async () => {
    const large = (i: number): string => `SELECT id + ${i} AS x FROM svc.city${' UNION ALL SELECT id FROM svc.city'.repeat(150)}`;
    expect((await s.query(large(0), 'shop')).status).toBe(200);
    const { status, json } = await s.query(Array.from({ length: LIMITS.reads.most }, (_, i) => large(i)).join('; '), 'shop');
    expect([status, json.code]).toEqual([400, 'too_complex']);
    expect(json.data).toMatch(/^all that the statements of the request read becomes too large/);
    expect(json.position).toBeGreaterThan(10 * large(0).length);
    // plans in the cache cost nothing: a few more would be refused as well
    const refusedAt = Math.ceil(json.position / large(10).length);
    expect(refusedAt).toBeLessThan(LIMITS.reads.most - 5);
    expect(
      (
        await s.query(
          Array(refusedAt + 5)
            .fill(large(1))
            .join('; '),
          'shop',
        )
      ).status,
    ).toBe(200);
  });

  it('too many make the script have no effect', async () => {
    expect(await s.fault(`CREATE PROPERTY kept string; ${many(101)}`, 'shop')).toBe('400 too_many_statements');
    expect(await s.fault(`CREATE USER kept; ${many(101)}`)).toBe('400 too_many_statements');
    expect(await s.rows("SELECT property_name FROM svc.SYS_PROPERTIES WHERE property_name = 'kept'", 'shop')).toEqual([]);
    expect(await s.rows("SELECT user_name FROM svc.SYS_USERS WHERE user_name = 'kept'")).toEqual([]);
  });
});

describe('statements that set a password', () => {
  const create = (n: number, more = "PASSWORD 'x'"): string => Array.from({ length: n }, (_, i) => `CREATE OR REPLACE USER person${i} ${more}`).join('; ');

  it.each([
    ['of new users', create(LIMITS.passwords.most + 1)],
    ['of one user', `CREATE USER somebody; ${many(LIMITS.passwords.most + 1, "ALTER USER somebody SET PASSWORD 'x'")}`],
  ])('%s are limited, and then none of them has an effect', async (_, text) => {
    const { status, json } = await s.query(text);
    expect([status, json.code]).toEqual([400, 'too_many_statements']);
    expect(text.slice(json.position - 1)).toMatch(/^[^;]*'x'$/);
    expect(await s.rows("SELECT user_name FROM svc.SYS_USERS WHERE user_name LIKE 'person%' OR user_name = 'somebody'")).toEqual([]);
  });

  it('do not limit other statements about users', async () => {
    expect((await s.query(create(200, "OPTIONS (tenant = 't')"))).status).toBe(200);
  });
});

describe('statements of the service', () => {
  it.each([
    'CREATE ROLE flood',
    'DROP USER flood',
    'GRANT QUERY ON ontology.shop TO ROLE flood',
    'REVOKE QUERY ON ontology.shop FROM ROLE flood',
    'CREATE TOKEN FOR admin',
    'REFRESH PERMISSIONS',
    'CREATE ONTOLOGY flood',
    'CREATE AGENT flood ONTOLOGY (shop)',
  ])('are limited before any of them reaches the catalog: %s', async (statement) => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const text = many(LIMITS.changes.most + 1, statement);
    const { status, json } = await s.query(text, 'shop');
    expect([status, json.code, json.position]).toEqual([400, 'too_many_statements', text.length - statement.length + 1]);
    expect(fetched.mock.calls.length).toBeLessThan(10);
    fetched.mockRestore();
  });

  it.each([
    "CREATE OR REPLACE EXAMPLE 'flood' AS SELECT id FROM svc.city",
    "DROP EXAMPLE 'flood'",
    'CREATE OR REPLACE POLICY flood ON CONCEPT city TO PUBLIC USING (true)',
    'DROP POLICY flood',
  ])('about policies and examples have a limit of their own: %s', async (statement) => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const text = many(LIMITS.policies.most + 1, statement);
    const { status, json } = await s.query(text, 'shop');
    expect([status, json.code, json.position]).toEqual([400, 'too_many_statements', text.length - statement.length + 1]);
    expect(fetched.mock.calls.length).toBeLessThan(10);
    fetched.mockRestore();
  });

  it.each(['plan', 'apply'])('are limited in model files too: %s', async (what) => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const policies = Array.from({ length: LIMITS.policies.most + 1 }, (_, i) => `CREATE POLICY p${i} ON CONCEPT city TO PUBLIC USING (true)`);
    const answer = await s.fetch(`/svc/api/model/shop/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': s.token },
      body: JSON.stringify({ files: [{ name: 'policies', text: policies.join(';\n') }] }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { code: 'too_many_statements', data: expect.stringMatching(/^policies: /), position: expect.any(Number) },
    ]);
    expect(fetched.mock.calls.length).toBeLessThan(10);
    fetched.mockRestore();
  });

  it('about policies and examples within the limit have an effect', async () => {
    const example = (i: number): string => `CREATE EXAMPLE 'flood ${i}' AS SELECT id FROM svc.city`;
    const script = Array.from(
      { length: LIMITS.changes.most + 10 },
      (_, i) => `CREATE OR REPLACE POLICY flood ON CONCEPT city TO PUBLIC USING (true); ${example(i)}`,
    );
    expect((await s.query(script.join('; '), 'shop')).status).toBe(200);
    expect(await s.rows('SELECT count(*) AS n FROM svc.SYS_EXAMPLES', 'shop')).toEqual([{ n: LIMITS.changes.most + 10 }]);
  });

  const LONG: readonly (readonly [string, number, (i: number, condition: string) => string])[] = [
    ['policies', 10, (i: number, condition: string) => `CREATE OR REPLACE POLICY p${i} ON CONCEPT city TO PUBLIC USING (${condition})`],
    ['examples', 60, (i: number, condition: string) => `CREATE OR REPLACE EXAMPLE 'long ${i}' AS SELECT id FROM svc.city WHERE ${condition}`],
  ];
  it.each(oneIn(SIZES.everyList, LONG, 0))('about a thousand long %s exceed the budget of the script', async (_, terms, statement) => {
    const condition = Array.from({ length: terms }, (_, i) => `id = ${i}`).join(' OR ');
    await s.rows('CREATE ONTOLOGY lengthy; CREATE CONCEPT city (id bigint, PRIMARY KEY (id))');
    const { status, json } = await s.query(Array.from({ length: 1000 }, (_, i) => statement(i, condition)).join('; '), 'lengthy');
    await s.rows('DROP ONTOLOGY lengthy');
    expect([status, json.code, json.data]).toEqual([400, 'too_complex', expect.stringContaining('the script')]);
  });

  it('about examples cannot store more than a question in words can read', async () => {
    await s.rows('CREATE ONTOLOGY hoard; CREATE CONCEPT city (id bigint, PRIMARY KEY (id))');
    const texts = (n: number, from: number) =>
      Array.from({ length: n }, (_, i) => `CREATE OR REPLACE EXAMPLE 'text ${from + i}' AS SELECT '${'x'.repeat(60_000)}' AS t`);
    const { json } = await s.query(texts(17, 0).join('; '), 'hoard');
    expect([json.code, json.data]).toEqual(['too_complex', expect.stringContaining('the script')]);
    const codes: string[] = [];
    for (let from = 0; from < 75; from += 15) codes.push((await s.query(texts(15, from).join('; '), 'hoard')).json.code ?? 'stored');
    expect(codes).toEqual(['stored', 'stored', 'stored', 'stored', 'examples_too_large']);
    // others may still be dropped, replaced and made shorter
    await s.rows("DROP EXAMPLE 'text 1'; CREATE EXAMPLE 'another' AS SELECT 1 AS t; CREATE OR REPLACE EXAMPLE 'text 2' AS SELECT 2 AS t", 'hoard');
    await s.rows('DROP ONTOLOGY hoard');
  });

  it('about many versions: their texts are listed as far as an isolate can read them', async () => {
    await s.rows('CREATE ONTOLOGY versed; CREATE CONCEPT city (id bigint, PRIMARY KEY (id))');
    const long = (i: number) =>
      Array.from({ length: 14 }, (_, k) => `CREATE OR REPLACE PROPERTY p string /* ${k}${'x'.repeat(60_000)} */ DESCRIPTION 'v ${i}'`).join('; ');
    for (let i = 0; i < 6; i++) await s.rows(long(i), 'versed');
    const { text, json } = await s.query('SHOW VERSIONS', 'versed');
    expect(text.length).toBeLessThan(4_200_000);
    expect(json.data.map((v: { statement: string | null }) => v.statement !== null)).toEqual([true, true, true, true, false, false, false]);
    await s.rows('DROP ONTOLOGY versed');
  });

  it('about users and roles read each model once, also if all models do not fit in memory', async () => {
    for (const name of ['one', 'two']) {
      await s.rows(
        `CREATE ONTOLOGY ${name}; CREATE CONCEPT city (id bigint, PRIMARY KEY (id)); CREATE POLICY p ON CONCEPT city TO PUBLIC USING (id > 1)`,
        name,
      );
    }
    const token = await s.user('maker', 'EDIT ON role', 'EDIT ON user');
    const real = ByteStore.prototype.get;
    let reads = 0;
    const got = vi.spyOn(ByteStore.prototype, 'get').mockImplementation(function (this: ByteStore, key) {
      if (!/^(model|graph)\0/.test(key)) return real.call(this, key);
      if (key.startsWith('model')) reads++;
      return undefined;
    });
    const ontologies = (await s.rows('SHOW ONTOLOGIES')).length;
    for (const [create, drop] of [
      ['CREATE USER', 'DROP USER'],
      ['CREATE ROLE', 'DROP ROLE'],
    ]) {
      const names = Array.from({ length: 10 }, (_, i) => `made${i}`);
      reads = 0;
      await s.rows(names.map((n) => `${create} ${n}`).join('; '), '', token);
      await s.rows(names.map((n) => `${drop} ${n}`).join('; '), '', token);
      expect(reads).toBeLessThanOrEqual(2 * ontologies);
    }
    got.mockRestore();
    await s.rows('DROP ONTOLOGY one; DROP ONTOLOGY two');
  });

  it('about many examples cost no more for each of them than about one', async () => {
    const script = Array.from({ length: LIMITS.examples.most }, (_, i) => `CREATE OR REPLACE EXAMPLE 'many ${i}' AS SELECT id FROM svc.city`).join('; ');
    await s.rows('CREATE ONTOLOGY manifold; CREATE CONCEPT city (id bigint, PRIMARY KEY (id))');
    const normalized = vi.spyOn(String.prototype, 'normalize');
    const hashed = vi.spyOn(crypto.subtle, 'digest');
    expect((await s.query(script, 'manifold')).status).toBe(200);
    expect(normalized.mock.calls.length).toBeLessThan(5 * LIMITS.examples.most);
    expect(hashed.mock.calls.length).toBeLessThan(20);
    hashed.mockRestore();
    normalized.mockRestore();
    await s.rows('DROP ONTOLOGY manifold');
  });

  it('about many policies do not add up the lengths of all policies for each of them', async () => {
    const list = Array.from(
      { length: 3 },
      (_, i) => ({ name: `p${i}`, concept: 'city', kind: 'row', condition: 'x'.repeat(i), grantees: [] }) as unknown as PolicyRow,
    );
    const [first, second, third] = list as [PolicyRow, PolicyRow, PolicyRow];
    const counted = vi.fn(() => 'x'.repeat(3_000_000));
    const long = {
      ...first,
      get condition() {
        return counted();
      },
    } as PolicyRow;
    let policies: readonly PolicyRow[] = [long];
    const room = (): void => requireRoomForOntology([], { id: '1', name: 'o', description: null, policies }, 0);
    for (const p of [second, third, { ...third, name: 'p3' } as PolicyRow]) {
      policies = withPolicy(policies, undefined, p);
      room();
    }
    expect([counted.mock.calls.length, policies.map((p) => p.name)]).toEqual([1, ['p0', 'p1', 'p2', 'p3']]);
    policies = withPolicy(policies, second, { ...second, condition: 'x'.repeat(2_000_000) } as PolicyRow);
    expect(room).toThrow('all descriptions and policies of ontologies together');
    policies = withPolicy(policies, long, first);
    expect(room).not.toThrow();
  });

  it('that give a property another type ask the datasource about many texts at once', async () => {
    const views = Array.from({ length: 100 }, (_, i) => `CREATE VIEW v${i} AS SELECT code FROM svc.box`).join('; ');
    await s.rows(`CREATE ONTOLOGY retype; CREATE CONCEPT box (id bigint, code string, PRIMARY KEY (id));
      CREATE MAPPING boxes INTO box AS SELECT id, id::text AS code FROM shop.t_city; ${views}`);
    const fetched = vi.spyOn(globalThis, 'fetch');
    expect((await s.query('CREATE OR REPLACE PROPERTY code date', 'retype')).status).toBe(200);
    expect(fetched.mock.calls.length).toBeLessThan(15);
    // only the texts of one request are asked about one by one
    await s.rows("CREATE OR REPLACE VIEW v99 AS SELECT code FROM svc.box WHERE code > date '2030-01-01'", 'retype');
    fetched.mockClear();
    expect(await s.fault('CREATE OR REPLACE PROPERTY code bigint', 'retype')).toBe('400 type_mismatch');
    expect(fetched.mock.calls.length).toBeLessThan(40);
    fetched.mockRestore();
  });

  it('within the limit have an effect', async () => {
    const roles = Array.from({ length: LIMITS.changes.most }, (_, i) => `CREATE ROLE flood${i}`).join('; ');
    expect((await s.query(roles)).status).toBe(200);
    expect(await s.rows("SELECT count(*) AS n FROM svc.SYS_ROLES WHERE role_name LIKE 'flood%'")).toEqual([{ n: LIMITS.changes.most }]);
  });
});

describe('the sets that a statement builds in memory', () => {
  const sets = (n: number, one: string): string => `SELECT ${Array.from({ length: n }, (_, i) => `(SELECT count(*) FROM (${one}) q${i}) AS n${i}`).join(', ')}`;
  const SETS = [
    'SELECT DISTINCT id FROM svc.city',
    'SELECT id FROM svc.city GROUP BY id',
    'SELECT id FROM svc.city UNION SELECT 1',
    'SELECT id FROM svc.city INTERSECT SELECT 1',
    'SELECT id FROM svc.city EXCEPT ALL SELECT 1',
    'WITH RECURSIVE r AS (SELECT id FROM svc.city UNION SELECT id + 1 FROM r WHERE id < 3) SELECT id FROM r',
  ];
  it.each(oneIn(SIZES.everySet, SETS, 0))('are limited: %s', async (one) => {
    expect((await s.query(sets(160, one), 'shop')).status).toBe(200);
    const { status, json } = await s.query(sets(161, one), 'shop');
    expect([status, json.code, json.data]).toEqual([400, 'too_complex', 'the statement builds too many sets of rows in memory']);
  });

  it('are one for many adjacent UNIONs, and none for UNION ALL', async () => {
    expect((await s.query(`SELECT 0 AS x${' UNION SELECT id FROM svc.city'.repeat(300)}`, 'shop')).status).toBe(200);
    expect((await s.query(`SELECT 0 AS x${' UNION ALL SELECT id FROM svc.city'.repeat(300)}`, 'shop')).status).toBe(200);
  });
});

it('a script of modelling statements is not limited by their number', async () => {
  const script = Array.from({ length: 300 }, (_, i) => `CREATE PROPERTY p${i} string`).join('; ');
  expect((await s.rows(`${script}; ${many(100)}; CREATE PROPERTY last string`, 'shop'))[0]).toMatchObject({ statements: 301 });
});

it('the plans by which datasources are asked about new views count', async () => {
  const view = (i: number): string => `CREATE VIEW wide${i} AS SELECT id + ${i} AS x FROM svc.city${' UNION ALL SELECT id FROM svc.city'.repeat(300)}`;
  const views = (n: number): string => Array.from({ length: n }, (_, i) => view(i)).join('; ');
  // half of the cost is that of the check of the view
  expect(await s.fault(views(25), 'shop')).toBe('400 too_complex');
  expect((await s.query(views(12), 'shop')).status).toBe(200);
});

it('descriptions of concepts share one budget', async () => {
  await s.rows('CREATE ONTOLOGY grid');
  const concept = (i: number): string => `CREATE CONCEPT c${i} (id bigint, x bigint, CONSTRAINT r${i} FOREIGN KEY (x) REFERENCES hub (id) INVERSEOF i${i})`;
  const concepts = Array.from({ length: 400 }, (_, i) => concept(i)).join('; ');
  await s.rows(`CREATE CONCEPT hub (id bigint, PRIMARY KEY (id)); ${concepts}`, 'grid');
  const lines = await s.rows('DESCRIBE CONCEPT hub', 'grid');
  expect(lines).toHaveLength(4 + 400 * 5);
  expect((await s.query(many(60, 'DESCRIBE CONCEPT hub'), 'grid')).status).toBe(200);
  const { status, json } = await s.query(many(100, 'DESCRIBE CONCEPT hub'), 'grid');
  expect([status, json.code, json.data]).toEqual([400, 'too_complex', 'all that the request asks about the ontology becomes too large']);
});

it('descriptions of concepts count the relationships that all targets inherit', async () => {
  await s.rows('CREATE ONTOLOGY inherited');
  const concept = (i: number): string => `CREATE CONCEPT c${i} (id bigint, x bigint, CONSTRAINT r${i} FOREIGN KEY (x) REFERENCES thing (id) INVERSEOF i${i})`;
  const concepts = (from: number, to: number): string => Array.from({ length: to - from }, (_, i) => concept(from + i)).join('; ');
  await s.rows(concepts(0, 800), 'inherited');
  expect((await s.query('DESCRIBE CONCEPT c1', 'inherited')).status).toBe(200);
  await s.rows(concepts(800, 2200), 'inherited');
  expect(await s.fault('DESCRIBE CONCEPT c1', 'inherited')).toBe('400 too_complex');
});

describe('answers about a model whose concepts inherit relationships with many links', () => {
  const LINKS = 600;
  beforeAll(async () => {
    const concepts = Array.from({ length: 400 }, (_, i) => `CREATE CONCEPT town${i} INHERITS (town)`);
    const link = (
      i: number,
    ): string => `CREATE MAPPING l${i} (CONSTRAINT near FOREIGN KEY (b) REFERENCES town (id), CONSTRAINT \`~near\` FOREIGN KEY (a) REFERENCES town (id)) AS
      SELECT id AS a, id AS b, id AS rank FROM shop.t_city WHERE id = ${i}`;
    const links = Array.from({ length: LINKS }, (_, i) => link(i));
    const town = `CREATE CONCEPT town (id bigint, PRIMARY KEY (id), CONSTRAINT near MULTIREFERENCE town) DESCRIPTION '${'x'.repeat(60_000)}'`;
    await s.rows(`CREATE ONTOLOGY linked; ${[town, ...concepts, ...links].join('; ')}`, 'linked');
  });

  it('read the links of a relationship once', async () => {
    const { Source } = await import('../../src/service/describe/system-source.ts');
    const tables = vi.spyOn(Source.prototype, 'tablesOf');
    const rows = await s.rows("SELECT tables, datasource_id FROM SYS_CONCEPT_RELATIONSHIPS WHERE relationship_name = 'near'", 'linked');
    expect(rows).toEqual(Array(401).fill({ tables: 'shop.t_city', datasource_id: 'main' }));
    expect(tables.mock.calls.length).toBeLessThanOrEqual(2 * LINKS);
    tables.mockRestore();
  });

  const ABOUT = ['SELECT count(*) AS n FROM SYS_CONCEPT_RELATIONSHIPS', 'SELECT count(*) AS n FROM SYS_CONCEPT_MAPPINGS', 'SHOW CREATE ONTOLOGY linked'];
  it.each(oneIn(SIZES.everyList, ABOUT, 0))('share one budget: %s', async (statement) => {
    expect((await s.query(many(10, statement), 'linked')).status).toBe(200);
    expect(await s.fault(many(100, statement), 'linked')).toBe('400 too_complex');
  });
});

describe('answers about a model whose concepts inherit many properties', () => {
  const listed = (n: number): string => Array.from({ length: n }, (_, i) => `p${i} string`).join(', ');
  const model = (concepts: number): string =>
    `CREATE CONCEPT top (${listed(200)}); ${Array.from({ length: concepts }, (_, i) => `CREATE CONCEPT c${i} INHERITS (top)`).join('; ')}`;
  beforeAll(async () => {
    await s.rows('CREATE ONTOLOGY usual');
    await s.rows(model(150), 'usual');
    await s.rows('CREATE ONTOLOGY wide');
    await s.rows(model(600), 'wide');
  });

  it.each(['get_ontology/', 'openapi/'])('stay below the memory of an isolate: %s', async (path) => {
    const end = path === 'openapi/' ? '.json' : '';
    expect((await s.get(`${path}usual${end}`)).status).toBe(200);
    const { status, json } = await s.get(`${path}wide${end}`);
    expect([status, json.code]).toEqual([400, 'too_complex']);
  });

  it('stay below the memory of an isolate: rows of many columns', async () => {
    const statement = 'SELECT count(*) AS n FROM SYS_CONCEPT_PROPERTIES';
    expect(await s.rows(statement, 'usual')).toEqual([{ n: 151 * 200 }]);
  });

  it('stay below the memory of an isolate: the list that questions in words read', async () => {
    const { describeModel } = await import('../../src/llm/describe.ts');
    const ask = async (ontology: string) => describeModel({ request: await s.request(s.token), ontology, about: [], maxTokens: 1000 });
    expect((await ask('usual')).text).toContain('top');
    await expect(ask('wide')).rejects.toMatchObject({ code: 'too_complex' });
  });
});

describe('users', () => {
  it.each([
    [`CREATE USER long OPTIONS (first_name = '${'x'.repeat(201)}')`],
    [`CREATE USER long OPTIONS (last_name = '${'x'.repeat(201)}')`],
    [`CREATE USER long OPTIONS (tenant = '${'x'.repeat(129)}')`],
    [`CREATE USER long OPTIONS (email = '${'x'.repeat(321)}')`],
    [`CREATE USER short; ALTER USER short SET EMAIL = '${'x'.repeat(321)}'`],
    [`CREATE USER short; CREATE OR REPLACE USER short OPTIONS (first_name = '${'x'.repeat(201)}')`],
  ])('have options of limited length: %s', async (sql) => {
    expect(await s.fault(sql)).toBe('400 bad_value');
  });

  it('may have long names', async () => {
    await s.rows(`CREATE USER long OPTIONS (first_name = '${'x'.repeat(200)}', email = '${'x'.repeat(320)}', tenant = '${'x'.repeat(128)}'); DROP USER long`);
  });
});

describe('the versions of an ontology', () => {
  const many = async (): Promise<void> => {
    await s.rows('CREATE ONTOLOGY kept');
    for (let i = 0; i < 24; i++) await s.rows(`CREATE CONCEPT c${i} (id bigint, PRIMARY KEY (id))`, 'kept');
  };
  const ids = async (): Promise<string[]> => (await s.rows('SHOW VERSIONS', 'kept')).map((v) => v.id);

  it('take a limited number of bytes, which the operator sets; administrators can go beyond it, and editors of parts have half of it', async () => {
    await many();
    const owner = await s.user('owner', 'EDIT ON ALL ontology.kept', 'QUERY ON ALL ontology.kept');
    const partly = await s.user('partly', 'EDIT ON ontology.kept');
    const sent = async (versionMiB: number, token: string, sql = 'CREATE OR REPLACE PROPERTY more string'): Promise<unknown> => {
      const request = await s.request(token);
      const { runtime } = request;
      return runScript(
        { ...request, runtime: { ...runtime, config: { ...runtime.config, versionMiB } } },
        { ontology: 'kept', sql, limit: null, datasource: null },
      ).then(
        (answer) => ('data' in answer ? (answer.data as { warnings: { code: string }[] }[])[0]?.warnings.map((w) => w.code) : answer),
        (error) => `${error.status} ${error.code}`,
      );
    };
    const taken = async (): Promise<number> => {
      const stored = await s.database.superuser(
        "SELECT sum(pg_column_size(content) + pg_column_size(statement))::int AS n FROM kg_catalog.ontology_versions WHERE ontology_id = (SELECT id FROM kg_catalog.ontologies WHERE name = 'kept')",
      );
      return Number(stored[0]?.n) / 1024 / 1024;
    };
    const rollback = `ROLLBACK ONTOLOGY kept TO VERSION '${(await ids())[1]}'`;
    const refused = '400 too_many_versions';
    const warned = ['versions_nearly_full'];
    expect([await sent(await taken(), owner), await sent(await taken(), owner, rollback), await sent(1.9 * (await taken()), partly)]).toEqual(
      Array(3).fill(refused),
    );
    for (const sql of ['DROP CONCEPT c1', rollback]) expect(await sent((await taken()) / 2, s.token, sql), sql).toEqual(warned);
    expect(await sent((await taken()) + 0.001, owner)).toEqual(warned);
    expect(await sent(2 * (await taken()) + 0.002, partly)).toEqual(warned);
    expect([await sent(2 * (await taken()), owner), await sent(4 * (await taken()), partly)]).toEqual([[], []]);
    // a new ontology has none
    expect(await s.fault('CREATE ONTOLOGY fresh; DROP ONTOLOGY fresh')).toBe('200 undefined');
    await s.rows('DROP ONTOLOGY kept; DROP USER owner; DROP USER partly');
  });

  it('are all kept, or as long as the operator says; the current one and those before it stay', async () => {
    await many();
    await s.database.superuser("UPDATE kg_catalog.ontology_versions SET created = now() - interval '10 days'");
    const all = await ids();
    const { db } = (await s.request(s.token)).runtime;
    const days = { auditRetentionDays: 90, historyRetentionDays: 90 };
    for (const versionRetentionDays of [0, 11]) {
      await housekeeping(db, { ...days, versionRetentionDays });
      expect(await ids()).toEqual(all);
    }
    await housekeeping(db, { ...days, versionRetentionDays: 9 });
    expect(await ids()).toEqual(all.slice(0, 20));
    await s.rows(`ROLLBACK ONTOLOGY kept TO VERSION '${all[19]}'`, 'kept');
    await s.rows('DROP ONTOLOGY kept');
  });
});

describe('the rights of a user', () => {
  const filled = (sql: string): Promise<unknown> => s.database.superuser(sql);
  const grants = (name: string, key: string, count: number, end = 'false'): Promise<unknown> =>
    filled(`INSERT INTO kg_catalog.grants (user_id, privilege, resource, resource_key, is_all, grant_option)
      SELECT u.id, 'edit', r.key, r.key, ${end}, ${end} FROM kg_catalog.users u, generate_series(1, ${count}) i, LATERAL (SELECT jsonb_build_array(${key}) AS key) r
      WHERE u.key = '${name}'`);

  it('are at most 1,000 grants on an object that others make: every request of the user reads them', async () => {
    const owner = await s.user('owner', 'EDIT ON ontology', 'ACCESS ON ALL user');
    await s.user('victim');
    await s.rows('CREATE ONTOLOGY owned; CREATE CONCEPT city (id bigint, PRIMARY KEY (id))', '', owner);
    await grants('victim', "'ontology', 'owned', 'concept', 'e' || i", 998);
    const grant = (i: number): string => `GRANT ACCESS ON ontology.owned.concept.c${i} TO USER victim`;
    expect(await s.fault(`${grant(1)}; ${grant(2)}; ${grant(3)}`, '', owner)).toBe('400 too_many_grants');
    await s.rows(`${grant(1)}; ${grant(2)}`, '', owner);
    expect(await s.fault(grant(3), '', owner)).toBe('400 too_many_grants');
    // those that exist may be repeated
    await s.rows(`${grant(1)}; GRANT ACCESS ON ontology.OWNED.concept.C2 TO USER victim WITH GRANT OPTION`, '', owner);
    // so may those that take the place of a revoked one, of which each makes room once
    const revoke = (i: number): string => grant(i).replace('GRANT', 'REVOKE').replace(' TO ', ' FROM ');
    expect(await s.fault(`${revoke(1)}; ${grant(4)}; ${grant(5)}`, '', owner)).toBe('400 too_many_grants');
    await s.rows(`${revoke(1)}; ${grant(4)}; ${grant(4)}; ${revoke(4)}; ${grant(1)}`, '', owner);
    await s.rows(grant(3));
    await s.rows('DROP ONTOLOGY owned; DROP USER owner; DROP USER victim');
  });

  it('cannot be used up by an owner of something else', async () => {
    const owner = await s.user('owner', 'EDIT ON ontology', 'ACCESS ON ALL user');
    const victim = await s.user('victim', 'EDIT ON ontology', 'EDIT ON role');
    await grants('victim', "'ontology', 'strange', 'concept', 'e' || i", 10_000, 'true');
    await s.rows('CREATE ONTOLOGY owned; GRANT QUERY ON ontology.owned TO USER victim', '', owner);
    await s.rows('CREATE ONTOLOGY own; CREATE ROLE own_role', '', victim);
    await grants('victim', "'ontology', 'created' || i", 9998, 'true');
    expect(await s.fault('CREATE ONTOLOGY more', '', victim)).toBe('400 too_many_grants');
    await s.rows('DROP ONTOLOGY owned; DROP ONTOLOGY own; DROP ROLE own_role; DROP USER owner; DROP USER victim');
  });

  it('are at most 5,000 grants that one owner makes, on all of its objects together', async () => {
    const owner = await s.user('owner', 'EDIT ON ontology', 'ACCESS ON ALL user');
    await s.user('victim');
    await s.rows('CREATE ONTOLOGY last; CREATE CONCEPT city (id bigint, PRIMARY KEY (id))', '', owner);
    for (const name of ['last', 'a', 'b', 'c', 'd', 'e']) {
      if (name !== 'last') await grants('owner', `'ontology', '${name}'`, 1, 'true');
      await grants('victim', `'ontology', '${name}', 'concept', 'e' || i`, name === 'e' ? 0 : name === 'last' ? 998 : 1000);
    }
    const grant = (i: number): string => `GRANT ACCESS ON ontology.last.concept.c${i} TO USER victim`;
    await s.rows(grant(1), '', owner);
    await grants('victim', "'ontology', 'e', 'concept', 'e' || i", 1);
    expect(await s.fault(grant(2), '', owner)).toBe('400 too_many_grants');
    await s.rows(grant(1), '', owner);
    await s.rows(grant(2));
    await s.rows('DROP ONTOLOGY last; DROP USER owner; DROP USER victim');
  });

  it('are at most 30,000 grants and roles that others make, with those of its roles', async () => {
    const owner = await s.user('owner', 'EDIT ON ontology', 'EDIT ON role', 'ACCESS ON ALL user');
    await s.user('victim');
    await s.rows('CREATE ONTOLOGY owned; CREATE ROLE one; CREATE ROLE two; GRANT ROLE one TO USER victim', '', owner);
    await grants('victim', "'ontology', 'strange' || i", 29_998);
    const toRole = 'GRANT ACCESS ON ontology.owned TO ROLE one';
    await s.rows(toRole, '', owner);
    for (const sql of ['GRANT ACCESS ON ontology.owned TO USER victim', 'GRANT ROLE two TO USER victim'])
      expect(await s.fault(sql, '', owner), sql).toBe('400 too_many_grants');
    // what one member has does not prevent a grant to its role
    await s.rows('GRANT EDIT ON ontology.owned TO ROLE one', '', owner);
    await s.rows('GRANT ACCESS ON ontology.owned TO ROLE two', '', owner);
    await s.rows('GRANT ROLE two TO USER victim');
    await s.rows('DROP ONTOLOGY owned; DROP ROLE one; DROP ROLE two; DROP USER owner; DROP USER victim');
  });

  it('cannot be used up by a few owners together: from half of them on, each may have a fifth of the rest', async () => {
    const crowd = await s.user('crowd', 'EDIT ON ontology', 'ACCESS ON ALL user');
    const other = await s.user('other', 'EDIT ON ontology', 'ACCESS ON ALL user');
    await s.user('victim');
    await s.rows('CREATE ONTOLOGY owned', '', crowd);
    await s.rows('CREATE ONTOLOGY others', '', other);
    await grants('crowd', "'ontology', 'a'", 1, 'true');
    await grants('victim', "'ontology', 'a', 'concept', 'e' || i", 999);
    await grants('victim', "'ontology', 'strange' || i", 14_000);
    const grant = (right: string, ontology = 'owned'): string => `GRANT ${right} ON ontology.${ontology} TO USER victim`;
    // the last one of the first half; then a fifth of 14,999 is enough
    await s.rows(`${grant('ACCESS')}; ${grant('QUERY')}`, '', crowd);
    await grants('victim', "'ontology', 'stranger' || i", 10_000);
    expect(await s.fault(grant('EDIT'), '', crowd)).toBe('400 too_many_grants');
    await s.rows(grant('ACCESS', 'others'), '', other);
    await grants('victim', "'ontology', 'strangest' || i", 4985);
    await s.rows(grant('QUERY', 'others'), '', other);
    expect(await s.fault(grant('EDIT', 'others'), '', other)).toBe('400 too_many_grants');
    await s.rows(grant('EDIT'));
    await s.rows('DROP ONTOLOGY owned; DROP ONTOLOGY others; DROP USER crowd; DROP USER other; DROP USER victim');
  });

  it('cannot be used up by one owner through roles, for others who grant rights', async () => {
    const owner = await s.user('owner', 'EDIT ON ontology', 'EDIT ON role', 'ACCESS ON ALL user');
    const other = await s.user('other', 'EDIT ON ontology', 'EDIT ON role', 'ACCESS ON ALL user', 'ACCESS ON ALL role');
    await s.user('victim');
    const roles = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6'];
    await s.rows(`CREATE ONTOLOGY owned; ${roles.map((r) => `CREATE ROLE ${r}`).join('; ')}`, '', owner);
    await s.rows('CREATE ONTOLOGY others; CREATE ROLE everybody; GRANT ROLE everybody TO USER victim; GRANT ROLE everybody TO USER owner', '', other);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await grants('owner', `'ontology', '${name}'`, 1, 'true');
    await filled(`INSERT INTO kg_catalog.grants (role_id, privilege, resource, resource_key)
      SELECT r.id, 'edit', k.key, k.key FROM kg_catalog.roles r, unnest(ARRAY['a', 'b', 'c', 'd', 'e']) o, generate_series(1, 1000) i,
        LATERAL (SELECT jsonb_build_array('ontology', o, 'concept', 'e' || i) AS key) k
      WHERE r.key IN ('r0', 'r1', 'r2', 'r3', 'r4', 'r5') AND NOT (r.key = 'r0' AND o = 'e' AND i > 997)`);
    await s.rows('GRANT ROLE r0 TO USER victim; GRANT ROLE r6 TO USER victim', '', owner);
    const full = ['GRANT ROLE r1 TO USER victim', 'GRANT ACCESS ON ontology.owned TO ROLE r0', 'GRANT ACCESS ON ontology.owned TO USER victim'];
    await s.rows('GRANT QUERY ON ontology.owned TO ROLE r6', '', owner);
    for (const sql of [...full, 'GRANT ACCESS ON ontology.owned TO ROLE r6']) expect(await s.fault(sql, '', owner), sql).toBe('400 too_many_grants');
    // grants of others, and on what others own, are not prevented, also if a member of a role has any number of rights
    await grants('owner', "'ontology', 'strange' || i", 31_000);
    await s.rows('GRANT ACCESS ON ontology.others TO USER victim; GRANT ACCESS ON ontology.others TO ROLE everybody', '', other);
    await s.rows(`DROP ONTOLOGY owned; DROP ONTOLOGY others; ${roles.map((r) => `DROP ROLE ${r}`).join('; ')}; DROP ROLE everybody`);
    await s.rows('DROP USER owner; DROP USER other; DROP USER victim');
  });

  it('are at most 1,000 valid tokens that statements make', async () => {
    await s.user('holder');
    const tokens = (count: number, expires: string): Promise<unknown> =>
      filled(`INSERT INTO kg_catalog.tokens (id, user_id, hash, expires) SELECT gen_random_uuid(), u.id, gen_random_uuid()::text, ${expires}
        FROM kg_catalog.users u, generate_series(1, ${count}) WHERE u.key = 'holder'`);
    await tokens(1000, "now() - interval '1 day'");
    await tokens(997, 'NULL');
    const token = 'CREATE TOKEN FOR holder';
    expect(await s.fault(`${token}; ${token}; ${token}`)).toBe('400 too_many_tokens');
    await s.rows(`${token}; ${token}`);
    expect(await s.fault(token)).toBe('400 too_many_tokens');
    // a revoked token makes room, once; one that was not valid makes none
    const some = async (is: string): Promise<string> =>
      String(
        (
          await s.database.superuser(
            `SELECT t.id FROM kg_catalog.tokens t JOIN kg_catalog.users u ON u.id = t.user_id WHERE u.key = 'holder' AND t.expires ${is} LIMIT 1`,
          )
        )[0]?.id,
      );
    const revoke = `REVOKE TOKEN '${await some('IS NULL')}'`;
    expect(await s.fault(`${revoke}; ${token}; ${token}`)).toBe('400 too_many_tokens');
    expect(await s.fault(`${revoke}; ${revoke}; ${token}; ${token}`)).toBe('400 too_many_tokens');
    expect(await s.fault(`REVOKE TOKEN '${await some('< now()')}'; ${token}`)).toBe('400 too_many_tokens');
    await s.rows(`${revoke}; ${token}`);
    await s.rows('DROP USER holder');
  });
});

describe('agents', () => {
  it('have a million characters together, since administrators load all of them', async () => {
    const create = (i: number, characters = 60_000): string => `CREATE OR REPLACE AGENT long${i} ONTOLOGY (shop) OPTIONS (note = '${'x'.repeat(characters)}')`;
    for (const turn of [0, 8]) await s.rows(Array.from({ length: 8 }, (_, i) => create(turn + i)).join('; '));
    expect(await s.fault(create(16))).toBe('400 too_many_agents');
    expect(await s.fault(`DROP AGENT long0; ${create(16)}; ${create(17)}`)).toBe('400 too_many_agents');
    await s.rows(create(0));
    await s.rows(create(16, 30_000));
    expect(await s.fault(create(16, 40_000))).toBe('400 too_many_agents');
    expect((await s.query(Array.from({ length: 17 }, (_, i) => `DROP AGENT long${i}`).join('; '))).status).toBe(200);
  });
});

describe('ontologies', () => {
  it('have four million characters of descriptions and policies together', async () => {
    const text = 'x'.repeat(60_000);
    for (const turn of [0, 1, 2, 3, 4, 5])
      await s.rows(Array.from({ length: 11 }, (_, i) => `CREATE ONTOLOGY long${11 * turn + i} DESCRIPTION '${text}'`).join('; '));
    expect(await s.fault(`CREATE ONTOLOGY long66 DESCRIPTION '${text}'`)).toBe('400 ontologies_too_large');
    expect(await s.fault(`ALTER ONTOLOGY shop SET DESCRIPTION = '${text}'`, 'shop')).toBe('400 ontologies_too_large');
    expect(await s.fault(`CREATE POLICY p ON CONCEPT city TO PUBLIC USING (id > length('${text}'))`, 'shop')).toBe('400 ontologies_too_large');
    // other changes are possible
    await s.rows('CREATE PROPERTY small string; CREATE POLICY p ON CONCEPT city TO PUBLIC USING (id > 0); DROP POLICY p', 'shop');
    await s.rows(Array.from({ length: 66 }, (_, i) => `DROP ONTOLOGY long${i}`).join('; '));
  });
});
