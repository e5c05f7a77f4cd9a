/** Models written for other tools load unchanged, with a notice for each translation. The expected values of translated functions are computed by hand. */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphOf } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { validateScript } from '../../src/cli/validate.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

const parser = await loadNodeParser();
const validate = (text: string): readonly string[] => validateScript({ path: 'field.kg', text }, { parser, product: 'svc', ontology: 'field' });

const PERSON = 'CREATE CONCEPT person (person_id bigint, full_name string, born date, boss_id bigint, PRIMARY KEY (person_id), LABEL (full_name)';
const MAP_PERSON = 'CREATE MAPPING map_person INTO person AS SELECT person_id, full_name, born, boss_id FROM hr.people;';
const SALE = 'CREATE CONCEPT sale (sale_id bigint, sold_at timestamp, amount decimal(12,2), region string, PRIMARY KEY (sale_id)';
const sale = (columns: string): string => `${SALE}); CREATE MAPPING map_sale INTO (sale) AS SELECT sale_id, ${columns} FROM crm.sales;`;
const measure = (expression: string, type = 'double'): string =>
  `CREATE MEASURE kpi ${type} AS SELECT ${expression}; ${SALE}, kpi MEASURE ${type}); CREATE MAPPING map_sale INTO sale AS SELECT sale_id, sold_at, amount, region FROM crm.sales;`;

