/** The data of the attacks: people, deals and towns, some hidden from the caller, and masked values, in separate tables. */

/** Hidden: people of the dept `vault` (3, 4, 7, 9), the town `Hideaway`, deals of 900 and more. In hidden rows the text column `amount` is not numeric. */
export const TABLES = [
  'CREATE SCHEMA lab',
  'CREATE TABLE lab.t_person (id bigint PRIMARY KEY, name text, dept text, salary numeric(10,2), ssn text, boss bigint, town int, factor float8, born date, note text, amount text)',
  `INSERT INTO lab.t_person VALUES
 (1, 'Ann', 'shop', 1000, '111-11-1111', 2, 10, 2, '1990-01-01', 'a', '1'),
 (2, 'Bob', 'shop', 2000, '222-22-2222', 5, 20, 4, '1980-02-02', 'd', '2'),
 (3, 'Zorro', 'vault', 9000, '999-99-9999', 5, 10, 0, '1970-03-03', '(', 'Tresor9'),
 (4, 'Quark', 'vault', NULL, '888-88-8888', 3, NULL, -1, '1960-04-04', '[', 'Tresor8'),
 (5, 'Eve', 'shop', 3000, '333-33-3333', 7, 20, 8, '1950-05-05', 'b', '5'),
 (7, 'Vulcan', 'vault', 7777, '777-77-7777', NULL, 30, 1e308, NULL, '*', 'Tresor7')`,
  'CREATE TABLE lab.t_agent (id smallint PRIMARY KEY, name text, dept text, salary numeric(10,2), ssn text, boss bigint, town int, factor float8, born date, note text, amount text, code text)',
  `INSERT INTO lab.t_agent VALUES
 (8, 'Hal', 'shop', 4000, '444-44-4444', 5, 10, 16, '1999-01-01', 'c', '8', 'h8'),
 (9, 'Xerxes', 'vault', 8888, '666-66-6666', 3, 40, 0, NULL, ')', 'Tresor6', 'Code007')`,
  'CREATE TABLE lab.t_town (no int PRIMARY KEY, name text, mayor bigint)',
  "INSERT INTO lab.t_town VALUES (10, 'Bern', 3), (20, 'Oslo', 1), (30, 'Hideaway', 7), (40, 'Lima', NULL)",
  'CREATE TABLE lab.t_knows (a bigint, b bigint, ssn text, since int)',
  `INSERT INTO lab.t_knows VALUES (1, 2, '111-11-1111', 1999), (1, 3, '999-99-9999', 0), (3, 4, '999-99-9999', 0), (3, 5, '999-99-9999', 0),
 (5, 1, '333-33-3333', 2001), (9, 1, '666-66-6666', 0)`,
  'CREATE TABLE lab.t_nick (id bigint, nick text)',
  "INSERT INTO lab.t_nick VALUES (1, 'Annie'), (1, 'Nan'), (3, 'Masked'), (3, 'Fox9'), (9, 'King')",
  'CREATE TABLE lab.t_deal (no int PRIMARY KEY, person bigint, price int)',
  'INSERT INTO lab.t_deal VALUES (100, 1, 5), (101, 1, 7), (102, 3, 900), (103, 4, 901), (104, 2, 11), (105, 9, 902), (106, 3, 13)',
  'CREATE TABLE lab.t_badge (badge text PRIMARY KEY, holder bigint)',
  "INSERT INTO lab.t_badge VALUES ('K-4711', 1), ('K-4712', 3)",
];

