/** What an editor who may not make policies tries so that somebody sees more; each attack as a script, and what must come of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../integration/service.ts';
import { MODEL, TABLES, WORKER, worker, workers } from './editors-model.ts';

let s: TestService;
let n = 0;
const tokens: Record<'kim' | 'lee' | 'max' | 'rob', string> = { kim: '', lee: '', max: '', rob: '' };

/** An ontology of its own with the model and these statements of an administrator. kim and lee edit all of it, lee may query the datasource; max may make policies; rob queries. */
async function crew(...statements: string[]): Promise<string> {
  const name = `crew${++n}`;
  await s.rows(`CREATE ONTOLOGY ${name}; ${MODEL}`);
  await s.rows(
    `GRANT EDIT ON ALL ontology.${name} TO USER kim; GRANT EDIT ON ALL ontology.${name} TO USER lee; GRANT EDIT ON ALL ontology.${name} TO USER max WITH GRANT OPTION;
     GRANT QUERY ON ALL ontology.${name} TO USER rob`,
  );
  for (const statement of statements) await s.rows(statement, name);
  return name;
}

const versionOf = async (ontology: string): Promise<string> => (await s.rows('SHOW VERSION', ontology))[0].id;

beforeAll(async () => {
  s = await startTestService(TABLES);
  for (const name of ['kim', 'rob', 'nobody'] as const) tokens[name as 'kim'] = await s.user(name);
  tokens.lee = await s.user('lee', 'QUERY ON datasource.main');
  tokens.max = await s.user('max', 'QUERY ON datasource.main');
}, 180_000);
afterAll(() => s?.close());

const UNDER_104 = 'CREATE POLICY few ON CONCEPT being TO PUBLIC USING (being_id < 104)';
const HIDE_JUNIORS = 'CREATE POLICY jun ON CONCEPT junior TO USER nobody USING (true)';
const JUNIOR = 'CREATE OR REPLACE CONCEPT junior INHERITS (worker)';
const on = (condition: string, concept = 'worker'): string => `CREATE POLICY few ON CONCEPT ${concept} TO PUBLIC USING (${condition})`;
const mask = (property: string, how = 'NULL', concept = ''): string =>
  `CREATE POLICY veil ON PROPERTY ${property} ${concept && `OF CONCEPT ${concept} `}MASK ${how}`;
const AS_BEING = `${WORKER.properties}, being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given)`;

/** [what, statements of an administrator, script, its writer where it is not kim] */
type Attack = readonly [string, readonly string[], string, ('kim' | 'lee')?];

