/**
 * What a policy depends on before it has rows, and roles that it tests where it has none: a change that is prepared now must not open rows and values that are mapped
 * later. Each attack has a control: the same change by a user who may make policies opens them.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { admins, ask, by, outcome, s, startCallers, user } from './callers.ts';

const TABLES = [
  'CREATE TABLE shop.t_nick (id bigint, nick text)',
  "INSERT INTO shop.t_nick VALUES (1, 'Bear'), (2, 'Lion')",
  'CREATE TABLE shop.t_doc (id bigint, title text, state text, secret text, code bigint)',
  "INSERT INTO shop.t_doc VALUES (1, 'Plan', 'draft', 's1', 1), (2, 'News', 'public', 's2', 2)",
  'CREATE TABLE shop.t_near (a bigint, b bigint, km text)',
  "INSERT INTO shop.t_near VALUES (1, 2, 'far')",
];
const DOC = 'title string, state string, secret string, code bigint, released boolean, bossy boolean';
const MEMO = 'mid bigint, title string, state string, pass bigint, released boolean, PRIMARY KEY (mid)';
const MODEL = `CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id), CONSTRAINT nick MULTIVALUE string, CONSTRAINT near MULTIREFERENCE city INVERSEOF close);
CREATE MAPPING m_city INTO (city) AS SELECT id, name FROM shop.t_city;
CREATE MAPPING m_nick INTO (city) MULTIVALUE nick AS SELECT id, nick FROM shop.t_nick;
CREATE MAPPING m_near (CONSTRAINT near FOREIGN KEY (b) REFERENCES city (id), CONSTRAINT close FOREIGN KEY (a) REFERENCES city (id)) AS SELECT a, b, km FROM shop.t_near;
CREATE CONCEPT road (road bigint, km string, PRIMARY KEY (road));
CREATE PROPERTY released boolean AS SELECT state = 'public';
CREATE PROPERTY bossy boolean AS SELECT svc_has_role('chief');
CREATE CONCEPT paper (did bigint, PRIMARY KEY (did));
CREATE CONCEPT doc (${DOC}) INHERITS (paper);
CREATE CONCEPT hot INHERITS (doc) FROM svc.doc WHERE NOT released;
CREATE CONCEPT memo (${MEMO});
CREATE CONCEPT slip (lid bigint, state string, pin string, released boolean, PRIMARY KEY (lid));
CREATE MAPPING m_slip INTO (slip) AS SELECT id AS lid, state FROM shop.t_doc;
CREATE PROPERTY seal string;
CREATE PROPERTY led_by boolean AS SELECT svc_has_role('captain');
CREATE CONCEPT sign (led_by boolean);
CREATE CONCEPT lot (lot bigint, state string, released boolean, PRIMARY KEY (lot));
CREATE MAPPING m_lot INTO (lot) USING second AS SELECT id AS lot, state FROM shop.t_doc;
CREATE VIEW fit AS SELECT id FROM svc.city WHERE id = 2;
CREATE VIEW led AS SELECT 1 AS one WHERE svc_has_role('chief')`;
const MAPPED = 'CREATE MAPPING m_doc INTO (doc) AS SELECT id AS did, title, state, secret, code FROM shop.t_doc';

let count = 0;
/** The ontologies of the test. They are dropped after it: the roles that one tests for cannot be created by editors of roles. */
const made: string[] = [];
let kim: { readonly name: string; readonly token: string };
let max: typeof kim;
let rob: typeof kim;
beforeAll(async () => {
  await startCallers();
  for (const t of TABLES) await s.database.exec(t);
  await admins('CREATE USER nobody', "CREATE DATASOURCE second TYPE postgres SECRET 'DATASOURCE_MAIN'");
  kim = await user('kim');
  max = await user('max');
  rob = await user('rob');
});
afterEach(async () => {
  for (const o of made.splice(0)) await s.query(`DROP ONTOLOGY ${o}`);
});
afterAll(() => s?.close());