/** Scripts of the field, with the number of notices about translations. */
const SCRIPTS: readonly (readonly [title: string, script: string, translations: number])[] = [
  ['a concept with its key and mapping', `${PERSON}); ${MAP_PERSON}`, 0],
  [
    'names in backticks',
    'CREATE CONCEPT `line item` (`line no` bigint, PRIMARY KEY (`line no`)); CREATE MAPPING `m` INTO (`line item`) AS SELECT n AS `line no` FROM s.lines',
    0,
  ],
  [
    'lower case keywords',
    "create concept shop (shop_id integer, primary key (shop_id)) description 'A shop'; create mapping ms into shop as select shop_id from s.shops",
    0,
  ],
  ['trailing commas and semicolons', `${PERSON},); ${MAP_PERSON};;`, 0],
  ['OR REPLACE everywhere', `${PERSON}); ${MAP_PERSON}`.replaceAll('CREATE ', 'CREATE OR REPLACE '), 0],
  ['IF NOT EXISTS everywhere', `${PERSON}); ${MAP_PERSON}`.replace(/CREATE (\w+) /g, 'CREATE $1 IF NOT EXISTS '), 0],
  [
    'an inverse with the name that it has anyway',
    `${PERSON}, CONSTRAINT reports_to FOREIGN KEY (boss_id) REFERENCES person (person_id) INVERSEOF \`~reports_to\`); ${MAP_PERSON}`,
    0,
  ],
  ['a named inverse', `${PERSON}, CONSTRAINT reports_to FOREIGN KEY (boss_id) REFERENCES person (person_id) INVERSEOF leads TRANSITIVE); ${MAP_PERSON}`, 0],
  [
    'a reference to anything with an identifier',
    `${PERSON}); ${MAP_PERSON} CREATE CONCEPT remark (no bigint, about bigint, PRIMARY KEY (no), CONSTRAINT about_what FOREIGN KEY (about) REFERENCES thing (person_id) INVERSEOF \`~about_what\`); CREATE MAPPING mr INTO remark AS SELECT no, about FROM hr.remarks`,
    0,
  ],
  ['TRANSITIVE with a depth', `${PERSON}, CONSTRAINT up FOREIGN KEY (boss_id) REFERENCES person (person_id) TRANSITIVE(6)); ${MAP_PERSON}`, 0],
  [
    'TRANSITIVE to a concept below',
    `${PERSON}, CONSTRAINT up FOREIGN KEY (boss_id) REFERENCES manager (person_id) TRANSITIVE); CREATE CONCEPT manager INHERITS (person); CREATE MAPPING mm INTO manager AS SELECT person_id, full_name, born, boss_id FROM hr.managers`,
    0,
  ],
  [
    'TRANSITIVE to a concept above',
    `${PERSON}); CREATE CONCEPT worker (CONSTRAINT up FOREIGN KEY (boss_id) REFERENCES person (person_id) TRANSITIVE) INHERITS (person); CREATE MAPPING mw INTO worker AS SELECT person_id, full_name, born, boss_id FROM hr.people`,
    0,
  ],
  [
    'symmetric friends',
    `${PERSON}, CONSTRAINT friend MULTIREFERENCE person SYMMETRIC); ${MAP_PERSON} CREATE MAPPING mf (CONSTRAINT friend FOREIGN KEY (b) REFERENCES person (person_id), CONSTRAINT \`~friend\` FOREIGN KEY (a) REFERENCES person (person_id)) AS SELECT a, b FROM hr.friends`,
    0,
  ],
  [
    'a relationship that contains others',
    `${PERSON}, CONSTRAINT boss FOREIGN KEY (boss_id) REFERENCES person (person_id), CONSTRAINT knows MULTIREFERENCE person INCLUDES (boss, \`~boss\`)); ${MAP_PERSON}`,
    0,
  ],
  [
    'a many-to-many link with a column of its own',
    `${PERSON}, CONSTRAINT member_of MULTIREFERENCE team INVERSEOF has_member); CREATE CONCEPT team (team_id bigint, PRIMARY KEY (team_id)); CREATE MAPPING mt INTO team AS SELECT team_id FROM hr.teams; ${MAP_PERSON} CREATE MAPPING ml (CONSTRAINT member_of FOREIGN KEY (t) REFERENCES team (team_id), CONSTRAINT has_member FOREIGN KEY (p) REFERENCES person (person_id)) AS SELECT t, p, since FROM hr.members`,
    0,
  ],
  [
    'a multi-value property',
    `${PERSON}, CONSTRAINT nickname MULTIVALUE string); ${MAP_PERSON} CREATE MAPPING mn INTO person MULTIVALUE nickname AS SELECT person_id, nickname FROM hr.nicknames`,
    0,
  ],
  ['a logic concept', `${PERSON}); ${MAP_PERSON} CREATE CONCEPT elder INHERITS (person) FROM svc.person WHERE born < DATE '1960-01-01'`, 0],
  [
    'a logic concept over a path',
    `${PERSON}, CONSTRAINT up FOREIGN KEY (boss_id) REFERENCES person (person_id)); ${MAP_PERSON} CREATE CONCEPT of_ann INHERITS (person) FROM dsvc.person WHERE "up[person].full_name" = 'Ann'`,
    0,
  ],
  [
    'a view over concepts with USING',
    `${PERSON}, CONSTRAINT up FOREIGN KEY (boss_id) REFERENCES person (person_id)); ${MAP_PERSON} CREATE ONTOLOGY VIEW bosses USING main AS SELECT full_name, "up[person].full_name" AS boss FROM dsvc.person`,
    0,
  ],
  ['a view over tables', `${PERSON}); ${MAP_PERSON} CREATE ONTOLOGY VIEW raw_people USING main AS SELECT person_id, full_name FROM hr.people`, 0],
  ['a cube', `${measure('SUM(amount)')} CREATE ONTOLOGY CUBE by_region AS SELECT region AS region, "measure.kpi" AS kpi FROM dsvc.sale`, 0],
  [
    'tags and descriptions',
    `CREATE PROPERTY iban string DESCRIPTION 'Account' WITH TAGS (pii = 'yes'); CREATE CONCEPT account (iban string, PRIMARY KEY (iban)) DESCRIPTION 'Of a bank' WITH TAGS (owner = 'finance', tier = '1'); CREATE MAPPING ma INTO account AS SELECT iban FROM s.accounts`,
    0,
  ],
  ['WITHOUT PARSING', 'CREATE CONCEPT a (k bigint, PRIMARY KEY (k)); CREATE MAPPING m INTO a WITHOUT PARSING AS SELECT k FROM s.t', 0],
  [
    'a calculated property',
    `CREATE PROPERTY age_group string AS SELECT CASE WHEN born < DATE '2000-01-01' THEN 'old' ELSE 'young' END; ${PERSON.replace('born date', 'born date, age_group string')}); ${MAP_PERSON}`,
    0,
  ],
  [
    'a property of the year',
    `CREATE PROPERTY born_year integer AS SELECT YEAR(born); ${PERSON.replace('born date', 'born date, born_year integer')}); ${MAP_PERSON}`,
    1,
  ],
  ['YEAR and MONTH', sale('sold_at, YEAR(sold_at) * 100 + MONTH(sold_at) AS amount, region'), 2],
  ['DATE_FORMAT', sale("sold_at, amount, DATE_FORMAT(sold_at, '%Y-%m') AS region"), 1],
  ['IFNULL and UCASE', sale('sold_at, IFNULL(amount, 0) AS amount, UCASE(region) AS region'), 2],
  ['NVL of NVL', sale('sold_at, NVL(amount, NVL(net, 0)) AS amount, region'), 1],
  ['CAST AS DATETIME', sale('CAST(sold_at AS DATETIME) AS sold_at, amount, CAST(region AS STRING) AS region'), 2],
  ['DATEDIFF and CURDATE', sale('sold_at, DATEDIFF(CURDATE(), sold_at) AS amount, region'), 1],
  ['CONCAT_WS and CONCAT', sale("sold_at, amount, CONCAT_WS('-', region, CONCAT('r', region)) AS region"), 0],
  ['IF', sale("sold_at, IF(amount > 0, amount, 0) AS amount, IIF(region = '', NULL, region) AS region"), 2],
  [
    'a condition of a mapping',
    `${SALE}); CREATE MAPPING map_sale INTO sale AS SELECT sale_id, sold_at, amount, region FROM crm.sales WHERE YEAR(sold_at) >= 2020`,
    1,
  ],
  [
    'a join of tables',
    `${SALE}); CREATE MAPPING map_sale INTO sale AS SELECT s.sale_id, s.sold_at, s.amount, r.name AS region FROM crm.sales s LEFT JOIN crm.regions r ON r.id = s.region_id`,
    0,
  ],
  ['SUM of IF', measure("SUM(IF(region = 'north', amount, 0))"), 1],
  ['COUNT_IF', measure('COUNT_IF(amount > 100)', 'bigint'), 1],
  ['MEDIAN', measure('MEDIAN(amount)'), 1],
  [
    'a measure with a condition',
    `CREATE MEASURE late bigint AS SELECT COUNT(*) WHERE HOUR(sold_at) >= 18; ${SALE}, late MEASURE bigint); CREATE MAPPING map_sale INTO sale AS SELECT sale_id, sold_at, amount, region FROM crm.sales`,
    1,
  ],
  [
    'a share of two measures',
    `CREATE MEASURE total double AS SELECT SUM(amount); CREATE MEASURE mean double AS SELECT SUM(amount) / NULLIF(COUNT(*), 0); ${SALE}, total MEASURE double, mean MEASURE double); CREATE MAPPING map_sale INTO sale AS SELECT sale_id, sold_at, amount, region FROM crm.sales`,
    0,
  ],
  ['an example', `${PERSON}); ${MAP_PERSON} CREATE EXAMPLE 'How many people?' AS SELECT COUNT(*) AS people FROM svc.person`, 0],
];