const ROWS: readonly Attack[] = [
  ['a concept is taken from under an ancestor', [UNDER_104], worker({ properties: AS_BEING, inherits: '' })],
  ['a concept gets another parent', [UNDER_104, 'CREATE CONCEPT other (o string)'], worker({ properties: AS_BEING, inherits: 'INHERITS (other)' })],
  [
    'the concept between is taken from under an ancestor',
    ['CREATE CONCEPT staff (note string) INHERITS (being)', worker({ inherits: 'INHERITS (staff)' }), UNDER_104],
    'CREATE OR REPLACE CONCEPT staff (being_id bigint, given string, note string, PRIMARY KEY (being_id), LABEL (given))',
  ],
  ['a logic condition never holds any more', [HIDE_JUNIORS], `${JUNIOR} FROM dsvc.worker WHERE grade < -5`],
  ['a logic condition is dropped', [HIDE_JUNIORS], JUNIOR],
  [
    'a logic concept is defined on another one',
    [HIDE_JUNIORS, 'CREATE CONCEPT tiny INHERITS (worker) FROM svc.worker WHERE grade < 2'],
    `${JUNIOR} FROM dsvc.tiny WHERE grade < 5`,
  ],
  [
    'a logic concept is defined on one that is rewritten',
    ['CREATE CONCEPT tiny INHERITS (junior) FROM svc.junior WHERE grade < 3', 'CREATE POLICY jun ON CONCEPT tiny TO USER nobody USING (true)'],
    `${JUNIOR} FROM dsvc.worker WHERE grade < 0`,
  ],
  ['a calculated property is always true', [on('low')], 'CREATE OR REPLACE PROPERTY low boolean AS SELECT true'],
  ['a calculated property behind another is always true', [on('open')], 'CREATE OR REPLACE PROPERTY low boolean AS SELECT true'],
  ['a calculated property asks another claim', [on('mine')], "CREATE OR REPLACE PROPERTY mine boolean AS SELECT given = svc_claim('firm')"],
  [
    'a calculated property asks another role',
    ["CREATE OR REPLACE PROPERTY mine boolean AS SELECT svc_has_role('boss')", on('mine')],
    "CREATE OR REPLACE PROPERTY mine boolean AS SELECT svc_has_role('clerk')",
  ],
  ['a plain property becomes calculated', [on('grade > 5')], 'CREATE OR REPLACE PROPERTY grade bigint AS SELECT being_id'],
  ['a property changes its type', [on("ssn < 's-104'")], 'CREATE OR REPLACE PROPERTY ssn json'],
  [
    'a relationship leads from another property',
    [on('"works_in[firm].country" = \'DE\'')],
    worker({ worksIn: WORKER.worksIn.replace('(firm_id) REFERENCES', '(boss_id) REFERENCES') }),
  ],
  [
    'a relationship leads from a new calculated property',
    [on('"works_in[firm].country" = \'DE\'')],
    `CREATE PROPERTY one bigint AS SELECT CAST(1 AS bigint); ${worker({ more: 'one bigint', worksIn: WORKER.worksIn.replace('(firm_id) REFERENCES', '(one) REFERENCES') })}`,
  ],
  [
    'a relationship comes nearer under the same name',
    [
      'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given), CONSTRAINT home FOREIGN KEY (being_id) REFERENCES firm (firm_id))',
      on('"home[corp].country" = \'DE\''),
    ],
    'CREATE CONCEPT trap (t_firm bigint, CONSTRAINT lure FOREIGN KEY (t_firm) REFERENCES worker (being_id) INVERSEOF home) INHERITS (corp)',
  ],
  ['a property on the way is calculated', [on('"works_in[firm].country" = \'DE\'')], "CREATE OR REPLACE PROPERTY country string AS SELECT 'DE'"],
  ['walks go farther', [on('"boss[worker*].given" = \'Ada\'')], "ALTER ONTOLOGY crewN SET default_transitivity = '9'"],
  [
    'a view that a condition reads is rewritten',
    [on('being_id IN (SELECT id FROM vsvc.seniors)')],
    'CREATE OR REPLACE VIEW seniors AS SELECT being_id AS id FROM svc.worker',
  ],
  [
    'a view that a condition reads gets another definer',
    [on('being_id IN (SELECT id FROM vsvc.seniors)')],
    'CREATE OR REPLACE VIEW seniors AS SELECT being_id AS id FROM svc.worker WHERE grade >= 5',
  ],
  [
    'a column of a condition’s sub-query is captured',
    [
      "CREATE CONCEPT team (t_id bigint, PRIMARY KEY (t_id)); CREATE MAPPING m_team INTO (team) AS SELECT id AS t_id FROM crew.t_firm WHERE country = 'DE'",
      on('EXISTS (SELECT 1 FROM svc.team WHERE t_id = firm_id)'),
    ],
    'CREATE OR REPLACE CONCEPT team (t_id bigint, firm_id bigint, PRIMARY KEY (t_id))',
  ],
  [
    'a concept takes the name of a view that a condition reads',
    [on('being_id IN (SELECT id FROM seniors)')],
    'CREATE CONCEPT seniors (id bigint, PRIMARY KEY (id))',
  ],
  ['the mapping is dropped', [UNDER_104], 'DROP MAPPING m_phone; DROP MAPPING m_worker'],
  [
    'a concept that stands for others’ rows gets rows of its own',
    ['CREATE POLICY id ON CONCEPT idle TO USER nobody USING (true)'],
    'CREATE MAPPING m_idle INTO (idle) AS SELECT n AS being_id FROM crew.t_num',
    'lee',
  ],
  ['the mapping is replaced', [UNDER_104], `CREATE OR REPLACE ${workers('', 'SELECT id - 100 AS being_id, fname AS given, salary FROM crew.t_worker')}`, 'lee'],
  ['the mapping is made anew under another name', [UNDER_104], `DROP MAPPING m_worker; CREATE ${workers().replace('m_worker', 'm_other')}`, 'lee'],
  ['the mapping gives another concept its rows', [UNDER_104], 'CREATE OR REPLACE MAPPING m_worker INTO (own) AS SELECT id AS k FROM crew.t_worker', 'lee'],
  [
    'rows are added to a concept that a condition walks to',
    [on('"works_in[firm].country" = \'DE\'')],
    "CREATE MAPPING m_fake INTO (firm) AS SELECT 2::bigint AS firm_id, 'DE' AS country",
    'lee',
  ],
  [
    'rows are added below a concept that a condition walks to',
    [on('"works_in[firm].country" = \'DE\'')],
    "CREATE MAPPING m_fake INTO (corp) AS SELECT 2::bigint AS firm_id, 'DE' AS country",
    'lee',
  ],
  [
    'values of others are read through a kin concept',
    [on('being_id < 104')],
    'CREATE OR REPLACE CONCEPT guest (CONSTRAINT phone MULTIVALUE string) INHERITS (being)',
  ],
  [
    'values are joined by another key',
    [on('being_id < 104')],
    `CREATE OR REPLACE CONCEPT being (being_id bigint, given string, LABEL (given)); ${worker({ assigned: '', more: 'PRIMARY KEY (firm_id)', boss: '' })}; DROP MAPPING m_assign`,
  ],
  [
    'links of a concept that stands for others’ rows are joined to other rows',
    [
      'CREATE CONCEPT lead (CONSTRAINT leads_in MULTIREFERENCE project INVERSEOF led_by) INHERITS (being); CREATE CONCEPT ghost INHERITS (being); CREATE MAPPING m_being INTO (being) AS SELECT id AS being_id FROM crew.t_worker',
      'CREATE CONCEPT extra (e string); CREATE MAPPING m_extra INTO (extra) AS SELECT id AS being_id, name AS e FROM crew.t_guest',
      'CREATE MAPPING m_lead (CONSTRAINT leads_in FOREIGN KEY (b) REFERENCES project (project_id), CONSTRAINT led_by FOREIGN KEY (a) REFERENCES lead (being_id)) AS SELECT a, b, ssn FROM crew.t_assign',
      'CREATE POLICY few ON CONCEPT ghost TO PUBLIC USING (being_id < 104)',
    ],
    'CREATE OR REPLACE CONCEPT extra (e string) INHERITS (lead)',
  ],
  [
    'values are listed by an ancestor with rows of its own',
    ['CREATE MAPPING m_being INTO (being) AS SELECT id AS being_id, name AS given FROM crew.t_guest', UNDER_104.replace('being_id < 104', "given <> 'Dee'")],
    'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, CONSTRAINT phone MULTIVALUE string, PRIMARY KEY (being_id), LABEL (given))',
  ],
  [
    'links are joined to a kin concept',
    [on('being_id < 104')],
    `CREATE OR REPLACE CONCEPT being (being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given), ${WORKER.assigned}); ${worker({ assigned: '' })}`,
  ],
  [
    'values have another mapping',
    [on('being_id < 104')],
    'CREATE OR REPLACE MAPPING m_phone INTO (worker) MULTIVALUE phone AS SELECT CAST(101 AS bigint) AS being_id, phone FROM crew.t_phone',
    'lee',
  ],
];