/** A new ontology with these policies. kim edits all of it, max may make policies as well, rob queries. @returns its name */
async function ontology(...policies: readonly string[]): Promise<string> {
  const o = `prep${++count}`;
  made.push(o);
  const model = [`CREATE ONTOLOGY ${o}`, `ALTER ONTOLOGY ${o} ADD DATASOURCE second`, MODEL, ...policies];
  await s.rows(model.join('; '), o);
  await admins(
    `GRANT EDIT ON ALL ontology.${o} TO USER ${kim.name}`,
    `GRANT EDIT ON ALL ontology.${o} TO USER ${max.name} WITH GRANT OPTION`,
    `GRANT QUERY ON ALL ontology.${o} TO USER ${rob.name}`,
  );
  return o;
}

/** The values of the first column of an answer. */
const shown = async (sql: string, token: string, o: string): Promise<readonly unknown[]> =>
  (await ask(sql, by(token), o)).json.data.map((row: object) => Object.values(row)[0]);

const TITLES = 'SELECT title FROM svc.doc ORDER BY did';
const SECRETS = 'SELECT secret FROM svc.doc ORDER BY did';

describe('an editor without the right to make policies is refused, before the concept of the policy has rows:', () => {
  const released = 'CREATE OR REPLACE PROPERTY released boolean AS SELECT true';
  it.each([
    ['a calculated property of a condition', 'ON CONCEPT doc TO PUBLIC USING (released)', released, TITLES, ['News'], ['Plan', 'News']],
    ['a calculated property of a mask', 'ON PROPERTY secret MASK WITH (CASE WHEN released THEN secret END)', released, SECRETS, [null, 's2'], ['s1', 's2']],
    [
      'a logic concept with a policy',
      'ON CONCEPT hot TO USER nobody USING (true)',
      'CREATE OR REPLACE CONCEPT hot INHERITS (doc) FROM svc.doc WHERE false',
      TITLES,
      ['News'],
      ['Plan', 'News'],
    ],
    [
      'a logic concept that a mask names',
      'ON PROPERTY secret OF CONCEPT hot MASK FULL',
      'CREATE OR REPLACE CONCEPT hot INHERITS (doc) FROM svc.doc WHERE did > 5',
      SECRETS,
      ['****', 's2'],
      ['s1', 's2'],
    ],
    [
      'the ancestors',
      'ON CONCEPT paper TO PUBLIC USING (did = 2)',
      `CREATE OR REPLACE CONCEPT doc (did bigint, ${DOC}, PRIMARY KEY (did))`,
      TITLES,
      ['News'],
      ['Plan', 'News'],
    ],
    [
      'a view of a condition',
      'ON CONCEPT doc TO PUBLIC USING (did IN (SELECT id FROM vsvc.fit))',
      'CREATE OR REPLACE VIEW fit AS SELECT id FROM svc.city',
      TITLES,
      ['News'],
      ['Plan', 'News'],
    ],
    [
      'a relationship by a masked property',
      'ON PROPERTY code MASK NULL',
      `CREATE OR REPLACE CONCEPT doc (${DOC}, CONSTRAINT lies FOREIGN KEY (code) REFERENCES city (id)) INHERITS (paper)`,
      'SELECT "lies[city].name" AS n FROM dsvc.doc ORDER BY did',
      undefined,
      ['Berlin', 'Lyon'],
    ],
  ])('%s', async (_, policy, script, read, closed, open) => {
    const o = await ontology(`CREATE POLICY p ${policy}`);
    expect(await outcome(script, by(kim.token), o)).toBe('403 forbidden');
    await s.rows(MAPPED, o);
    if (closed !== undefined) expect(await shown(read, rob.token, o)).toEqual(closed);
    const other = await ontology(`CREATE POLICY p ${policy}`);
    expect(await outcome(script, by(s.token), other)).toBe('200');
    await s.rows(MAPPED, other);
    expect(await shown(read, rob.token, other)).toEqual(open);
  });

  it('what a policy reads of a concept without rows', async () => {
    const o = await ontology('CREATE POLICY p ON CONCEPT city TO PUBLIC USING (id IN (SELECT d.code FROM svc.doc d WHERE d.released))');
    expect(await outcome(released, by(kim.token), o)).toBe('403 forbidden');
    expect(await outcome(released, by(max.token), o)).toBe('200');
  });
});

