/** Attempts of a writer who may not query all of an ontology to read by what it writes; each attack as a statement, with its expected result. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../support/service.ts';
import { steady } from '../support/shows.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { Crew } from './editors-crew.ts';

const SIZES = sizesOf('attacks/editors-writers');
let crew: Crew;
let s: TestService;
beforeAll(async () => {
  crew = await Crew.open();
  s = crew.service;
});
afterAll(() => s?.close());

describe('a writer may use only what it may query', () => {
  let at: string;
  /** EDIT on the ontology itself and on `own`, QUERY on `being`; sees everything. */
  let sue: string;
  /** The same, but sees only these. */
  let tim: string;
  beforeAll(async () => {
    at = await crew.ontology();
    await s.rows(
      'CREATE VIEW firms AS SELECT firm_name FROM svc.firm; CREATE CONCEPT plain (p_id bigint, PRIMARY KEY (p_id)); CREATE CONCEPT shelf INHERITS (firm); CREATE MEASURE tally bigint AS SELECT COUNT(firm_id); CREATE CONCEPT tallied (tally MEASURE bigint) INHERITS (firm); CREATE MAPPING m_shelf INTO (shelf) AS SELECT CAST(9 AS bigint) AS firm_id',
      at,
    );
    const grants = [
      `EDIT ON ontology.${at}`,
      `EDIT ON ontology.${at}.concept.own`,
      `EDIT ON ontology.${at}.concept.shelf`,
      `QUERY ON ontology.${at}.concept.being`,
    ];
    sue = await s.user('sue', `ACCESS ON ALL ontology.${at}`, 'QUERY ON datasource.main', ...grants);
    tim = await s.user('tim', ...grants);
  });

  const OWN = 'CREATE OR REPLACE CONCEPT own';
  const needs = (what: string): string => `403 forbidden This needs QUERY on ontology.AT.${what}`;
  // «marks» enclose the text at the position of the refusal
  it.each([
    ['inherits', `${OWN} INHERITS («firm»)`, 'concept.firm'],
    ['inherits with a list', `${OWN} (k bigint, more string) INHERITS (being, «firm»)`, 'concept.firm'],
    ['inherits what it had before', `${OWN} (k bigint, PRIMARY KEY (k)) INHERITS («worker»)`, 'concept.worker'],
    ['makes a concept that inherits', 'CREATE CONCEPT new INHERITS («firm»)', 'concept.firm'],
    ['defines a concept', `${OWN} INHERITS (being) FROM dsvc.«worker» WHERE true`, 'concept.worker'],
    ['walks in a condition', `${OWN} INHERITS (being) FROM dsvc.being WHERE EXISTS (SELECT 1 FROM dsvc.being b WHERE «b."_type_of_worker"»)`, 'concept.worker'],
    ['reads in a condition', `${OWN} INHERITS (being) FROM dsvc.being WHERE EXISTS (SELECT 1 FROM «svc.firm»)`, 'concept.firm'],
    ['reads in a view', 'CREATE VIEW mine AS SELECT firm_name FROM «svc.firm»', 'concept.firm'],
    ['reads a view in a view', 'CREATE VIEW mine AS SELECT firm_name FROM «vsvc.firms»', 'view.firms'],
    ['reads in a cube', 'CREATE ONTOLOGY CUBE mine AS SELECT firm_name AS f, count(firm_id) AS n FROM «dsvc.firm»', 'concept.firm'],
    ['reads in an example', "CREATE EXAMPLE 'which?' AS SELECT firm_name FROM «svc.firm»", 'concept.firm'],
    ['names in a calculated property', 'CREATE PROPERTY most decimal AS SELECT abs(«salary»)', 'concept.worker'],
    ['names in a measure', 'CREATE MEASURE top decimal AS SELECT MAX(«salary»)', 'concept.worker'],
    ['names in the condition of a measure', 'CREATE MEASURE many bigint AS SELECT COUNT(being_id) WHERE «salary» > 1', 'concept.worker'],
    ['changes a property of it', 'CREATE OR REPLACE PROPERTY «low» boolean AS SELECT true', 'concept.worker'],
    ['changes a property that it inherits', 'CREATE OR REPLACE PROPERTY «given» string AS SELECT 1', 'concept.worker'],
    ['changes a measure of it', 'CREATE OR REPLACE MEASURE «tally» bigint AS SELECT MAX(being_id)', 'concept.tallied'],
    ['drops a mapping of it', 'DROP MAPPING «m_firm»', 'concept.firm'],
    ['maps it', 'CREATE MAPPING more INTO («firm») AS SELECT id AS firm_id FROM crew.t_firm', 'concept.firm'],
  ])('%s', async (_, marked, what) => {
    const [head = '', inside = '', tail = ''] = marked.split(/[«»]/);
    const { status, json } = await s.query(head + inside + tail, at, sue);
    expect(`${status} ${json.code} ${json.data}`).toBe(needs(what).replace('AT', at));
    expect(json.position).toBe(head.length + 1);
    // for a user who does not see it, it is not mentioned
    const unseen = await s.query(head + inside + tail, at, tim);
    expect([400, 403]).toContain(unseen.status);
    expect(unseen.json.data).not.toMatch(/QUERY on ontology/);
  });

  it('changing the depth of walks needs QUERY on all of the ontology', async () =>
    expect(await s.fault(`ALTER ONTOLOGY ${at} SET default_transitivity = '9'`, at, sue)).toBe('403 forbidden'));

  it('a concept does not gain rows that its writer may not query', async () => {
    const { status, json } = await s.query('DROP MAPPING m_shelf', at, sue);
    expect([status, json.data]).toEqual([403, `This needs QUERY on ontology.${at}.concept.firm`]);
    const refusal = await s.query('DROP MAPPING m_shelf', at, tim);
    expect([refusal.status, refusal.json.data]).toEqual([403, `This needs QUERY on ALL ontology.${at}`]);
  });

  it.each([
    ['rows of all concepts', "EXISTS (SELECT 1 FROM svc.thing t WHERE t.entity_label = 'Acme')"],
    ['whole rows with values of hidden concepts', "EXISTS (SELECT 1 FROM dsvc.being b WHERE to_jsonb(b)::text LIKE '%9000%')"],
    ['columns that a hidden concept has', 'EXISTS (SELECT 1 FROM (SELECT * FROM dsvc.being) b (a, b, c, d, e, f) WHERE f IS NOT NULL)'],
  ])('a condition does not read %s', async (_, condition) => {
    for (const token of [sue, tim]) expect(await s.fault(`${OWN} INHERITS (being) FROM dsvc.being WHERE ${condition}`, at, token)).toMatch(/^40[03] /);
    expect((await s.query('SELECT * FROM svc.own', at, sue)).json.data).toEqual([]);
  });

  it.each([
    ['concept', 'CREATE OR REPLACE CONCEPT worker (w_id bigint, PRIMARY KEY (w_id))'],
    ['view', 'CREATE OR REPLACE VIEW firms AS SELECT given FROM svc.being'],
    ['property', 'CREATE OR REPLACE PROPERTY salary decimal(12,2) AS SELECT 1'],
    ['measure', 'CREATE OR REPLACE MEASURE unseen bigint AS SELECT COUNT(being_id)'],
    ['mapping', 'CREATE OR REPLACE MAPPING m_worker INTO (own) AS SELECT n AS k FROM crew.t_num'],
  ])('a %s that its writer does not see is not replaced', async (what, script) => {
    if (script.includes('unseen'))
      await s.rows(`CREATE MEASURE unseen bigint AS SELECT COUNT(firm_id); CREATE CONCEPT counted (unseen MEASURE bigint) INHERITS (firm)`, at);
    const uma = await s.user(
      `uma_${what}`,
      `EDIT ON ontology.${at}`,
      `EDIT ON ontology.${at}.concept.own`,
      `QUERY ON ontology.${at}.concept.being`,
      'QUERY ON datasource.main',
    );
    const version = await crew.versionOf(at);
    const { status, json } = await s.query(script, at, uma);
    expect([status, json.code, json.data]).toEqual([400, 'exists', 'the statement conflicts with a part of the ontology that you may not see']);
    expect(await crew.versionOf(at)).toBe(version);
  });

  it.each([
    ['a description', "CREATE PROPERTY codename string DESCRIPTION 'Overlord'"],
    ['tags', "CREATE PROPERTY codename string WITH TAGS (unit = 'Overlord')"],
    ['an expression', "CREATE PROPERTY codename string AS SELECT 'Overlord'"],
  ])('a property that the writer does not see cannot be listed if it has %s', async (_, property) => {
    const ontology = await crew.ontology(`${property}; CREATE CONCEPT secret_c (codename string)`);
    const una = await s.user(`una${crew.count}`, `EDIT ON ontology.${ontology}`, `EDIT ON ontology.${ontology}.concept.own`);
    const { status, json } = await s.query('CREATE OR REPLACE CONCEPT own (k bigint, codename string, PRIMARY KEY (k))', ontology, una);
    expect([status, json.code, json.data]).toEqual([400, 'exists', 'the statement conflicts with a part of the ontology that you may not see']);
    expect(json.position).toBe(42);
    expect(await s.fault('SHOW CREATE PROPERTY codename', ontology, una)).toBe('400 unknown_property');
    // a caller who sees it may list it
    const uta = await s.user(
      `uta${crew.count}`,
      `EDIT ON ontology.${ontology}`,
      `EDIT ON ontology.${ontology}.concept.own`,
      `ACCESS ON ontology.${ontology}.concept.secret_c`,
    );
    await s.rows('CREATE OR REPLACE CONCEPT own (k bigint, codename string, PRIMARY KEY (k))', ontology, uta);
  });

  it('dropping a hidden object is an unknown name', async () => {
    for (const what of ['PROPERTY salary', 'MAPPING m_worker', 'CONCEPT worker', 'VIEW firms'])
      expect((await s.query(`DROP ${what}`, at, tim)).json.code, what).toBe(`unknown_${what.split(' ')[0]?.toLowerCase()}`);
  });

  it('a concept cannot have the rows of all concepts', async () => {
    for (const token of [sue, tim]) expect(await s.fault('CREATE CONCEPT everything FROM svc.thing WHERE true', at, token)).toBe('403 forbidden');
  });

  it('a concept does not gain values that its writer may not query', async () => {
    await s.rows(
      `CREATE CONCEPT upper_c (u_id bigint, PRIMARY KEY (u_id)); CREATE CONCEPT lower_c (secret string, CONSTRAINT hint MULTIVALUE string) INHERITS (upper_c); CREATE MEASURE least string AS SELECT MIN(secret);
       CREATE MAPPING m_lower INTO (lower_c) AS SELECT id AS u_id, ssn AS secret FROM crew.t_worker; CREATE MAPPING m_hint INTO (lower_c) MULTIVALUE hint AS SELECT id AS u_id, phone AS hint FROM crew.t_phone`,
      at,
    );
    for (const [name, token] of [
      ['sue', sue],
      ['tim', tim],
    ] as const) {
      await s.rows(`GRANT EDIT ON ontology.${at}.concept.upper_c TO USER ${name}`);
      for (const element of ['secret string', 'CONSTRAINT hint MULTIVALUE string', 'least MEASURE string']) {
        const { status, json } = await s.query(`CREATE OR REPLACE CONCEPT upper_c (u_id bigint, ${element}, PRIMARY KEY (u_id))`, at, token);
        if (name === 'sue') expect([status, json.data], element).toEqual([403, `This needs QUERY on ontology.${at}.concept.lower_c`]);
        else expect([400, 403], `${element} ${JSON.stringify(json)}`).toContain(status);
        expect(JSON.stringify(await s.query('SELECT * FROM svc.upper_c', at, token))).not.toMatch(/s-10/);
      }
    }
  });

  it('a concept does not gain values and links of rows between two concepts that its writer may query', async () => {
    await s.rows(
      `CREATE CONCEPT top_c (t_id bigint, PRIMARY KEY (t_id)); CREATE CONCEPT mid_c (CONSTRAINT mark MULTIVALUE string, CONSTRAINT works_on MULTIREFERENCE project INVERSEOF done_by) INHERITS (top_c);
       CREATE CONCEPT low_c INHERITS (mid_c); CREATE MAPPING m_mid INTO (mid_c) AS SELECT id AS t_id FROM crew.t_worker; CREATE MAPPING m_low INTO (low_c) AS SELECT CAST(101 AS bigint) AS t_id;
       CREATE MAPPING m_mark INTO (mid_c) MULTIVALUE mark AS SELECT id AS t_id, phone AS mark FROM crew.t_phone;
       CREATE MAPPING m_works (CONSTRAINT works_on FOREIGN KEY (b) REFERENCES project (project_id), CONSTRAINT done_by FOREIGN KEY (a) REFERENCES mid_c (t_id)) AS SELECT a, b FROM crew.t_assign`,
      at,
    );
    const una = await s.user('una', `ACCESS ON ALL ontology.${at}`, ...['top_c', 'low_c', 'project'].map((c) => `EDIT ON ontology.${at}.concept.${c}`));
    const reads = async (concept: string) =>
      JSON.stringify((await s.query(`SELECT t_id, mark, "works_on[project].title" AS title FROM dsvc.${concept}`, at, una)).json.data);
    expect(await reads('low_c')).toBe('[{"t_id":101,"mark":"p-101","title":"Bridge"}]');
    for (const element of ['CONSTRAINT mark MULTIVALUE string', 'CONSTRAINT works_on MULTIREFERENCE project INVERSEOF done_by']) {
      const outcome = await s.fault(`CREATE OR REPLACE CONCEPT top_c (t_id bigint, ${element}, PRIMARY KEY (t_id))`, at, una);
      // the declaration of a second link of that name is another relationship, which has no mapping
      expect([element, outcome]).toEqual([element, element.includes('VALUE') ? '403 forbidden' : '200 undefined']);
      expect(await reads('top_c')).not.toMatch(/p-10[46]|Tunnel/);
    }
  });

  it('a concept does not gain values by a property that a descendant lists', async () => {
    const ontology = await crew.ontology('CREATE CONCEPT kept INHERITS (being); CREATE CONCEPT side (k bigint)');
    const grants = ['kept', 'side', 'new', 'guest', 'being', 'late'].map((c) => `EDIT ON ontology.${ontology}.concept.${c}`);
    const reads = [`EDIT ON ontology.${ontology}`];
    const knows = await s.user('zoe', `ACCESS ON ALL ontology.${ontology}`, ...grants, ...reads);
    const guesses = await s.user('zac', ...grants, ...reads);
    const both = await s.user('zed', ...grants, ...reads, `QUERY ON ontology.${ontology}.concept.worker`);
    const shown = async (token: string, ...concepts: string[]): Promise<string> => {
      const asked = concepts.flatMap((c) => ['svc', 'dsvc', 'esvc'].map((schema) => s.query(`SELECT * FROM ${schema}.${c}`, ontology, token)));
      return JSON.stringify((await Promise.all(asked)).map(({ json }) => json.data));
    };
    const old = await crew.versionOf(ontology);
    const back = `ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`;
    // a concept without rows, and a concept with its own rows, show no rows of a related concept by the properties that they list
    const lists = [
      'CREATE CONCEPT new (salary decimal(12,2)) INHERITS (being)',
      'CREATE OR REPLACE CONCEPT kept (salary decimal(12,2)) INHERITS (being)',
      'CREATE OR REPLACE CONCEPT guest (salary decimal(12,2), ssn string) INHERITS (being)',
      'CREATE CONCEPT new INHERITS (being); CREATE OR REPLACE CONCEPT kept (salary decimal(12,2)) INHERITS (new)',
      'CREATE OR REPLACE CONCEPT side (ssn string, salary decimal(12,2)); CREATE OR REPLACE CONCEPT kept INHERITS (being, side)',
      'CREATE OR REPLACE CONCEPT guest (ssn string, salary decimal(12,2)) INHERITS (being); CREATE CONCEPT new INHERITS (guest)',
    ];
    const opens = [
      'CREATE CONCEPT late (salary decimal(12,2)) INHERITS (being) FROM dsvc.being WHERE true',
      'CREATE CONCEPT late INHERITS (kept, guest) FROM svc.being WHERE being_id > 0',
      'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, salary decimal(12,2), PRIMARY KEY (being_id), LABEL (given))',
      'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, ssn string, PRIMARY KEY (being_id), LABEL (ssn))',
    ];
    for (const token of [knows, guesses])
      for (const [i, script] of lists.entries()) {
        await s.rows(script, ontology, token);
        for (const next of oneIn(SIZES.everyNext, opens, i + (token === knows ? 0 : 2))) {
          expect(await s.fault(next, ontology, token), `${script}; ${next}`).toMatch(/^(403 forbidden|200 undefined)$/);
          expect(steady(await shown(token, 'being', 'thing', 'guest', 'kept', 'new', 'late')), `${script}; ${next}`).not.toMatch(/s-10\d|9000/);
        }
        await s.rows(back, ontology);
      }
    await s.rows('CREATE CONCEPT new (salary decimal(12,2)) INHERITS (being); CREATE OR REPLACE CONCEPT kept (k bigint) INHERITS (new)', ontology, both);
  });

  it('a concept does not gain values of hidden related concepts by a property that a readable concept lists', async () => {
    const ontology = await crew.ontology('CREATE OR REPLACE CONCEPT guest (salary decimal(12,2), ssn string) INHERITS (being)');
    const grants = ['guest', 'being', 'late'].map((c) => `EDIT ON ontology.${ontology}.concept.${c}`);
    const knows = await s.user('yan', `ACCESS ON ALL ontology.${ontology}`, `EDIT ON ontology.${ontology}`, ...grants);
    const guesses = await s.user('yul', `EDIT ON ontology.${ontology}`, ...grants);
    for (const token of [knows, guesses])
      for (const script of [
        'CREATE CONCEPT late (salary decimal(12,2)) INHERITS (being) FROM svc.being WHERE true',
        'CREATE CONCEPT late INHERITS (guest) FROM dsvc.being WHERE being_id > 0',
        'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, salary decimal(12,2), PRIMARY KEY (being_id), LABEL (given))',
        'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, ssn string, PRIMARY KEY (being_id), LABEL (ssn))',
      ])
        expect(await s.fault(script, ontology, token), script).toMatch(token === knows ? /^403 forbidden$/ : /^40[03] /);
  });

  it.each([
    [
      'by a concept that gets rows of others',
      [
        'CREATE CONCEPT xx (x_id bigint)',
        'CREATE CONCEPT yy (salary decimal(12,2)) INHERITS (xx)',
        'CREATE CONCEPT late INHERITS (xx) FROM dsvc.xx WHERE salary > 6000',
      ],
      'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given)) INHERITS (xx)',
    ],
    [
      'by whole rows of such a concept',
      [
        'CREATE CONCEPT xx (x_id bigint)',
        "CREATE CONCEPT late INHERITS (being) FROM dsvc.being WHERE EXISTS (SELECT 1 FROM dsvc.xx x WHERE to_jsonb(x)::text LIKE '%9000%')",
      ],
      'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given)) INHERITS (xx)',
    ],
    [
      'by a relationship that leads elsewhere',
      [
        `${OWN} (k bigint, CONSTRAINT r FOREIGN KEY (k) REFERENCES being (being_id))`,
        'CREATE CONCEPT late INHERITS (own) FROM dsvc.own WHERE "r[being].being_id" > 0',
      ],
      `${OWN} (k bigint, CONSTRAINT r FOREIGN KEY (k) REFERENCES worker (grade))`,
    ],
  ])('an existing condition does not gain access to what its writer may not query, %s', async (_, scripts, last) => {
    const ontology = await crew.ontology('CREATE MAPPING m_own INTO (own) AS SELECT n AS k FROM crew.t_more');
    const grants = [`EDIT ON ontology.${ontology}`, ...['being', 'own', 'xx', 'yy', 'late'].map((c) => `EDIT ON ontology.${ontology}.concept.${c}`)];
    for (const extra of [[], [`ACCESS ON ALL ontology.${ontology}`]]) {
      const ivy = await s.user(`ivy_${crew.count}_${extra.length}`, ...grants, ...extra);
      for (const script of scripts) await s.rows(script.replace('CREATE CONCEPT', 'CREATE OR REPLACE CONCEPT'), ontology, ivy);
      expect(await s.fault(last, ontology, ivy)).toBe(last.includes('worker') && extra.length === 0 ? '400 unknown_concept' : '403 forbidden');
      expect(await s.rows('SELECT * FROM svc.late', ontology, ivy)).toEqual([]);
      // values that the condition does not read may change
      await s.rows(
        'CREATE OR REPLACE CONCEPT own (k bigint, CONSTRAINT r FOREIGN KEY (k) REFERENCES being (being_id), CONSTRAINT q FOREIGN KEY (k) REFERENCES being (being_id))',
        ontology,
        ivy,
      );
    }
  });

  it('no warning names what its writer does not see, if the visible part is not a valid model', async () => {
    const ontology = await crew.ontology(
      'CREATE CONCEPT hidden_a (a_id bigint, pz string, PRIMARY KEY (a_id)); CREATE CONCEPT b INHERITS (hidden_a); CREATE CONCEPT c INHERITS (hidden_a); CREATE CONCEPT d INHERITS (b, c)',
    );
    const grants = ['EDIT d', 'QUERY b', 'QUERY c'].map((g) => g.replace(' ', ` ON ontology.${ontology}.concept.`));
    const mia = await s.user('mia', `EDIT ON ontology.${ontology}`, 'QUERY ON datasource.main', ...grants);
    const { status, json } = await s.query('CREATE MAPPING m_d INTO (d) AS SELECT CAST(1 AS bigint) AS a_id', ontology, mia);
    expect(status).toBe(200);
    expect(JSON.stringify(json)).not.toContain('hidden_a');
  });

  it('a concept does not gain a property that one of its measures reads', async () => {
    const ontology = await crew.ontology(
      'CREATE CONCEPT upper_m (u_id bigint, PRIMARY KEY (u_id)); CREATE CONCEPT lower_m (pay bigint) INHERITS (upper_m); CREATE CONCEPT shown_m (pay bigint) INHERITS (upper_m); CREATE MEASURE all_pay bigint AS SELECT SUM(pay)',
      'CREATE OR REPLACE CONCEPT upper_m (u_id bigint, all_pay MEASURE bigint, PRIMARY KEY (u_id))',
      'CREATE CONCEPT cut_m INHERITS (upper_m) FROM dsvc.upper_m WHERE true',
      'CREATE MAPPING m_lower INTO (lower_m) AS SELECT id AS u_id, grade AS pay FROM crew.t_worker; CREATE MAPPING m_shown INTO (shown_m) AS SELECT n AS u_id, n AS pay FROM crew.t_num',
    );
    const grants = ['EDIT upper_m', 'EDIT cut_m', 'QUERY shown_m'].map((g) => g.replace(' ', ` ON ontology.${ontology}.concept.`));
    for (const sees of [`ACCESS ON ALL ontology.${ontology}`, `ACCESS ON ontology.${ontology}`]) {
      const ned = await s.user(`ned_${sees.includes('ALL') ? 1 : 2}`, sees, ...grants);
      // the measure itself sums visible values
      expect((await s.rows('SELECT SUM("measure.all_pay") AS m FROM dsvc.upper_m', ontology, ned))[0].m).toBe(15);
      for (const script of [
        'CREATE OR REPLACE CONCEPT upper_m (u_id bigint, pay bigint, all_pay MEASURE bigint, PRIMARY KEY (u_id))',
        'CREATE OR REPLACE CONCEPT cut_m (pay bigint) INHERITS (upper_m) FROM dsvc.upper_m WHERE true',
      ])
        expect(await s.fault(script, ontology, ned), script).toBe('403 forbidden');
    }
  });

  it('a writer may still use what it may query, and what its script creates', async () => {
    for (const token of [sue, tim]) {
      await s.rows(`${OWN} INHERITS (being) FROM dsvc.being WHERE given LIKE 'A%'`, at, token);
      await s.rows(
        `CREATE CONCEPT a${token.slice(-4)} (x${token.slice(-4)} bigint); CREATE CONCEPT b${token.slice(-4)} INHERITS (a${token.slice(-4)}); CREATE VIEW c${token.slice(-4)} AS SELECT x${token.slice(-4)} FROM svc.a${token.slice(-4)};
        CREATE PROPERTY y${token.slice(-4)} string AS SELECT upper(given); CREATE MEASURE z${token.slice(-4)} bigint AS SELECT COUNT(being_id)`,
        at,
        token,
      );
      expect((await s.rows('SELECT count(*) AS n FROM svc.own', at, token))[0].n).toBe(1);
    }
    await s.rows(`${OWN} (k bigint, PRIMARY KEY (k))`, at);
  });

  it('a cube with USING, a link and a MULTIVALUE mapping need QUERY on the datasource', async () => {
    const ontology = await crew.ontology(
      'CREATE ONTOLOGY CUBE c USING main AS SELECT grade AS g, count(being_id) AS n FROM dsvc.worker',
      'CREATE VIEW r AS SELECT fname FROM crew.t_worker',
    );
    for (const sql of [
      'CREATE ONTOLOGY CUBE d USING main AS SELECT grade AS g, count(being_id) AS n FROM dsvc.worker',
      'CREATE OR REPLACE ONTOLOGY CUBE c USING main AS SELECT given AS g, count(being_id) AS n FROM dsvc.worker',
      'CREATE OR REPLACE VIEW r AS SELECT fname, salary FROM crew.t_worker',
      'CREATE OR REPLACE MAPPING m_num INTO (num) AS SELECT n FROM crew.t_more',
      'CREATE MAPPING p INTO (worker) MULTIVALUE phone AS SELECT id AS being_id, phone FROM crew.t_phone',
      'CREATE MAPPING l (CONSTRAINT assigned FOREIGN KEY (b) REFERENCES project (project_id), CONSTRAINT crew FOREIGN KEY (a) REFERENCES worker (being_id)) AS SELECT a, b FROM crew.t_assign',
    ])
      expect(await s.fault(sql, ontology, crew.tokens.kim), sql).toMatch(/^40[03] (forbidden|unknown_datasource)$/);
  });
});