const VALUES: readonly Attack[] = [
  ['a relationship leads from it', [mask('grade')], worker({ more: 'CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)' })],
  [
    'a relationship leads to it',
    [mask('grade')],
    'CREATE OR REPLACE CONCEPT num (n bigint, PRIMARY KEY (n), CONSTRAINT graded FOREIGN KEY (n) REFERENCES worker (grade))',
  ],
  [
    'a relationship of a descendant leads from it',
    [mask('grade')],
    'CREATE CONCEPT sub (CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)) INHERITS (worker)',
  ],
  [
    'a relationship of a logic concept leads from it',
    [mask('grade')],
    'CREATE CONCEPT sub (CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)) INHERITS (worker) FROM svc.worker WHERE being_id > 0',
  ],
  [
    'a relationship of an ancestor’s logic concept leads from it',
    [mask('grade', 'NULL', 'worker')],
    'CREATE CONCEPT side (grade bigint, CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)); CREATE CONCEPT sub INHERITS (worker, side) FROM svc.worker WHERE being_id > 0',
  ],
  [
    'a relationship leads from what is calculated of it',
    [mask('grade')],
    `CREATE PROPERTY twice bigint AS SELECT grade * 2; ${worker({ more: 'twice bigint, CONSTRAINT graded FOREIGN KEY (twice) REFERENCES num (n)' })}`,
  ],
  [
    'a relationship leads to what is calculated of it',
    [mask('grade')],
    `CREATE PROPERTY twice bigint AS SELECT grade * 2; ${worker({ more: 'twice bigint' })}; CREATE OR REPLACE CONCEPT num (n bigint, PRIMARY KEY (n), CONSTRAINT graded FOREIGN KEY (n) REFERENCES worker (twice))`,
  ],
  [
    'a relationship of two properties has it among them',
    [mask('grade')],
    worker({ more: 'CONSTRAINT graded FOREIGN KEY (being_id, grade) REFERENCES worker (being_id, grade)' }),
  ],
  [
    'a relationship that a property of it keeps is turned to it',
    [mask('grade'), worker({ more: 'CONSTRAINT graded FOREIGN KEY (boss_id) REFERENCES num (n)' })],
    worker({ more: 'CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)' }),
  ],
  [
    'a calculated foreign key is turned to it',
    [
      mask('grade'),
      `CREATE PROPERTY step bigint AS SELECT boss_id - 100; ${worker({ more: 'step bigint, CONSTRAINT graded FOREIGN KEY (step) REFERENCES num (n)' })}`,
    ],
    'CREATE OR REPLACE PROPERTY step bigint AS SELECT grade',
  ],
  [
    'what a known relationship leads to gets more rows',
    [worker({ more: 'CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)' }), mask('grade')],
    'CREATE MAPPING m_more INTO (num) AS SELECT n FROM crew.t_more',
    'lee',
  ],
  [
    'what a known relationship leads to has other rows',
    [worker({ more: 'CONSTRAINT graded FOREIGN KEY (grade) REFERENCES num (n)' }), mask('grade')],
    'CREATE OR REPLACE MAPPING m_num INTO (num) AS SELECT n FROM crew.t_more',
    'lee',
  ],
  [
    'what a known relationship leads to meets another condition',
    [
      'CREATE CONCEPT small INHERITS (num) FROM svc.num WHERE n < 3',
      worker({ more: 'CONSTRAINT graded FOREIGN KEY (grade) REFERENCES small (n)' }),
      mask('grade'),
    ],
    'CREATE OR REPLACE CONCEPT small INHERITS (num) FROM svc.num WHERE n < 9',
  ],
  [
    'a row policy that reads it covers other rows',
    ['CREATE CONCEPT graded (grade bigint); CREATE POLICY low ON CONCEPT graded TO PUBLIC USING (grade > 5)', mask('grade')],
    worker({ inherits: 'INHERITS (being, graded)' }),
  ],
  [
    'a mask that depends on it covers other rows',
    [
      'CREATE CONCEPT graded (grade bigint, salary decimal(12,2)); CREATE CONCEPT lower INHERITS (graded) FROM svc.graded WHERE grade < 5; CREATE POLICY pay ON PROPERTY salary OF CONCEPT lower MASK NULL',
      mask('grade'),
    ],
    worker({ inherits: 'INHERITS (being, graded)' }),
  ],
  [
    'a link leads from it',
    [mask('grade')],
    `${worker({ more: 'CONSTRAINT graded MULTIREFERENCE num' })}; CREATE MAPPING m_graded (CONSTRAINT graded FOREIGN KEY (b) REFERENCES num (n), CONSTRAINT \`~graded\` FOREIGN KEY (a) REFERENCES worker (grade)) AS SELECT n AS a, n AS b FROM crew.t_num`,
    'lee',
  ],
  [
    'a multi-value property is joined by it',
    [mask('being_id', 'NULL', 'worker')],
    `${worker({ more: 'CONSTRAINT tag MULTIVALUE bigint' })}; CREATE MAPPING m_tag INTO (worker) MULTIVALUE tag AS SELECT id AS being_id, id AS tag FROM crew.t_worker`,
    'lee',
  ],
  ['the mapping gives its column under another name', [mask('salary')], worker({ properties: `${WORKER.properties}, pay decimal(12,2)` })],
  [
    'the mapping is replaced',
    [mask('salary')],
    `${worker({ properties: `${WORKER.properties}, wage decimal(12,2)` })}; CREATE OR REPLACE ${workers('', 'SELECT id AS being_id, fname AS given, salary AS wage FROM crew.t_worker')}`,
    'lee',
  ],
  [
    'the concept loses the property',
    [mask('salary'), 'CREATE CONCEPT payroll (salary decimal(12,2))'],
    worker({ properties: WORKER.properties.replace('salary decimal(12,2), ', '') }),
  ],
  ['the property is calculated', [mask('ssn')], "CREATE OR REPLACE PROPERTY ssn string AS SELECT 'x'"],
  ['the condition that it depends on never holds', [mask('salary', 'NULL', 'junior')], `${JUNIOR} FROM dsvc.worker WHERE grade < -5`],
  [
    'a property of the condition that it depends on changes',
    ['CREATE OR REPLACE CONCEPT junior INHERITS (worker) FROM svc.worker WHERE low', mask('salary', 'NULL', 'junior')],
    'CREATE OR REPLACE PROPERTY low boolean AS SELECT false',
  ],
  [
    'the concept that it is of no longer has the rows',
    ['CREATE CONCEPT staff (salary decimal(12,2)) INHERITS (being)', worker({ inherits: 'INHERITS (staff)' }), mask('salary', 'NULL', 'staff')],
    worker(),
  ],
  [
    'what its expression reads changes',
    [mask('salary', 'WITH (CASE WHEN low THEN 0 ELSE salary END)')],
    'CREATE OR REPLACE PROPERTY low boolean AS SELECT false',
  ],
  [
    'values beside rows are read through a kin concept',
    [mask('phone', 'FULL', 'worker')],
    'CREATE OR REPLACE CONCEPT guest (CONSTRAINT phone MULTIVALUE string) INHERITS (being)',
  ],
  [
    'values beside rows have another mapping',
    [mask('phone', 'FULL', 'worker')],
    'CREATE OR REPLACE MAPPING m_phone INTO (worker) MULTIVALUE phone AS SELECT id AS being_id, phone FROM crew.t_phone',
    'lee',
  ],
  [
    'the link that bears its name has another mapping',
    [mask('ssn', 'FULL', 'worker')],
    'CREATE OR REPLACE MAPPING m_assign (CONSTRAINT assigned FOREIGN KEY (b) REFERENCES project (project_id), CONSTRAINT crew FOREIGN KEY (a) REFERENCES worker (being_id)) AS SELECT a, b, ssn AS number FROM crew.t_assign',
    'lee',
  ],
];