describe('an editor without the right to make policies is refused, before a concept is changed and mapped:', () => {
  const released = 'CREATE OR REPLACE PROPERTY released boolean AS SELECT true';
  const more = (columns: string): string => `CREATE CONCEPT sheet (pages bigint); CREATE OR REPLACE CONCEPT memo (${columns}) INHERITS (sheet)`;
  const mapped = 'CREATE MAPPING m_memo INTO (memo) AS SELECT id AS mid, title, state, code AS pass FROM shop.t_doc';
  const memos = 'SELECT title FROM svc.memo ORDER BY mid';
  it.each([
    ['a condition, and the ancestors', 'ON CONCEPT memo TO PUBLIC USING (released)', `${more(MEMO)}; ${released}`, mapped, memos, ['News'], ['Plan', 'News']],
    [
      'a condition, while the concept has the rows of another one',
      'ON CONCEPT memo TO PUBLIC USING (released)',
      `CREATE OR REPLACE CONCEPT memo (state string, released boolean) INHERITS (road) FROM svc.road WHERE false; ${released}`,
      `CREATE OR REPLACE CONCEPT memo (${MEMO}); ${mapped}`,
      memos,
      ['News'],
      ['Plan', 'News'],
    ],
    [
      'a relationship by a masked property, and the ancestors',
      'ON PROPERTY pass MASK NULL',
      more(`${MEMO}, CONSTRAINT lies FOREIGN KEY (pass) REFERENCES city (id)`),
      mapped,
      'SELECT "lies[city].name" AS n FROM dsvc.memo ORDER BY mid',
      undefined,
      ['Berlin', 'Lyon'],
    ],
    [
      'what a mask reads whose property no mapping has',
      'ON PROPERTY pin MASK WITH (CASE WHEN released THEN pin END)',
      released,
      'CREATE OR REPLACE MAPPING m_slip INTO (slip) AS SELECT id AS lid, state, secret AS pin FROM shop.t_doc',
      'SELECT pin FROM svc.slip ORDER BY lid',
      [null, 's2'],
      ['s1', 's2'],
    ],
    [
      'what a mask reads whose property no concept has',
      'ON PROPERTY seal MASK WITH (CASE WHEN released THEN seal END)',
      released,
      `CREATE CONCEPT act (aid bigint, state string, seal string, released boolean, PRIMARY KEY (aid));
CREATE MAPPING m_act INTO (act) AS SELECT id AS aid, state, secret AS seal FROM shop.t_doc`,
      'SELECT seal FROM svc.act ORDER BY aid',
      [null, 's2'],
      ['s1', 's2'],
    ],
    [
      'a condition of a concept without columns',
      'ON CONCEPT sign TO PUBLIC USING (led_by)',
      'CREATE OR REPLACE PROPERTY led_by boolean AS SELECT true',
      'CREATE OR REPLACE CONCEPT sign (title string, led_by boolean); CREATE MAPPING m_sign INTO (sign) AS SELECT title FROM shop.t_doc',
      'SELECT title FROM dsvc.sign ORDER BY title DESC',
      [],
      ['Plan', 'News'],
    ],
    [
      'the ancestors, by dropping the concept first',
      'ON CONCEPT paper TO PUBLIC USING (did = 2)',
      'DROP CONCEPT hot; DROP CONCEPT doc',
      MAPPED,
      TITLES,
      ['News'],
      ['Plan', 'News'],
      `CREATE CONCEPT doc (did bigint, ${DOC}, PRIMARY KEY (did))`,
    ],
    [
      'what a condition reads in another datasource than that of the first mapping',
      'ON CONCEPT memo TO PUBLIC USING (mid IN (SELECT l.lot FROM svc.lot l WHERE l.released))',
      released,
      mapped.replace(' AS ', ' USING second AS '),
      memos,
      ['News'],
      ['Plan', 'News'],
    ],
  ] as const)('%s', async (_, policy, script, later, read, closed, open, next?: string) => {
    const o = await ontology(`CREATE POLICY p ${policy}`);
    expect(await outcome(script, by(kim.token), o)).toBe('403 forbidden');
    await s.rows(later, o);
    if (closed !== undefined) expect(await shown(read, rob.token, o)).toEqual(closed);
    const other = await ontology(`CREATE POLICY p ${policy}`);
    expect(await outcome(script, by(s.token), other)).toBe('200');
    for (const statement of next === undefined ? [later] : [next, later]) await s.rows(statement, other);
    expect(await shown(read, rob.token, other)).toEqual(open);
  });
});

