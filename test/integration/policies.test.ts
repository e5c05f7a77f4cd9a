/** The statements about policies: their checks, the rights that they need, their display, and the objects that policies protect. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE ONTOLOGY shop;
CREATE CONCEPT person (id bigint, name string, email string, born date, pay decimal(10,2), PRIMARY KEY (id), LABEL (name));
CREATE CONCEPT staff (desk string) INHERITS (person);
CREATE CONCEPT rich INHERITS (person) FROM svc.person WHERE pay > 100;
CREATE MAPPING people INTO (person) AS SELECT id, name, email, born, pay FROM shop.t_person;
CREATE MAPPING workers INTO (staff) AS SELECT id, name, email, born, pay, desk FROM shop.t_staff`;

let service: TestService;
const tokens: Record<string, string> = {};

async function user(name: string, ...grants: string[]): Promise<void> {
  tokens[name] = await service.user(name, ...grants);
}

/** `status code position message` of a statement that fails. */
async function failure(sql: string, token?: string): Promise<string> {
  const { status, json } = await service.query(sql, 'shop', token);
  return `${status} ${json.code}${json.position === undefined ? '' : ` ${json.position}`} ${json.data}`;
}

const policies = (token?: string) => service.rows('SELECT * FROM svc.SYS_POLICIES ORDER BY policy_name', 'shop', token);

beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_person (id bigint PRIMARY KEY, name text, email text, born date, pay numeric(10,2))',
      'CREATE TABLE shop.t_staff (id bigint PRIMARY KEY, name text, email text, born date, pay numeric(10,2), desk text)',
    ],
  });
  await service.rows(MODEL, 'shop');
  await user('una', 'QUERY ON ALL ontology.shop');
  await user('olga', 'EDIT ON ALL ontology.shop');
});
afterAll(() => service?.close());