async function refused(ontology: string, script: string, token: string): Promise<string> {
  const before = await versionOf(ontology);
  const { status, json } = await s.query(script, ontology, token);
  expect([status, json.code], json.data).toEqual([403, 'forbidden']);
  expect(await versionOf(ontology)).toBe(before);
  return json.data;
}

describe.each([
  ['row policy', ROWS],
  ['mask', VALUES],
] as const)('an editor without the right to make policies is refused: under a %s', (_, attacks) => {
  it.each(attacks.map((a) => [a[0], a] as const))('%s', async (__, [, statements, text, writer = 'kim']) => {
    const ontology = await crew(...statements);
    const script = text.replace('crewN', ontology);
    const told = await refused(ontology, script, tokens[writer]);
    expect(told).toContain(`EDIT ON ALL ontology.${ontology} WITH GRANT OPTION`);
    expect(told).not.toMatch(/\b(few|jun|veil|id)\b/);
    // the same by who may make policies
    expect((await s.query(script, ontology, tokens.max)).status).toBe(200);
  });
});

describe('an editor without the right to make policies goes on', () => {
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
    const ontology = await crew(...POLICIES);
    await s.rows(text.replaceAll('crewN', ontology), ontology, tokens[writer]);
    for (const token of [tokens.kim, tokens.rob]) {
      expect(await s.rows('SELECT given, salary, phone FROM dsvc.worker WHERE being_id > 100 ORDER BY given', ontology, token)).toEqual([
        { given: 'Ada', salary: null, phone: '****' },
        { given: 'Bob', salary: null, phone: null },
        { given: 'Cid', salary: null, phone: null },
      ]);
    }
  });

  it('with who may make policies changing what they depend on', async () => {
    const ontology = await crew(HIDE_JUNIORS);
    const count = async (): Promise<number> => (await s.rows('SELECT count(*) AS n FROM svc.worker', ontology, tokens.rob))[0].n;
    expect(await count()).toBe(3);
    await s.rows(`${JUNIOR} FROM dsvc.worker WHERE grade < 3`, ontology, tokens.max);
    expect(await count()).toBe(4);
    await s.rows(`${JUNIOR} FROM dsvc.worker WHERE grade < 7`, ontology);
    expect(await count()).toBe(2);
  });
});