describe('an editor without the right to make policies may still, where a concept under a policy has no rows,', () => {
  it.each([
    ['write it as it is', `CREATE OR REPLACE CONCEPT doc (${DOC}) INHERITS (paper)`],
    ['add a property', `CREATE OR REPLACE CONCEPT doc (${DOC}, pages bigint) INHERITS (paper)`],
    [
      'add a calculated property',
      `CREATE PROPERTY long_title string AS SELECT title || '!'; CREATE OR REPLACE CONCEPT doc (${DOC}, long_title string) INHERITS (paper)`,
    ],
    ['add a relationship', `CREATE OR REPLACE CONCEPT doc (${DOC}, no bigint, CONSTRAINT lies FOREIGN KEY (no) REFERENCES city (id)) INHERITS (paper)`],
    ['make a concept below it, and drop it in the same script', 'CREATE CONCEPT note INHERITS (doc);DROP CONCEPT note'],
    ['give it one more ancestor', `CREATE CONCEPT sheet (pages bigint); CREATE OR REPLACE CONCEPT doc (${DOC}) INHERITS (paper, sheet)`],
    ['make a view', 'CREATE VIEW titles AS SELECT title FROM svc.doc'],
    ['change what no policy reads', 'CREATE OR REPLACE CONCEPT road (road bigint, km string, lanes bigint, PRIMARY KEY (road))'],
  ])('%s', async (_, script) => {
    const o = await ontology('CREATE POLICY p ON CONCEPT doc TO PUBLIC USING (released)', 'CREATE POLICY q ON PROPERTY secret OF CONCEPT hot MASK FULL');
    for (const statement of script.split('; ')) expect(await outcome(statement, by(kim.token), o)).toBe('200');
    await s.rows(MAPPED, o);
    expect(await shown(TITLES, rob.token, o)).toEqual(['News']);
  });
});

