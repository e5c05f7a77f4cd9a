/** Scripts of editors after which a caller would see masked values. */
import { type Attack, JUNIOR, mask, WORKER, worker, workers } from './editors-model.ts';

export const VALUES: readonly Attack[] = [
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
  ['the condition that it depends on is never true', [mask('salary', 'NULL', 'junior')], `${JUNIOR} FROM dsvc.worker WHERE grade < -5`],
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
    'multi-valued properties are read through a related concept',
    [mask('phone', 'FULL', 'worker')],
    'CREATE OR REPLACE CONCEPT guest (CONSTRAINT phone MULTIVALUE string) INHERITS (being)',
  ],
  [
    'multi-valued properties have another mapping',
    [mask('phone', 'FULL', 'worker')],
    'CREATE OR REPLACE MAPPING m_phone INTO (worker) MULTIVALUE phone AS SELECT id AS being_id, phone FROM crew.t_phone',
    'lee',
  ],
  [
    'multi-valued properties of a descendant no longer belong to the logic concept of the mask, and a related concept without rows has them unmasked',
    [
      'CREATE CONCEPT apart (CONSTRAINT phone MULTIVALUE string) INHERITS (being); CREATE CONCEPT temp INHERITS (worker); CREATE MAPPING m_temp INTO (temp) AS SELECT id AS being_id, grade FROM crew.t_worker',
      mask('phone', 'NULL', 'junior'),
    ],
    'CREATE OR REPLACE CONCEPT junior INHERITS (worker)',
  ],
  [
    'the link that bears its name has another mapping',
    [mask('ssn', 'FULL', 'worker')],
    'CREATE OR REPLACE MAPPING m_assign (CONSTRAINT assigned FOREIGN KEY (b) REFERENCES project (project_id), CONSTRAINT crew FOREIGN KEY (a) REFERENCES worker (being_id)) AS SELECT a, b, ssn AS number FROM crew.t_assign',
    'lee',
  ],
];