describe('scripts in the style of the field', () => {
  it('are at least 40', () => expect(SCRIPTS.length).toBeGreaterThanOrEqual(40));
  it.each(SCRIPTS)('%s', (_, script, translations) => {
    const lines = validate(script);
    expect(lines.filter((line) => line.endsWith('(translated)'))).toHaveLength(translations);
  });
});

describe('a function without an exact equivalent is refused with a hint', () => {
  it.each([
    ["DATE_FORMAT(sold_at, '%U')", /to_char/],
    ['WEEK(sold_at)', /extract\(week FROM d\)/],
    ['LEN(region)', /length\(text\)/],
    ['LOCATE(region, region)', /strpos/],
    ['TRUNCATE(amount, 1)', /trunc\(number, digits\)/],
  ])('%s', (call, wanted) => expect(() => validate(sale(`sold_at, ${call} AS amount, region`))).toThrow(wanted));
});

describe('the error of a truncated script says that it is truncated', () => {
  const whole = `${PERSON}, CONSTRAINT up FOREIGN KEY (boss_id) REFERENCES person (person_id)); CREATE MAPPING m INTO person AS SELECT person_id, CASE WHEN full_name > 'x' THEN \`full name\` END AS full_name FROM hr.people`;
  it('at any place inside a statement', () => {
    const said: string[] = [];
    for (let end = 1; end < whole.length; end++) {
      try {
        validate(whole.slice(0, end));
      } catch (e) {
        const message = String((e as Error).message);
        if (!/cut off/.test(message)) said.push(`${whole.slice(Math.max(0, end - 30), end)} => ${message.split('\n')[0]}`);
      }
    }
    // cut inside a word, the error is about another word
    expect(said.filter((line) => !/unknown|did you mean|expected|no property|not found|has no|provides none/i.test(line))).toEqual([]);
    for (const end of [
      whole.indexOf(', full_name'),
      whole.indexOf(', PRIMARY KEY') + 14,
      whole.indexOf("'x'") + 2,
      whole.indexOf('`full name') + 4,
      whole.indexOf(' THEN'),
    ])
      expect(() => validate(whole.slice(0, end)), whole.slice(0, end)).toThrow(/cut off/);
  });
});