describe('an editor without the right to make policies is refused, before a relationship or multi-valued property has a mapping:', () => {
  const ITEM = (more: string): string => `CREATE OR REPLACE CONCEPT item (did bigint, title string, CONSTRAINT tags MULTIVALUE string,
CONSTRAINT fans MULTIREFERENCE reader INVERSEOF fan_of, CONSTRAINT readers MULTIREFERENCE reader INVERSEOF reads${more}, PRIMARY KEY (did), CONSTRAINT near MULTIREFERENCE item)`;
  const own = [
    'CREATE CONCEPT reader (pid bigint, login string, vip boolean, PRIMARY KEY (pid))',
    "CREATE OR REPLACE PROPERTY vip boolean AS SELECT login = 'Berlin'",
    ITEM(''),
    'CREATE MAPPING m_item INTO (item) AS SELECT id AS did, title FROM shop.t_doc',
    'CREATE MAPPING m_reader INTO (reader) AS SELECT id AS pid, name AS login FROM shop.t_city',
  ];
  const link = (
    relationship: string,
    inverse: string,
    person: number,
  ): string => `CREATE MAPPING m_${relationship} (CONSTRAINT ${relationship} FOREIGN KEY (pid)
REFERENCES reader (pid), CONSTRAINT ${inverse} FOREIGN KEY (did) REFERENCES item (did)) AS SELECT id AS did, ${person} AS pid FROM shop.t_doc WHERE id = ${person}`;
  const items = 'SELECT title FROM svc.item ORDER BY did';
  const note = (head: string): string => `CREATE OR REPLACE CONCEPT note (${head}remark string, CONSTRAINT tags MULTIVALUE string`;
  const values = (into: string, id: number): string =>
    `CREATE MAPPING v_${into} INTO (${into}) MULTIVALUE tags AS SELECT id AS did, 'open' AS tags FROM shop.t_doc WHERE id = ${id}`;
  it.each([
    [
      'a relationship includes another',
      [],
      '"readers[reader].pid" IS NOT NULL',
      ITEM(' INCLUDES (fans)'),
      [link('readers', 'reads', 1), link('fans', 'fan_of', 2)],
      ['Plan'],
      ['Plan', 'News'],
    ],
    [
      'a calculated property at the end of a path',
      [],
      '"readers[reader].vip"',
      'CREATE OR REPLACE PROPERTY vip boolean AS SELECT true',
      [link('readers', 'reads', 2)],
      [],
      ['News'],
    ],
    [
      'a relationship is symmetric',
      [],
      `"near[item].title" = 'News'`,
      ITEM('').replace('near MULTIREFERENCE item', 'near MULTIREFERENCE item SYMMETRIC'),
      [
        `CREATE MAPPING m_close (CONSTRAINT near FOREIGN KEY (b) REFERENCES item (did), CONSTRAINT "~near" FOREIGN KEY (a) REFERENCES item (did))
AS SELECT b AS a, a AS b FROM shop.t_near`,
      ],
      [],
      ['Plan'],
    ],
    [
      'a multi-valued property has the values of a concept with the same key',
      [`${note('did bigint, ')}, PRIMARY KEY (did))`],
      "tags = 'open'",
      `${note('')}) INHERITS (item)`,
      [values('item', 1), values('note', 2)],
      ['Plan'],
      ['Plan', 'News'],
    ],
  ] as const)('%s', async (_, more, condition, script, later, closed, open) => {
    const policy = `CREATE POLICY p ON CONCEPT item TO PUBLIC USING (${condition})`;
    const o = await ontology(...own, ...more, policy);
    expect(await outcome(script, by(kim.token), o)).toBe('403 forbidden');
    for (const statement of later) await s.rows(statement, o);
    expect(await shown(items, rob.token, o)).toEqual(closed);
    const other = await ontology(...own, ...more, policy);
    expect(await outcome(script, by(s.token), other)).toBe('200');
    for (const statement of later) await s.rows(statement, other);
    expect(await shown(items, rob.token, other)).toEqual(open);
  });

  it.each([
    [
      'a calculated property of the condition',
      'shown',
      "CREATE OR REPLACE PROPERTY shown boolean AS SELECT remark = 'public'",
      `CREATE OR REPLACE MAPPING m_page INTO (page) AS SELECT id AS did, title, state, 'public' AS remark FROM shop.t_doc`,
      'SELECT title FROM svc.page ORDER BY did',
    ],
    [
      'a calculated property at the end of a path',
      '"by[writer].leads"',
      "CREATE OR REPLACE PROPERTY leads boolean AS SELECT alias = 'chief'",
      `CREATE OR REPLACE MAPPING m_writer INTO (writer) AS SELECT id AS pid, CASE id WHEN 2 THEN 'chief' END AS grade, 'chief' AS alias FROM shop.t_city`,
      'SELECT title FROM svc.page ORDER BY did',
    ],
    [
      'the foreign key of a path',
      `"at[city].name" = 'Lyon'`,
      'CREATE OR REPLACE CONCEPT page (did bigint, title string, state string, remark string, shown boolean, here bigint, there bigint, PRIMARY KEY (did), CONSTRAINT by FOREIGN KEY (did) REFERENCES writer (pid), CONSTRAINT at FOREIGN KEY (there) REFERENCES city (id))',
      'CREATE OR REPLACE MAPPING m_page INTO (page) AS SELECT id AS did, title, id AS here, CAST(2 AS bigint) AS there FROM shop.t_doc',
      'SELECT title FROM svc.page ORDER BY did',
    ],
  ])('what a policy reads of a mapped concept before a property has a column: %s', async (_, condition, script, later, read) => {
    const pages = [
      'CREATE CONCEPT writer (pid bigint, grade string, alias string, leads boolean, PRIMARY KEY (pid))',
      "CREATE OR REPLACE PROPERTY leads boolean AS SELECT grade = 'chief'",
      'CREATE CONCEPT page (did bigint, title string, state string, remark string, shown boolean, here bigint, there bigint, PRIMARY KEY (did), CONSTRAINT by FOREIGN KEY (did) REFERENCES writer (pid), CONSTRAINT at FOREIGN KEY (here) REFERENCES city (id))',
      "CREATE OR REPLACE PROPERTY shown boolean AS SELECT state = 'public'",
      'CREATE MAPPING m_page INTO (page) AS SELECT id AS did, title FROM shop.t_doc',
      'CREATE MAPPING m_writer INTO (writer) AS SELECT id AS pid FROM shop.t_city',
      `CREATE POLICY p ON CONCEPT page TO PUBLIC USING (${condition})`,
    ];
    const o = await ontology(...pages);
    expect(await outcome(script, by(kim.token), o)).toBe('403 forbidden');
    expect(await outcome(script, by(max.token), await ontology(...pages))).toBe('200');
    await s.rows(later, o);
    expect(await shown(read, rob.token, o)).toEqual(['News']);
    const other = await ontology(...pages);
    for (const statement of [script, later]) await s.rows(statement, other);
    expect(await shown(read, rob.token, other)).toEqual(['Plan', 'News']);
  });

  it('and may make other changes', async () => {
    const o = await ontology(...own, `CREATE POLICY p ON CONCEPT item TO PUBLIC USING ("readers[reader].vip" OR tags = 'open')`);
    for (const script of [
      ITEM(', pages bigint, CONSTRAINT writers MULTIREFERENCE reader INVERSEOF writes, CONSTRAINT marks MULTIVALUE string'),
      ITEM('').replace('fan_of', 'fan_of INCLUDES (readers)'),
      'CREATE CONCEPT below (pages bigint) INHERITS (item)',
      'CREATE CONCEPT apart (did bigint, CONSTRAINT tags MULTIVALUE string, PRIMARY KEY (did), CONSTRAINT of_reader MULTIREFERENCE reader)',
      'CREATE VIEW read_by AS SELECT title, "readers[reader].login" AS login FROM dsvc.item',
      "CREATE CONCEPT read_item FROM dsvc.item WHERE tags = 'x'",
    ])
      expect([script, await outcome(script, by(kim.token), o)]).toEqual([script, '200']);
  });
});