export const MODEL = `CREATE ONTOLOGY lab;
CREATE PROPERTY double_pay decimal AS SELECT salary * 2;
CREATE PROPERTY inverse decimal AS SELECT 100 / (id - 3);
CREATE PROPERTY loud string AS SELECT upper(ssn);
CREATE MEASURE traded bigint AS SELECT SUM(price);
CREATE MEASURE risk bigint AS SELECT SUM(1000 / (price - 900));
CREATE MEASURE payroll decimal AS SELECT SUM(salary);
CREATE CONCEPT town (no integer, name string, mayor bigint, PRIMARY KEY (no), LABEL (name),
  CONSTRAINT governed_by FOREIGN KEY (mayor) REFERENCES person (id) INVERSEOF governs);
CREATE CONCEPT person (id bigint, name string, dept string, salary decimal(10,2), ssn string, boss bigint, town integer, factor double, born date, note string,
  amount integer, double_pay decimal, inverse decimal, loud string, payroll MEASURE decimal, PRIMARY KEY (id), LABEL (name),
  CONSTRAINT reports_to FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF leads TRANSITIVE(5),
  CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (no) INVERSEOF has_resident,
  CONSTRAINT knows MULTIREFERENCE person INVERSEOF known_by TRANSITIVE(4),
  CONSTRAINT nick MULTIVALUE string);
CREATE CONCEPT agent (code string) INHERITS (person);
CREATE CONCEPT rich INHERITS (person) FROM svc.person WHERE salary > 5000;
CREATE CONCEPT steady INHERITS (person) FROM svc.person WHERE 10 / (id - 3) > -100;
CREATE CONCEPT trader INHERITS (person) FROM dsvc.person WHERE "made[deal].price" > 0;
CREATE CONCEPT deal (deal_no integer, buyer bigint, price integer, traded MEASURE bigint, risk MEASURE bigint, PRIMARY KEY (deal_no),
  CONSTRAINT made_by FOREIGN KEY (buyer) REFERENCES person (id) INVERSEOF made);
CREATE CONCEPT badge (badge string, holder bigint, PRIMARY KEY (badge), CONSTRAINT held_by FOREIGN KEY (holder) REFERENCES person (id) INVERSEOF holds);
CREATE MAPPING map_person INTO (person) AS SELECT id, name, dept, salary, ssn, boss, town, factor, born, note, amount FROM lab.t_person;
CREATE MAPPING map_agent INTO (agent) AS SELECT id, name, dept, salary, ssn, boss, town, factor, born, note, amount, code FROM lab.t_agent;
CREATE MAPPING map_town INTO (town) AS SELECT no, name, mayor FROM lab.t_town;
CREATE MAPPING map_deal INTO (deal) AS SELECT no AS deal_no, person AS buyer, price FROM lab.t_deal;
CREATE MAPPING map_badge INTO (badge) AS SELECT badge, holder FROM lab.t_badge;
CREATE MAPPING map_nick INTO (person) MULTIVALUE nick AS SELECT id, nick FROM lab.t_nick;
CREATE MAPPING map_knows (CONSTRAINT knows FOREIGN KEY (b) REFERENCES person (id), CONSTRAINT known_by FOREIGN KEY (a) REFERENCES person (id)) AS SELECT a, b, ssn, since FROM lab.t_knows;
CREATE VIEW everyone AS SELECT id, name, dept, ssn FROM svc.person;
CREATE VIEW risky AS SELECT id, 10 / (id - 3) AS q, CASE WHEN dept = 'vault' THEN 1 / (id - id) ELSE 1 END AS w FROM svc.person;
CREATE ONTOLOGY CUBE trade AS SELECT "made_by[person].name" AS buyer_name, deal_no, price, "measure.traded" AS traded FROM dsvc.deal`;

/** The caller's policies. The policy of people follows a path: PostgreSQL evaluates it after conditions on only people, unless a barrier prevents that. */
export const POLICIES = `CREATE POLICY p_shop ON CONCEPT person TO USER rex USING (CASE WHEN "lives_in[town].no" < 0 THEN false ELSE dept = 'shop' END);
CREATE POLICY p_deal ON CONCEPT deal TO USER rex USING (price < 900);
CREATE POLICY p_town ON CONCEPT town TO USER rex USING (name <> 'Hideaway');
CREATE POLICY m_salary ON PROPERTY salary MASK WITH (500) EXCEPT ROLE payers;
CREATE POLICY m_ssn ON PROPERTY ssn MASK PARTIAL(3, 'x', 0) EXCEPT ROLE payers;
CREATE POLICY m_badge ON PROPERTY badge MASK HASH`;

const person = (table: string, type: string, code: string): string =>
  `SELECT id::bigint AS id, name, dept, 500.00::numeric(10,2) AS salary, left(ssn, 3) || repeat('x', length(ssn) - 3) AS ssn, boss, town, factor, born, note, amount::int AS amount,
   '${type}' AS type, ${code} AS code FROM lab.${table} WHERE id NOT IN (3, 4, 7, 9)`;

/** What the caller may know, for hand-written SQL: `pe`, `ag`, `de`, `tn`, `kn`, `ni` without the hidden rows and with the masked values. */
export const SEEN = `WITH RECURSIVE pe AS MATERIALIZED (${person('t_person', 'person', 'NULL')} UNION ALL ${person('t_agent', 'agent', 'code')}),
 ag AS (SELECT * FROM pe WHERE type = 'agent'),
 de AS MATERIALIZED (SELECT no AS deal_no, person AS buyer, price FROM lab.t_deal WHERE no NOT IN (102, 103, 105)),
 tn AS MATERIALIZED (SELECT no, name, mayor FROM lab.t_town WHERE no <> 30),
 kn AS (SELECT a, b, left(ssn, 3) || repeat('x', length(ssn) - 3) AS ssn, since FROM lab.t_knows WHERE a NOT IN (3, 4, 7, 9) AND b NOT IN (3, 4, 7, 9)),
 ni AS (SELECT * FROM lab.t_nick WHERE id NOT IN (3, 4, 7, 9))`;

/** Texts that no answer to the caller may contain. */
export const SECRETS = [
  'Zorro',
  'Quark',
  'Vulcan',
  'Xerxes',
  'vault',
  'Tresor',
  'Code007',
  'Hideaway',
  'Masked',
  'Fox9',
  'King',
  '999-99',
  '888-88',
  '777-77',
  '666-66',
  '-1111',
  '-2222',
  '-3333',
  '-4444',
  '9000',
  '7777',
  '8888',
  '4711',
  '4712',
  '902',
  '901',
  '900',
  'lab.',
  't_person',
  't_agent',
  'p_shop',
  'm_ssn',
];
