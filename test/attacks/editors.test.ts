/** Attempts of an editor who may not make policies to show more data to someone; each attack as a script, with its expected result. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../support/service.ts';
import { Crew } from './editors-crew.ts';
import { HIDE_JUNIORS, JUNIOR, mask, on, UNDER_104, worker, workers } from './editors-model.ts';
import { ROWS } from './editors-rows.ts';
import { VALUES } from './editors-values.ts';

let crew: Crew;
let s: TestService;
beforeAll(async () => {
  crew = await Crew.open();
  s = crew.service;
});
afterEach(() => crew.clear());
afterAll(() => s?.close());

describe.each([
  ['row policy', ROWS],
  ['mask', VALUES],
] as const)('an editor without the right to make policies is refused: under a %s', (_, attacks) => {
  it.each(attacks.map((a) => [a[0], a] as const))('%s', async (__, [, statements, text, writer = 'kim']) => {
    const ontology = await crew.ontology(...statements);
    const script = text.replace('crewN', ontology);
    const refusal = await crew.refused(ontology, script, crew.tokens[writer]);
    expect(refusal).toContain(`EDIT ON ALL ontology.${ontology} WITH GRANT OPTION`);
    expect(refusal).not.toMatch(/\b(few|jun|veil|id)\b/);
    // the same by a user who may make policies
    expect((await s.query(script, ontology, crew.tokens.max)).status).toBe(200);
  });
});

describe('an editor without the right to make policies may still', () => {
  const POLICIES = [
    'CREATE POLICY few ON CONCEPT worker TO PUBLIC USING (open)',
    mask('salary'),
    'CREATE POLICY tel ON PROPERTY phone OF CONCEPT worker MASK FULL',
    'CREATE POLICY pay ON PROPERTY ssn OF CONCEPT junior MASK HASH',
  ];
  const WORKS: readonly (readonly [string, string, ('kim' | 'lee')?])[] = [
    [
      'tagging and describing',
      "ALTER CONCEPT worker UPDATE TAG a = 'b'; ALTER PROPERTY salary UPDATE TAG format = 'number:0'; ALTER ONTOLOGY crewN SET DESCRIPTION = 'x'",
    ],
    ['writing a concept as it is', worker()],
    ['adding a property', worker({ more: 'nickname string' })],
    ['adding a calculated property of a masked one', `CREATE PROPERTY raised decimal AS SELECT salary * 2; ${worker({ more: 'raised decimal' })}`],
    ['adding a measure', `CREATE MEASURE heads bigint AS SELECT COUNT(being_id); ${worker({ more: 'heads MEASURE bigint' })}`],
    ['adding a relationship by values that are not masked', worker({ more: 'CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)' })],
    ['making a logic concept below', 'CREATE CONCEPT rich INHERITS (worker) FROM dsvc.worker WHERE salary > 8000 AND "works_in[firm].country" = \'DE\''],
    [
      'making a concept below, with a relationship',
      'CREATE CONCEPT lead (CONSTRAINT heads FOREIGN KEY (being_id) REFERENCES firm (firm_id)) INHERITS (worker)',
    ],
    [
      'making a view and a cube',
      'CREATE VIEW names AS SELECT given, grade FROM svc.worker; CREATE MEASURE heads bigint AS SELECT COUNT(being_id); CREATE ONTOLOGY CUBE heads_of AS SELECT grade AS g, count(being_id) AS n FROM dsvc.worker',
    ],
    [
      'changing what no policy depends on',
      "CREATE OR REPLACE CONCEPT num (n bigint, other string, PRIMARY KEY (n)) DESCRIPTION 'Numbers'; CREATE OR REPLACE PROPERTY mine boolean AS SELECT true; DROP VIEW seniors; DROP MAPPING m_num",
    ],
    [
      'mapping a concept below',
      'CREATE CONCEPT temp INHERITS (worker); CREATE MAPPING m_temp INTO (temp) AS SELECT n AS being_id, n AS grade FROM crew.t_more',
      'lee',
    ],
    ['adding rows to a concept under a policy', 'CREATE MAPPING m_temp INTO (worker) AS SELECT n AS being_id, n AS grade FROM crew.t_more', 'lee'],
    ['mapping a concept that no policy reads', 'CREATE OR REPLACE MAPPING m_num INTO (num) AS SELECT n FROM crew.t_more', 'lee'],
    ['changing something and changing it back', `DROP MAPPING m_worker; CREATE ${workers()}`, 'lee'],
  ];
  it.each(WORKS.map((w) => [w[0], w] as const))('%s', async (_, [__, text, writer = 'kim']) => {
    const ontology = await crew.ontology(...POLICIES);
    await s.rows(text.replaceAll('crewN', ontology), ontology, crew.tokens[writer]);
    for (const token of [crew.tokens.kim, crew.tokens.rob]) {
      expect(await s.rows('SELECT given, salary, phone FROM dsvc.worker WHERE being_id > 100 ORDER BY given', ontology, token)).toEqual([
        { given: 'Ada', salary: null, phone: '****' },
        { given: 'Bob', salary: null, phone: null },
        { given: 'Cid', salary: null, phone: null },
      ]);
    }
  });

  it('work while users with the right change what policies depend on', async () => {
    const ontology = await crew.ontology(HIDE_JUNIORS);
    const count = async (): Promise<number> => (await s.rows('SELECT count(*) AS n FROM svc.worker', ontology, crew.tokens.rob))[0].n;
    expect(await count()).toBe(3);
    await s.rows(`${JUNIOR} FROM dsvc.worker WHERE grade < 3`, ontology, crew.tokens.max);
    expect(await count()).toBe(4);
    await s.rows(`${JUNIOR} FROM dsvc.worker WHERE grade < 7`, ontology);
    expect(await count()).toBe(2);
  });
});

describe('a refusal', () => {
  it('has the position of the statement that weakens a policy', async () => {
    const ontology = await crew.ontology(on('open'));
    const harmless = 'CREATE PROPERTY a string;';
    const script = `${harmless} CREATE OR REPLACE PROPERTY low boolean AS SELECT true; CREATE PROPERTY b string; CREATE PROPERTY c string`;
    const { json } = await s.query(script, ontology, crew.tokens.kim);
    expect([json.code, json.position]).toEqual(['forbidden', harmless.length + 2]);
  });

  it('names no concept that its reader does not see', async () => {
    const ontology = await crew.ontology('CREATE POLICY few ON CONCEPT worker TO PUBLIC USING ("works_in[firm].country" = \'DE\')');
    const ned = await s.user(
      `ned${crew.count}`,
      `EDIT ON ontology.${ontology}`,
      `EDIT ON ontology.${ontology}.concept.firm`,
      `ACCESS ON ontology.${ontology}.concept.corp`,
    );
    const { status, json } = await s.query("CREATE OR REPLACE PROPERTY country string AS SELECT 'DE'", ontology, ned);
    expect(status).toBe(403);
    expect(JSON.stringify(json)).not.toMatch(/worker|few/);
  });

  it('makes its script have no effect, also with reads within the script', async () => {
    const ontology = await crew.ontology(on('open'));
    const refusal = await crew.refused(
      ontology,
      'CREATE PROPERTY a string; SELECT 1 AS x; CREATE OR REPLACE PROPERTY low boolean AS SELECT true; SELECT 2 AS x',
      crew.tokens.kim,
    );
    expect(refusal).toContain('WITH GRANT OPTION');
    // one version is weaker than the previous one, though the last is not weaker than the first
    await crew.refused(
      ontology,
      'CREATE OR REPLACE PROPERTY low boolean AS SELECT true; SELECT 1 AS x; CREATE OR REPLACE PROPERTY low boolean AS SELECT being_id < 104',
      crew.tokens.kim,
    );
  });
});

describe('an old version', () => {
  it('is not restored if it weakens a policy', async () => {
    const ontology = await crew.ontology();
    await s.rows('CREATE OR REPLACE CONCEPT junior INHERITS (worker) FROM dsvc.worker WHERE grade < 7', ontology);
    const old = await crew.versionOf(ontology);
    await s.rows(`${JUNIOR} FROM dsvc.worker WHERE grade < 9`, ontology);
    await s.rows(HIDE_JUNIORS, ontology);
    const back = `ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`;
    for (const token of [crew.tokens.kim, crew.tokens.lee]) await crew.refused(ontology, back, token);
    await s.rows(back, ontology, crew.tokens.max);
    expect((await s.rows('SELECT count(*) AS n FROM svc.worker', ontology, crew.tokens.rob))[0].n).toBe(2);
  });

  it('is restored with mappings and raw views only by users who may query their datasource', async () => {
    const ontology = await crew.ontology();
    await s.rows('CREATE MAPPING m_raw INTO (own) AS SELECT id AS k FROM crew.t_worker; CREATE VIEW raw AS SELECT fname FROM crew.t_worker', ontology);
    const old = await crew.versionOf(ontology);
    const later: readonly string[] = [
      'DROP MAPPING m_raw',
      'CREATE OR REPLACE MAPPING m_raw INTO (own) AS SELECT n AS k FROM crew.t_num',
      'DROP VIEW raw',
      "CREATE OR REPLACE VIEW raw AS SELECT fname FROM crew.t_worker WHERE fname = 'Ada'",
    ];
    for (const change of later) {
      await s.rows(change, ontology);
      const back = `ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`;
      expect(await crew.refused(ontology, back, crew.tokens.kim)).toBe('This needs QUERY on the datasource');
      await s.rows(back, ontology, crew.tokens.lee);
    }
    await s.rows('CREATE PROPERTY later string', ontology);
    await s.rows(`ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`, ontology, crew.tokens.kim);
  });

  it('is restored with another definer of a raw view only by users who may query its datasource', async () => {
    const view = 'VIEW raw AS SELECT fname FROM crew.t_worker';
    const ontology = await crew.ontology(`CREATE ${view}`);
    const old = await crew.versionOf(ontology);
    const pam = await s.user('pam', 'QUERY ON datasource.main', `EDIT ON ALL ontology.${ontology}`);
    await s.rows(`CREATE OR REPLACE ${view}`, ontology, pam);
    await s.rows('REVOKE QUERY ON datasource.main FROM USER pam');
    expect(await s.fault('SELECT fname FROM vsvc.raw', ontology, crew.tokens.rob)).toBe('403 view_unreadable');
    const back = `ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`;
    expect(await crew.refused(ontology, back, crew.tokens.kim)).toBe('This needs QUERY on the datasource');
    await s.rows(back, ontology, crew.tokens.lee);
    expect(await s.rows('SELECT fname FROM vsvc.raw', ontology, crew.tokens.rob)).toHaveLength(6);
  });
});

describe('an ontology with policies', () => {
  it('is dropped only by users who may drop its policies', async () => {
    const ontology = await crew.ontology(UNDER_104);
    for (const token of [crew.tokens.kim, crew.tokens.lee]) expect(await s.fault(`DROP ONTOLOGY ${ontology}`, '', token)).toBe('403 forbidden');
    await s.rows(`DROP ONTOLOGY ${ontology}`, '', crew.tokens.max);
    const free = await crew.ontology();
    await s.rows(`DROP ONTOLOGY ${free}`, '', crew.tokens.kim);
  });
});