describe('a role that a policy tests cannot be created by an editor of roles, if it is tested', () => {
  const NICKS = 'SELECT nick FROM dsvc.city ORDER BY nick';
  it.each([
    [
      'by the mask of a multi-valued property',
      "ON PROPERTY nick MASK WITH (CASE WHEN svc_has_role('chief') THEN nick ELSE 'x' END)",
      NICKS,
      ['x', 'x'],
      ['Bear', 'Lion'],
    ],
    [
      'by the mask of a column of links',
      "ON PROPERTY km MASK WITH (CASE WHEN svc_has_role('chief') THEN km ELSE 'x' END)",
      'SELECT "near[city]_km" AS k FROM dsvc.city WHERE id = 1',
      ['x'],
      ['far'],
    ],
    ['before the concept has rows', "ON CONCEPT doc TO PUBLIC USING (svc_has_role('chief'))", TITLES, [], ['Plan', 'News']],
    ['by a calculated property before the concept has rows', 'ON CONCEPT doc TO PUBLIC USING (bossy)', TITLES, [], ['Plan', 'News']],
    ['by a view before the concept has rows', 'ON CONCEPT doc TO PUBLIC USING (EXISTS (SELECT 1 FROM vsvc.led))', TITLES, [], ['Plan', 'News']],
    [
      'by a mask before the concept has rows',
      "ON PROPERTY secret MASK WITH (CASE WHEN svc_has_role('chief') THEN secret END)",
      SECRETS,
      [null, null],
      ['s1', 's2'],
    ],
  ])('%s', async (_, policy, read, closed, open) => {
    const o = await ontology(`CREATE POLICY p ${policy}`);
    const mal = await user('mal', 'EDIT ON role', `QUERY ON ALL ontology.${o}`);
    await admins(`GRANT ACCESS ON user.${mal.name} TO USER ${mal.name}`);
    const script = `CREATE ROLE chief; GRANT ROLE chief TO USER ${mal.name}`;
    try {
      const { status, json } = await ask(script, by(mal.token));
      // texts of the model test for the role, too
      expect([status, json.data]).toEqual([403, expect.stringMatching(/^A policy may test/)]);
      await s.rows(MAPPED, o);
      expect(await shown(read, mal.token, o)).toEqual(closed);
      await admins(script);
      expect(await shown(read, mal.token, o)).toEqual(open);
      expect(await outcome('DROP ROLE chief', by(s.token))).toBe('400 in_use');
    } finally {
      await admins(`DROP ONTOLOGY ${o}`);
      await s.query('DROP ROLE chief');
    }
    expect(await outcome('CREATE ROLE chief; DROP ROLE chief', by(mal.token))).toBe('200');
  });
});