describe('a refusal', () => {
  it('points at the statement that weakens a policy', async () => {
    const ontology = await crew(on('open'));
    const harmless = 'CREATE PROPERTY a string;';
    const script = `${harmless} CREATE OR REPLACE PROPERTY low boolean AS SELECT true; CREATE PROPERTY b string; CREATE PROPERTY c string`;
    const { json } = await s.query(script, ontology, tokens.kim);
    expect([json.code, json.position]).toEqual(['forbidden', harmless.length + 2]);
  });

  it('names no concept that its reader does not see', async () => {
    const ontology = await crew('CREATE POLICY few ON CONCEPT worker TO PUBLIC USING ("works_in[firm].country" = \'DE\')');
    const ned = await s.user(
      `ned${n}`,
      `EDIT ON ontology.${ontology}`,
      `EDIT ON ontology.${ontology}.concept.firm`,
      `ACCESS ON ontology.${ontology}.concept.corp`,
    );
    const { status, json } = await s.query("CREATE OR REPLACE PROPERTY country string AS SELECT 'DE'", ontology, ned);
    expect(status).toBe(403);
    expect(JSON.stringify(json)).not.toMatch(/worker|few/);
  });

  it('keeps nothing of its script, whatever is read in the middle of it', async () => {
    const ontology = await crew(on('open'));
    const told = await refused(
      ontology,
      'CREATE PROPERTY a string; SELECT 1 AS x; CREATE OR REPLACE PROPERTY low boolean AS SELECT true; SELECT 2 AS x',
      tokens.kim,
    );
    expect(told).toContain('WITH GRANT OPTION');
    // one version is weaker than the one before, though the last is not weaker than the first
    await refused(
      ontology,
      'CREATE OR REPLACE PROPERTY low boolean AS SELECT true; SELECT 1 AS x; CREATE OR REPLACE PROPERTY low boolean AS SELECT being_id < 104',
      tokens.kim,
    );
  });
});