describe('translations return', () => {
  let db: PGlite;
  beforeAll(async () => {
    db = await memoryDatabase();
    await db.exec(
      "CREATE TABLE t (k int, d timestamp, e date, n int, s text); INSERT INTO t VALUES (1, '2024-02-29 07:05:59.9', '2023-12-31', NULL, 'aB'), (2, '2023-01-01 00:00:00', '2023-01-07', 5, '')",
    );
  });
  afterAll(() => db.close());
  it.each([
    ['YEAR(d)', ['2024', '2023']],
    ['MONTH(d) * 100 + DAY(d)', ['229', '101']],
    ['DAYOFYEAR(d)', ['60', '1']],
    ['QUARTER(d)', ['1', '1']],
    ['HOUR(d) * 10000 + MINUTE(d) * 100 + SECOND(d)', ['70559', '0']],
    // 29 February 2024 was a Thursday, 1 January 2023 a Sunday
    ['DAYOFWEEK(d)', ['5', '1']],
    ['WEEKDAY(d)', ['3', '6']],
    ['WEEKOFYEAR(d)', ['9', '52']],
    ['LAST_DAY(d)', ['2024-02-29', '2023-01-31']],
    ['IFNULL(n, 0)', ['0', '5']],
    ["NVL2(n, 'some', 'none')", ['none', 'some']],
    ["IF(k = 1, 'one', 'more')", ['one', 'more']],
    ['CONCAT(UCASE(s), LCASE(s), MID(s, 2, 1))', ['ABabB', '']],
    ["CONCAT(SPACE(2), REPLICATE('x', 2))", ['  xx', '  xx']],
    ['DATEDIFF(d, e)', ['60', '-6']],
    ['DATEDIFF(day, d, e)', ['-60', '6']],
    ['DATEDIFF(year, d, e)', ['-1', '0']],
    ['CAST(e AS DATETIME)', ['2023-12-31 00:00:00', '2023-01-07 00:00:00']],
    ["DATE_FORMAT(d, '%Y-%m-%d %H:%i:%s')", ['2024-02-29 07:05:59', '2023-01-01 00:00:00']],
    ["DATE_FORMAT(d, '%e.%c.%y, %l %p')", ['29.2.24, 7 AM', '1.1.23, 12 AM']],
    ["DATE_FORMAT(d, '%W %a %M %b %j')", ['Thursday Thu February Feb 060', 'Sunday Sun January Jan 001']],
  ] as const)('%s', async (call, wanted) => {
    const model = `CREATE ONTOLOGY f; CREATE CONCEPT c (k integer, v string, PRIMARY KEY (k)); CREATE MAPPING m INTO c AS SELECT k, CAST(${call} AS STRING) AS v FROM t`;
    const plan = planSelect(
      { graph: graphOf(model, 'f', parser), parser, product: 'svc', activeDatasource: 'main' },
      { text: 'SELECT v FROM svc.c ORDER BY k', offset: 0 },
    );
    const { rows } = await db.query<Record<string, string>>(plan.sql, [...plan.params]);
    expect(rows.map((row) => JSON.parse(JSON.stringify(Object.values(row)[0])).v)).toEqual(wanted);
  });
});