describe('CREATE POLICY', () => {
  it('is listed by SYS_POLICIES, SHOW POLICIES and SHOW CREATE, which creates it again', async () => {
    const scripts = [
      "CREATE OR REPLACE POLICY `p_all` ON CONCEPT `person` TO PUBLIC USING (id > 1 AND svc_has_role('x'));",
      "CREATE OR REPLACE POLICY `p_una` ON CONCEPT `staff` TO USER `una` USING (desk = 'a');",
      "CREATE OR REPLACE POLICY `m_mail` ON PROPERTY `email` OF CONCEPT `person` MASK PARTIAL(2, 'x', 1) EXCEPT USER `una`;",
      'CREATE OR REPLACE POLICY `m_born` ON PROPERTY `born` MASK NULL;',
      'CREATE OR REPLACE POLICY `m_pay` ON PROPERTY `pay` MASK WITH (round(pay, -3));',
    ];
    await service.rows(scripts.join('\n'), 'shop');
    expect(await policies()).toEqual([
      { policy_name: 'm_born', kind: 'mask', concept: null, property: 'born', grantees: '', definition: 'NULL' },
      { policy_name: 'm_mail', kind: 'mask', concept: 'person', property: 'email', grantees: 'USER una', definition: "PARTIAL(2, 'x', 1)" },
      { policy_name: 'm_pay', kind: 'mask', concept: null, property: 'pay', grantees: '', definition: 'WITH (round(pay, -3))' },
      { policy_name: 'p_all', kind: 'row', concept: 'person', property: null, grantees: 'PUBLIC', definition: "id > 1 AND svc_has_role('x')" },
      { policy_name: 'p_una', kind: 'row', concept: 'staff', property: null, grantees: 'USER una', definition: "desk = 'a'" },
    ]);
    expect(await service.rows('SHOW POLICIES', 'shop')).toEqual(await policies());
    for (const script of scripts) {
      const name = /POLICY `(\w+)`/.exec(script)?.[1];
      expect(await service.rows(`SHOW CREATE POLICY ${name}`, 'shop')).toEqual([{ script }]);
    }
    const [all] = await service.rows('SHOW CREATE ONTOLOGY shop', 'shop');
    for (const script of scripts) expect(all.script).toContain(script);
    await service.rows('DROP POLICY m_born; DROP POLICY M_MAIL; DROP POLICY m_pay; DROP POLICY p_all; DROP POLICY p_una', 'shop');
    expect(await policies()).toEqual([]);
  });

  it('is listed by SYS_RESTRICTIONS to those whom it limits, with its text only if they see the whole ontology', async () => {
    await user('petra', 'QUERY ON ontology.shop.concept.person');
    await service.rows('CREATE ROLE nurses');
    await service.rows(
      `CREATE POLICY p_una ON CONCEPT person TO USER una USING (id > 1); CREATE POLICY p_all ON CONCEPT person TO PUBLIC USING (name = 'x');
       CREATE POLICY p_staff ON CONCEPT staff TO ROLE nurses USING (desk = 'a'); CREATE POLICY m_pay ON PROPERTY pay MASK WITH (round(pay, -3)) EXCEPT USER una;
       CREATE POLICY m_mail ON PROPERTY email OF CONCEPT person MASK PARTIAL(2, 'x', 1); CREATE POLICY m_desk ON PROPERTY desk MASK NULL`,
      'shop',
    );
    const lines = (token?: string) => service.rows('SELECT * FROM svc.SYS_RESTRICTIONS ORDER BY kind DESC, concept, property', 'shop', token);
    expect(await lines()).toEqual([]);
    expect(await lines(tokens.una)).toEqual([
      { concept: 'person', property: null, kind: 'rows', rule: "(name = 'x') OR (id > 1)" },
      { concept: 'staff', property: null, kind: 'rows', rule: 'false' },
      { concept: 'person', property: 'email', kind: 'mask', rule: "PARTIAL(2, 'x', 1)" },
      { concept: null, property: 'desk', kind: 'mask', rule: 'NULL' },
    ]);
    // the concept staff and its property are hidden from petra, and so are the texts
    expect(await lines(tokens.petra)).toEqual([
      { concept: 'person', property: null, kind: 'rows', rule: null },
      { concept: 'person', property: 'email', kind: 'mask', rule: 'PARTIAL' },
      { concept: null, property: 'pay', kind: 'mask', rule: 'WITH' },
    ]);
    await service.rows(['p_una', 'p_all', 'p_staff', 'm_pay', 'm_mail', 'm_desk'].map((name) => `DROP POLICY ${name}`).join(';'), 'shop');
  });

  it('creates no version, and can be in one script with the model', async () => {
    const [before] = await service.rows('SHOW VERSION', 'shop');
    await service.rows('CREATE POLICY a ON CONCEPT person TO PUBLIC USING (true)', 'shop');
    expect(await service.rows('SHOW VERSION', 'shop')).toEqual([before]);
    await service.rows(
      'CREATE CONCEPT extra INHERITS (person); CREATE OR REPLACE POLICY a ON CONCEPT extra TO PUBLIC USING (id > 2); CREATE PROPERTY spare string; CREATE POLICY b ON PROPERTY spare MASK FULL',
      'shop',
    );
    expect((await policies()).map((p) => [p.policy_name, p.concept])).toEqual([
      ['a', 'extra'],
      ['b', null],
    ]);
    await service.rows('DROP POLICY a; DROP POLICY b; DROP CONCEPT extra; DROP PROPERTY spare', 'shop');
  });

  it.each([
    ['CREATE POLICY x ON CONCEPT nobody TO PUBLIC USING (true)', '400 unknown_concept 28'],
    ['CREATE POLICY x ON CONCEPT person TO PUBLIC USING (nothing = 1)', '400 unknown_property 52'],
    ['CREATE POLICY x ON CONCEPT person TO PUBLIC USING (id +)', '400 syntax_error 56'],
    ['CREATE POLICY x ON CONCEPT person TO PUBLIC USING ()', '400 syntax_error 52'],
    ['CREATE POLICY x ON CONCEPT person TO PUBLIC USING (true) OR true', '400 syntax_error 58'],
    ['CREATE POLICY x ON CONCEPT person TO PUBLIC USING (pg_sleep(1) IS NULL)', '400 forbidden_function 52'],
    ['CREATE POLICY x ON CONCEPT person TO PUBLIC USING (count(*) > 1)', '400 bad_expression 52'],
    ['CREATE POLICY x ON CONCEPT person TO USER nobody USING (true)', '400 unknown_user 43'],
    ['CREATE POLICY x ON CONCEPT person TO ROLE nobody USING (true)', '400 unknown_role 43'],
    ['CREATE POLICY x ON CONCEPT person TO nobody USING (true)', '400 syntax_error 38'],
    ['CREATE POLICY x ON PROPERTY nothing MASK NULL', '400 unknown_property 29'],
    ['CREATE POLICY x ON PROPERTY desk OF CONCEPT person MASK NULL', '400 unknown_property 29'],
    ['CREATE POLICY x ON PROPERTY pay MASK HASH', '400 bad_mask 38'],
    ["CREATE POLICY x ON PROPERTY born MASK PARTIAL(1, 'x', 1)", '400 bad_mask 39'],
    ["CREATE POLICY x ON PROPERTY name MASK PARTIAL(1, 'xy', 1)", '400 bad_mask 50'],
    ["CREATE POLICY x ON PROPERTY name MASK PARTIAL(1.5, 'x', 1)", '400 bad_mask 47'],
    ['CREATE POLICY x ON PROPERTY name MASK BLUR', '400 syntax_error 39'],
    ['CREATE POLICY x ON PROPERTY name MASK WITH (nothing)', '400 unknown_property 45'],
    ['CREATE POLICY x ON PROPERTY name OF CONCEPT person MASK WITH (desk)', '400 unknown_property 63'],
    ['CREATE POLICY x ON PROPERTY name MASK WITH ((SELECT 1))', '400 bad_expression 45'],
    ['CREATE POLICY x ON PROPERTY name MASK WITH (max(name))', '400 bad_expression 45'],
    ['CREATE POLICY x ON PROPERTY name MASK NULL EXCEPT USER una, olga', '400 syntax_error 61'],
    ['DROP POLICY nothing', '400 unknown_policy 13'],
  ])('refuses %s', async (sql, expected) => {
    expect(await failure(sql)).toMatch(new RegExp(`^${expected} `));
    expect(await policies()).toEqual([]);
  });

  it.each([
    ['CREATE POLICY x ON CONCEPT persn TO PUBLIC USING (true)', '400 unknown_concept 28 unknown concept `persn`; did you mean `person`?'],
    ['CREATE POLICY x ON PROPERTY emial MASK NULL', '400 unknown_property 29 unknown property `emial`; did you mean `email`?'],
    ['CREATE POLICY x ON PROPERTY nme OF CONCEPT staff MASK NULL', '400 unknown_property 29 unknown property `nme`; did you mean `name`?'],
  ])('names a similar name: %s', async (sql, expected) => {
    expect(await failure(sql)).toBe(expected);
    expect(await failure(sql, tokens.olga)).toMatch(/^403 forbidden/);
  });

  it('refuses a name that is taken, and replaces with OR REPLACE', async () => {
    await service.rows('CREATE POLICY a ON CONCEPT person TO PUBLIC USING (id = 1)', 'shop');
    expect(await failure('CREATE POLICY A ON CONCEPT person TO PUBLIC USING (id = 2)')).toMatch(/^400 exists 15 /);
    await service.rows("CREATE OR REPLACE POLICY A ON PROPERTY name MASK WITH ('-- none')", 'shop');
    expect(await policies()).toEqual([{ policy_name: 'a', kind: 'mask', concept: null, property: 'name', grantees: '', definition: "WITH ('-- none'\n)" }]);
    await service.rows('DROP POLICY a', 'shop');
  });

  it('is for admins and for users with EDIT ON ALL with grant option', async () => {
    for (const name of ['una', 'olga']) {
      expect(await failure('CREATE POLICY x ON CONCEPT person TO PUBLIC USING (true)', tokens[name])).toMatch(/^403 forbidden 1 /);
      expect(await failure('DROP POLICY x', tokens[name])).toMatch(/^403 forbidden 1 /);
    }
    await service.rows('GRANT EDIT ON ALL ontology.shop TO USER olga WITH GRANT OPTION');
    await service.rows('CREATE POLICY x ON CONCEPT person TO PUBLIC USING (true)', 'shop', tokens.olga);
    // for the user a hidden user does not exist
    expect(await failure('CREATE POLICY y ON CONCEPT person TO USER una USING (true)', tokens.olga)).toMatch(/^400 unknown_user 43 /);
    await service.rows('DROP POLICY x', 'shop', tokens.olga);
    expect(await failure('SHOW CREATE POLICY x', tokens.olga)).toMatch(/^403 forbidden/);
  });

  it('shows others those that name them, one of their roles or PUBLIC', async () => {
    await service.rows(
      'CREATE POLICY p ON CONCEPT person TO PUBLIC USING (true); CREATE POLICY u ON CONCEPT person TO USER una USING (true); CREATE POLICY o ON CONCEPT person TO USER olga USING (true); CREATE POLICY a ON CONCEPT person TO ROLE admin USING (true); CREATE POLICY m ON PROPERTY name MASK NULL; CREATE POLICY n ON PROPERTY name MASK NULL EXCEPT USER una, USER olga',
      'shop',
    );
    expect((await policies(tokens.una)).map((p) => [p.policy_name, p.grantees])).toEqual([
      ['n', 'USER una'],
      ['p', 'PUBLIC'],
      ['u', 'USER una'],
    ]);
    const [all] = await service.rows('SHOW CREATE ONTOLOGY shop', 'shop', tokens.una);
    expect(all.script).not.toContain('POLICY');
    await service.rows('DROP POLICY p; DROP POLICY u; DROP POLICY o; DROP POLICY a; DROP POLICY m; DROP POLICY n', 'shop');
  });
});

