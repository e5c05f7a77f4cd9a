/** Definitions that read with the rights of their writer: their readers read no more than the writer may, and policies do not depend on these rights. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../support/service.ts';
import { steady } from '../support/shows.ts';
import { Crew } from './editors-crew.ts';

let crew: Crew;
let s: TestService;
beforeAll(async () => {
  crew = await Crew.open();
  s = crew.service;
});
afterEach(() => crew.clear());
afterAll(() => s?.close());

let users = 0;
/** A user with grants on an ontology (`@`). @returns its name and token */
async function user(ontology: string, ...grants: string[]): Promise<{ readonly name: string; readonly token: string }> {
  const name = `user${++users}`;
  return { name, token: await s.user(name, ...grants.map((g) => g.replace('@', `ontology.${ontology}`))) };
}

const CONCEPTS = `CREATE CONCEPT base (b_id bigint, PRIMARY KEY (b_id)); CREATE CONCEPT emp (secret string) INHERITS (base); CREATE CONCEPT temp (secret string) INHERITS (base);
  CREATE CONCEPT hid INHERITS (base); CREATE MAPPING m_emp INTO (emp) AS SELECT id AS b_id, ssn AS secret FROM crew.t_worker`;

describe('one relation that is read with the rights of two users', () => {
  const LATE = "CREATE CONCEPT late INHERITS (base) FROM dsvc.base WHERE secret > 's-102'";

  it('returns to each the values that it may read, in any order of the columns', async () => {
    const ontology = await crew.ontology(CONCEPTS);
    const writer = await user(ontology, 'EDIT ON @', 'EDIT ON @.concept.late', 'QUERY ON @.concept.base', 'QUERY ON @.concept.emp');
    const reader = await user(ontology, 'QUERY ON @.concept.base', 'QUERY ON @.concept.late', 'QUERY ON @.concept.temp');
    await s.rows(LATE, ontology, writer.token);
    for (const columns of ['"_type_of_late" AS t, secret', 'secret, "_type_of_late" AS t', '"_type_of_late" AS t, max(secret) OVER () AS secret'])
      expect(await s.rows(`SELECT ${columns} FROM dsvc.base ORDER BY b_id`, ontology, reader.token), columns).toEqual(
        [false, false, true, true, true, true].map((t) => ({ t, secret: null })),
      );
    for (const where of ['"_type_of_late" AND secret = \'s-104\'', 'secret = \'s-104\' AND "_type_of_late"'])
      expect(await s.rows(`SELECT b_id FROM dsvc.base WHERE ${where}`, ontology, reader.token)).toEqual([]);
    expect(await s.rows('SELECT b_id FROM dsvc.base WHERE secret IS NULL AND "_type_of_late" ORDER BY b_id', ontology, reader.token)).toHaveLength(4);
  });

  it('starts the steps of each walk only at rows that its reader may read', async () => {
    const ontology = await crew.ontology(
      `CREATE CONCEPT person (p_id bigint, boss_id bigint, PRIMARY KEY (p_id), CONSTRAINT boss FOREIGN KEY (boss_id) REFERENCES person (p_id) INVERSEOF leads TRANSITIVE);
       CREATE CONCEPT near INHERITS (person); CREATE CONCEPT far INHERITS (person);
       CREATE MAPPING m_near INTO (near) AS SELECT id AS p_id, boss AS boss_id FROM crew.t_worker WHERE id IN (101, 106);
       CREATE MAPPING m_far INTO (far) AS SELECT id AS p_id, boss AS boss_id FROM crew.t_worker WHERE id NOT IN (101, 106)`,
    );
    const tables = 'QUERY ON datasource.main';
    const writer = await user(ontology, tables, 'EDIT ON @', 'EDIT ON @.concept.low', ...['person', 'near', 'far'].map((c) => `QUERY ON @.concept.${c}`));
    const reader = await user(ontology, tables, 'ACCESS ON @.concept.person', ...['near', 'low'].map((c) => `QUERY ON @.concept.${c}`));
    await s.rows('CREATE CONCEPT low INHERITS (near) FROM dsvc.near WHERE "boss[near*9].p_id" = 101', ontology, writer.token);
    const sql = (first: string) => `SELECT ${first}p_id, "boss[near*9].p_id" AS boss FROM dsvc.near ORDER BY 1, 2`;
    const withoutType = await s.rows(sql(''), ontology, reader.token);
    const withType = await s.rows(sql('"_type_of_low" AS t, '), ontology, reader.token);
    expect(withType.map(({ t: _, ...row }) => row)).toEqual(withoutType);
    expect(withType.map((row) => row.t)).toContain(true);
  });
});