describe('an old version', () => {
  it('does not come back where it weakens a policy', async () => {
    const ontology = await crew();
    await s.rows('CREATE OR REPLACE CONCEPT junior INHERITS (worker) FROM dsvc.worker WHERE grade < 7', ontology);
    const old = await versionOf(ontology);
    await s.rows(`${JUNIOR} FROM dsvc.worker WHERE grade < 9`, ontology);
    await s.rows(HIDE_JUNIORS, ontology);
    const back = `ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`;
    for (const token of [tokens.kim, tokens.lee]) await refused(ontology, back, token);
    await s.rows(back, ontology, tokens.max);
    expect((await s.rows('SELECT count(*) AS n FROM svc.worker', ontology, tokens.rob))[0].n).toBe(2);
  });

  it('brings back mappings and raw views by who may query their datasource alone', async () => {
    const ontology = await crew();
    await s.rows('CREATE MAPPING m_raw INTO (own) AS SELECT id AS k FROM crew.t_worker; CREATE VIEW raw AS SELECT fname FROM crew.t_worker', ontology);
    const old = await versionOf(ontology);
    const later: readonly string[] = [
      'DROP MAPPING m_raw',
      'CREATE OR REPLACE MAPPING m_raw INTO (own) AS SELECT n AS k FROM crew.t_num',
      'DROP VIEW raw',
      "CREATE OR REPLACE VIEW raw AS SELECT fname FROM crew.t_worker WHERE fname = 'Ada'",
    ];
    for (const change of later) {
      await s.rows(change, ontology);
      const back = `ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`;
      expect(await refused(ontology, back, tokens.kim)).toBe('This needs QUERY on the datasource');
      await s.rows(back, ontology, tokens.lee);
    }
    await s.rows('CREATE PROPERTY later string', ontology);
    await s.rows(`ROLLBACK ONTOLOGY ${ontology} TO VERSION '${old}'`, ontology, tokens.kim);
  });
});