describe('the objects that a policy names', () => {
  it('cannot be removed by DROP, OR REPLACE or ROLLBACK', async () => {
    const [{ id }] = await service.rows('SHOW VERSION', 'shop');
    await service.rows(
      `CREATE CONCEPT town (no bigint, size integer, place string, PRIMARY KEY (no)); CREATE MAPPING towns INTO (town) AS SELECT id AS no, 1 AS size, name AS place FROM shop.t_person;
      CREATE CONCEPT big INHERITS (town) FROM svc.town WHERE size > 5;
      CREATE POLICY keep_big ON CONCEPT big TO PUBLIC USING (size > 7);
      CREATE POLICY keep_place ON PROPERTY place MASK PARTIAL(1, 'x', 1)`,
      'shop',
    );
    const [version] = await service.rows('SHOW VERSION', 'shop');
    for (const [sql, policy] of [
      ['DROP CONCEPT big', 'keep_big'],
      ['DROP CONCEPT big; CREATE CONCEPT big INHERITS (town) FROM svc.town WHERE size > 5', 'keep_big'],
      ['DROP PROPERTY place', 'keep_place'],
      [`ROLLBACK ONTOLOGY shop TO VERSION '${id}'`, 'keep_big'],
      [
        'CREATE OR REPLACE MAPPING towns INTO (town) AS SELECT id AS no, name AS place FROM shop.t_person; CREATE OR REPLACE CONCEPT big INHERITS (town) FROM svc.town WHERE no > 5; CREATE OR REPLACE CONCEPT town (no bigint, place string, PRIMARY KEY (no)); DROP PROPERTY size',
        'keep_big',
      ],
      [
        'CREATE OR REPLACE MAPPING towns INTO (town) AS SELECT id AS no, 1 AS size FROM shop.t_person; CREATE OR REPLACE CONCEPT town (no bigint, size integer, PRIMARY KEY (no)); CREATE OR REPLACE PROPERTY place date',
        'keep_place',
      ],
    ] as const) {
      const { status, json } = await service.query(sql, 'shop');
      expect([sql, status, json.code], json.data).toEqual([sql, 400, 'in_use']);
      expect(json.data).toContain(`\`${policy}\``);
    }
    expect(await service.rows('SHOW VERSION', 'shop')).toEqual([version]);
    await service.rows('DROP POLICY keep_big; DROP POLICY keep_place; DROP CONCEPT big', 'shop');
  });
});

describe('EXPLAIN of a masked key', () => {
  it('is the logical plan: the datasource\u2019s own would contain the secret of the hash', async () => {
    await service.rows('CREATE POLICY k ON PROPERTY id OF CONCEPT person MASK NULL', 'shop');
    for (const sql of ['SELECT entity_id FROM svc.person', 'SELECT COUNT(*) AS n FROM svc.person GROUP BY entity_id']) {
      const [explained] = await service.rows(`EXPLAIN ${sql}`, 'shop', tokens.olga);
      expect(explained.SQL, sql).toBeNull();
      expect(explained.PLAN, sql).not.toMatch(/sha256|[0-9a-f]{64}/);
    }
    await service.rows('DROP POLICY k', 'shop');
  });
});