describe('what a policy reads does not depend on the rights of the writer', () => {
  it.each([
    ['a logic concept', 'CREATE POLICY few ON CONCEPT hid TO USER nobody USING (true)'],
    ['the rows of a logic concept', 'CREATE POLICY few ON CONCEPT base TO PUBLIC USING (b_id NOT IN (SELECT h.b_id FROM svc.hid h))'],
    ['a column that says what a row is', 'CREATE POLICY few ON CONCEPT base TO PUBLIC USING (NOT "_type_of_hid")'],
    ['a view', 'CREATE POLICY few ON CONCEPT base TO PUBLIC USING (b_id NOT IN (SELECT v.b_id FROM vsvc.vhid v))'],
    ['a view of a view', 'CREATE POLICY few ON CONCEPT base TO PUBLIC USING (b_id NOT IN (SELECT v.b_id FROM vsvc.above v))'],
  ])('%s', async (_, policy) => {
    const ontology = await crew.ontology(CONCEPTS);
    const edits = ['EDIT ON @', ...['base', 'hid'].map((c) => `EDIT ON @.concept.${c}`), 'QUERY ON @.concept.temp', 'QUERY ON @.concept.emp'];
    const writer = await user(ontology, ...edits);
    const reader = await user(ontology, 'QUERY ON @.concept.base');
    await s.rows(
      `CREATE OR REPLACE CONCEPT hid INHERITS (base) FROM dsvc.base WHERE secret > 's-102'; CREATE VIEW vhid AS SELECT b_id FROM dsvc.base WHERE secret > 's-102';
       CREATE VIEW above AS SELECT b_id FROM vsvc.vhid`,
      ontology,
      writer.token,
    );
    await s.rows(policy, ontology);
    const shown = async (token: string) => (await s.rows('SELECT b_id FROM svc.base ORDER BY 1', ontology, token)).map((r) => r.b_id);
    const at = `ontology.${ontology}.concept`;
    // without QUERY on `emp` its values are NULL for the writer, without QUERY on `temp` the name is unknown, at last the concept itself
    for (const loss of ['SELECT 1 AS one', `REVOKE QUERY ON ${at}.emp FROM USER ${writer.name}`, `REVOKE QUERY ON ${at}.temp FROM USER ${writer.name}`]) {
      await s.rows(loss);
      for (const { token } of [reader, writer]) expect(await shown(token), loss).toEqual([101, 102]);
    }
    await s.rows(`REVOKE EDIT ON ${at}.base FROM USER ${writer.name}`);
    expect(await shown(reader.token)).toEqual([101, 102]);
  });
});

