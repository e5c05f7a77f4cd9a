/** Scripts of editors after which a caller would see rows that a policy hides. */
import { AS_BEING, type Attack, HIDE_JUNIORS, JUNIOR, on, UNDER_104, WORKER, worker, workers } from './editors-model.ts';

export const ROWS: readonly Attack[] = [
  ['a concept is taken from under an ancestor', [UNDER_104], worker({ properties: AS_BEING, inherits: '' })],
  ['a concept gets another parent', [UNDER_104, 'CREATE CONCEPT other (o string)'], worker({ properties: AS_BEING, inherits: 'INHERITS (other)' })],
  [
    'the concept between is taken from under an ancestor',
    ['CREATE CONCEPT staff (note string) INHERITS (being)', worker({ inherits: 'INHERITS (staff)' }), UNDER_104],
    'CREATE OR REPLACE CONCEPT staff (being_id bigint, given string, note string, PRIMARY KEY (being_id), LABEL (given))',
  ],
  ['a logic condition is never true any more', [HIDE_JUNIORS], `${JUNIOR} FROM dsvc.worker WHERE grade < -5`],
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
  ['a calculated property that another one reads is always true', [on('open')], 'CREATE OR REPLACE PROPERTY low boolean AS SELECT true'],
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
  [
    'a measure that a condition reads gets another condition',
    [
      `CREATE MEASURE heads bigint AS SELECT COUNT(being_id); ${worker({ more: 'heads MEASURE bigint' })}`,
      on('grade > (SELECT SUM("measure.heads") FROM dsvc.worker)'),
    ],
    'CREATE OR REPLACE MEASURE heads bigint AS SELECT COUNT(being_id) WHERE being_id < 0',
  ],
  [
    'a measure that a condition reads through another measure is changed',
    [
      `CREATE MEASURE heads bigint AS SELECT COUNT(being_id); CREATE MEASURE more decimal AS SELECT heads * 1.0; ${worker({ more: 'heads MEASURE bigint, more MEASURE decimal' })}`,
      on('grade > (SELECT SUM("measure.more") FROM dsvc.worker)'),
    ],
    'CREATE OR REPLACE MEASURE heads bigint AS SELECT COUNT(boss_id) - 99',
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
    'a concept with the rows of its ancestors gets rows of its own',
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
    'links of a concept with the rows of its ancestors are joined to other rows',
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