describe('an ontology with policies', () => {
  it('is dropped by who may drop its policies', async () => {
    const ontology = await crew(UNDER_104);
    for (const token of [tokens.kim, tokens.lee]) expect(await s.fault(`DROP ONTOLOGY ${ontology}`, '', token)).toBe('403 forbidden');
    await s.rows(`DROP ONTOLOGY ${ontology}`, '', tokens.max);
    const free = await crew();
    await s.rows(`DROP ONTOLOGY ${free}`, '', tokens.kim);
  });
});

describe('a writer uses only what it may query', () => {
  let at: string;
  /** EDIT on the ontology itself and on `own`, QUERY on `being`; sees all. */
  let sue: string;
  /** The same, but sees that alone. */
  let tim: string;
  beforeAll(async () => {
    at = await crew();
    await s.rows(
      'CREATE VIEW firms AS SELECT firm_name FROM svc.firm; CREATE CONCEPT plain (p_id bigint, PRIMARY KEY (p_id)); CREATE CONCEPT shelf INHERITS (firm); CREATE MAPPING m_shelf INTO (shelf) AS SELECT CAST(9 AS bigint) AS firm_id',
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
  // «marks» stand round what the position of the refusal points at
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
    ['drops a mapping of it', 'DROP MAPPING «m_firm»', 'concept.firm'],
    ['maps it', 'CREATE MAPPING more INTO («firm») AS SELECT id AS firm_id FROM crew.t_firm', 'concept.firm'],
  ])('%s', async (_, marked, what) => {
    const [head = '', inside = '', tail = ''] = marked.split(/[«»]/);
    const { status, json } = await s.query(head + inside + tail, at, sue);
    expect(`${status} ${json.code} ${json.data}`).toBe(needs(what).replace('AT', at));
    expect(json.position).toBe(head.length + 1);
    // who does not see it hears of nothing
    const unseen = await s.query(head + inside + tail, at, tim);
    expect([400, 403]).toContain(unseen.status);
    expect(unseen.json.data).not.toMatch(/QUERY on ontology/);
  });

  it('how far walks go is for who may query all of it', async () =>
    expect(await s.fault(`ALTER ONTOLOGY ${at} SET default_transitivity = '9'`, at, sue)).toBe('403 forbidden'));

  it('a concept does not come to stand for rows that its writer may not query', async () => {
    const { status, json } = await s.query('DROP MAPPING m_shelf', at, sue);
    expect([status, json.data]).toEqual([403, `This needs QUERY on ontology.${at}.concept.firm`]);
    const told = await s.query('DROP MAPPING m_shelf', at, tim);
    expect([told.status, told.json.data]).toEqual([403, `This needs QUERY on ALL ontology.${at}`]);
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
    const version = await versionOf(at);
    const { status, json } = await s.query(script, at, uma);
    expect([status, json.code, json.data]).toEqual([400, 'exists', 'the statement collides with a part of the ontology that you may not see']);
    expect(await versionOf(at)).toBe(version);
  });

  it('what is dropped and not seen is unknown', async () => {
    for (const what of ['PROPERTY salary', 'MAPPING m_worker', 'CONCEPT worker', 'VIEW firms'])
      expect((await s.query(`DROP ${what}`, at, tim)).json.code, what).toBe(`unknown_${what.split(' ')[0]?.toLowerCase()}`);
  });

  it('a concept is not made of rows of all concepts', async () => {
    for (const token of [sue, tim]) expect(await s.fault('CREATE CONCEPT everything FROM svc.thing WHERE true', at, token)).toBe('403 forbidden');
  });

  it('a concept does not come to show values that its writer may not query', async () => {
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

  it('and goes on with what it may query, and with what its script makes', async () => {
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

  it('a cube with USING, a link and a multi-value mapping need QUERY on the datasource', async () => {
    const ontology = await crew(
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
      expect(await s.fault(sql, ontology, tokens.kim), sql).toMatch(/^40[03] (forbidden|unknown_datasource)$/);
  });
});