describe('what a concept lists before its values exist', () => {
  const EMPTY = 'CREATE CONCEPT base (b_id bigint, PRIMARY KEY (b_id)); CREATE CONCEPT emp INHERITS (base)';
  const MAPPED = 'CREATE MAPPING m_emp INTO (emp) AS SELECT id AS b_id, ssn AS secret, salary AS pay FROM crew.t_worker';
  const LATER =
    'CREATE OR REPLACE CONCEPT emp (secret string, pay decimal(12,2), CONSTRAINT hint MULTIVALUE string) INHERITS (base); CREATE MAPPING m_hint INTO (emp) MULTIVALUE hint AS SELECT id AS b_id, phone AS hint FROM crew.t_phone';
  const LISTS = `secret string, pay decimal(12,2), shout string, most MEASURE string, CONSTRAINT hint MULTIVALUE string, CONSTRAINT same FOREIGN KEY (secret) REFERENCES twin (t_id)`;
  const WRITES = `CREATE CONCEPT twin (t_id string, PRIMARY KEY (t_id)); CREATE PROPERTY shout string AS SELECT upper(secret); CREATE MEASURE most string AS SELECT MAX(secret);
    CREATE CONCEPT late (${LISTS}) INHERITS (base) FROM dsvc.base WHERE true`;
  const READS = [
    'SELECT * FROM svc.late',
    'SELECT * FROM esvc.late',
    'SELECT hint, shout, secret FROM dsvc.late',
    'SELECT max(secret) AS m, min(pay) AS p FROM svc.late',
    'SELECT "measure.most" AS m FROM dsvc.late',
    "SELECT b_id FROM svc.late WHERE secret = 's-101' OR pay = 9000",
    'SELECT b_id FROM svc.late WHERE pay > 8000',
    'SELECT "same[twin].t_id" AS t FROM dsvc.late',
    'SELECT max(pay) AS p FROM (SELECT pay FROM svc.late ORDER BY pay DESC NULLS LAST LIMIT 1) x',
    'SELECT * FROM svc.below',
  ];

  it('is shown if its writer may read it', async () => {
    const ontology = await crew.ontology(`${EMPTY}; ${MAPPED}`);
    const grants = ['EDIT ON @', ...['base', 'late', 'twin', 'below'].map((c) => `EDIT ON @.concept.${c}`)];
    const writer = await user(ontology, ...grants);
    const reader = await user(ontology, ...['late', 'twin', 'below'].map((c) => `QUERY ON @.concept.${c}`));
    await s.rows(`${WRITES}; CREATE CONCEPT below (secret string, pay decimal(12,2)) INHERITS (late)`, ontology, writer.token);
    await s.rows(`${LATER}; CREATE MAPPING m_twin INTO (twin) AS SELECT ssn AS t_id FROM crew.t_assign`, ontology);
    const shown = async (token: string): Promise<string> =>
      JSON.stringify(await Promise.all(READS.map(async (sql) => (await s.query(sql, ontology, token)).json.data)));
    for (const { token } of [writer, reader]) expect(steady(await shown(token))).not.toMatch(/s-10|S-10|p-10|\d000|"b_id":101}/);
    // those who may read the values publish them
    await s.rows(`GRANT QUERY ON ontology.${ontology}.concept.emp TO USER ${writer.name}`);
    for (const { token } of [writer, reader]) expect(await shown(token)).toMatch(/s-101.*p-101.*9000/s);
    await s.rows(`REVOKE QUERY ON ontology.${ontology}.concept.emp FROM USER ${writer.name}`);
    for (const { token } of [writer, reader]) expect(steady(await shown(token))).not.toMatch(/s-10|S-10|p-10|\d000|"b_id":101}/);
    // an administrator who replaces the concept publishes all
    await s.rows(WRITES.replace(/^.*(?=CREATE CONCEPT late)/s, '').replace('CREATE', 'CREATE OR REPLACE'), ontology);
    expect(await shown(reader.token)).toMatch(/s-101.*p-101.*9000/s);
  });

  it('by a concept below one of an administrator, whose condition reads the values: it has no rows of other concepts', async () => {
    const ontology = await crew.ontology(`${EMPTY}; ${MAPPED}`, LATER, "CREATE CONCEPT hid INHERITS (base) FROM dsvc.base WHERE secret < 's-104'");
    const writer = await user(ontology, 'EDIT ON @', ...['hid', 'below'].map((c) => `EDIT ON @.concept.${c}`));
    await s.rows('CREATE CONCEPT below (secret string) INHERITS (hid)', ontology, writer.token);
    expect(await s.rows('SELECT b_id, secret FROM svc.below', ontology, writer.token)).toEqual([]);
    // before there was the property
    const other = await crew.ontology(`${EMPTY}; ${MAPPED}; CREATE CONCEPT hid INHERITS (base) FROM dsvc.base WHERE true`);
    const second = await user(other, 'EDIT ON @', ...['hid', 'below'].map((c) => `EDIT ON @.concept.${c}`));
    await s.rows('CREATE CONCEPT below (secret string) INHERITS (hid)', other, second.token);
    await s.rows(`${LATER}; CREATE OR REPLACE CONCEPT hid INHERITS (base) FROM dsvc.base WHERE secret < 's-104'`, other);
    expect(await s.rows('SELECT b_id, secret FROM svc.below', other, second.token)).toEqual([]);
  });
});

it('a concept over rows of all concepts is read while its writer may query all', async () => {
  const ontology = await crew.ontology();
  const writer = await user(ontology, 'EDIT ON @', 'QUERY ON ALL @', 'EDIT ON @.concept.everything');
  await s.rows('CREATE CONCEPT everything FROM svc.thing WHERE true', ontology, writer.token);
  expect((await s.rows('SELECT count(*) AS n FROM svc.everything', ontology, writer.token))[0].n).toBe(19);
  await s.rows(`REVOKE QUERY ON ALL ontology.${ontology} FROM USER ${writer.name}`);
  for (const token of [writer.token, s.token])
    expect(await s.fault('SELECT count(*) AS n FROM svc.everything', ontology, token)).toBe('403 concept_unreadable');
});

it('a calculated property does not make way for the column of its name', async () => {
  const ontology = await crew.ontology(
    'CREATE PROPERTY pay decimal(12,2) AS SELECT b_id; CREATE CONCEPT base (b_id bigint, pay decimal(12,2), PRIMARY KEY (b_id)); CREATE CONCEPT emp INHERITS (base)',
    'CREATE MAPPING m_emp INTO (emp) AS SELECT id AS b_id, salary AS pay FROM crew.t_worker',
  );
  const writer = await user(ontology, 'EDIT ON @', 'EDIT ON @.concept.base');
  const base = (more: string) => `CREATE OR REPLACE CONCEPT base (b_id bigint, ${more}PRIMARY KEY (b_id))`;
  const script = `${base('')}; CREATE OR REPLACE PROPERTY pay decimal(12,2); ${base('pay decimal(12,2), ')}`;
  expect(await s.fault(script, ontology, writer.token)).toBe('403 forbidden');
  expect(await s.rows('SELECT max(pay) AS pay FROM svc.base', ontology, writer.token)).toEqual([{ pay: 106 }]);
});

describe('a script of several statements is checked by its final result', () => {
  const BASE = (more = '') => `CREATE OR REPLACE CONCEPT base (b_id bigint, ${more}PRIMARY KEY (b_id))`;
  it.each([
    ['a calculated property', 'PROPERTY p string AS SELECT', "'a' || b_id", "'b'", 'p string, '],
    ['a measure', 'MEASURE p string AS SELECT', 'MIN(b_id)::text', 'MIN(secret)', 'p MEASURE string, '],
  ])('%s of a hidden concept is not taken away, replaced and given back', async (_, kind, old, now, listed) => {
    const ontology = await crew.ontology(
      `CREATE ${kind} ${old}; CREATE CONCEPT base (b_id bigint, ${listed}PRIMARY KEY (b_id)); CREATE CONCEPT emp INHERITS (base); CREATE CONCEPT mine (secret string) INHERITS (base)`,
      'CREATE MAPPING m_emp INTO (emp) AS SELECT id AS b_id, ssn AS secret FROM crew.t_worker',
    );
    const writer = await user(ontology, 'EDIT ON @', ...['base', 'mine'].map((c) => `EDIT ON @.concept.${c}`));
    const replace = `CREATE OR REPLACE ${kind} ${now}`;
    expect(await s.fault(replace, ontology, writer.token)).toBe('403 forbidden');
    expect(await s.fault(`${BASE()}; ${replace}; ${BASE(listed)}`, ontology, writer.token)).toBe('403 forbidden');
    // what comes to the same is not refused
    await s.rows(`${BASE()}; CREATE OR REPLACE ${kind} ${old}; ${BASE(listed)}`, ontology, writer.token);
  });
});

describe('an editor cannot make a view or cube of another user show what the editor may not query', () => {
  const OVER = `${CONCEPTS}; CREATE CONCEPT upper_m (x_id bigint)`;
  it.each([
    ['a star over descendants', 'CREATE VIEW v AS SELECT * FROM dsvc.upper_m'],
    ['whole rows', 'CREATE VIEW v AS SELECT to_jsonb(m)::text AS j FROM dsvc.upper_m m'],
    ['only the key', 'CREATE VIEW v AS SELECT entity_id FROM svc.upper_m'],
    ['a view below', 'CREATE VIEW below AS SELECT * FROM dsvc.upper_m; CREATE VIEW v AS SELECT * FROM vsvc.below'],
    ['a logic concept', 'CREATE CONCEPT cut INHERITS (upper_m) FROM dsvc.upper_m WHERE true; CREATE VIEW v AS SELECT * FROM dsvc.cut'],
    ['a cube', 'CREATE ONTOLOGY CUBE v AS SELECT entity_type AS t, count(entity_id) AS n FROM dsvc.upper_m'],
  ])('%s', async (_, view) => {
    const ontology = await crew.ontology(OVER, view);
    const reads = (...more: string[]) => ['EDIT ON @', ...['base', 'upper_m'].map((c) => `EDIT ON @.concept.${c}`), 'QUERY ON @.view.v', ...more];
    const writer = await user(ontology, ...reads());
    const script = 'CREATE OR REPLACE CONCEPT base (b_id bigint, PRIMARY KEY (b_id)) INHERITS (upper_m)';
    const outcome = await s.fault(script, ontology, writer.token);
    // the rows themselves the writer may query, as those of `base`
    expect(outcome).toBe(/entity_/.test(view) ? '200 undefined' : '403 forbidden');
    expect(JSON.stringify((await s.query('SELECT * FROM vsvc.v', ontology, writer.token)).json.data)).not.toMatch(/s-10/);
    const all = await user(ontology, ...reads('QUERY ON ALL @'));
    await s.rows(script, ontology, all.token);
  });

  it('and other changes go on', async () => {
    const ontology = await crew.ontology(
      OVER,
      'CREATE VIEW v AS SELECT m.*, e.secret FROM svc.upper_m m JOIN svc.emp e ON true',
      'CREATE VIEW w AS SELECT * FROM dsvc.upper_m',
    );
    const writer = await user(ontology, 'EDIT ON @', 'EDIT ON @.concept.upper_m');
    await s.rows(
      "ALTER CONCEPT upper_m UPDATE TAG a = 'b'; CREATE CONCEPT more_m (y_id bigint); CREATE VIEW mine AS SELECT x_id FROM svc.upper_m",
      ontology,
      writer.token,
    );
    await s.rows('DROP VIEW v', ontology);
    await s.rows('CREATE OR REPLACE CONCEPT upper_m (x_id bigint, y_id bigint)', ontology, writer.token);
    expect(Object.keys((await s.query('DESCRIBE VIEW w', ontology)).json.data).length).toBeGreaterThan(0);
  });
});
