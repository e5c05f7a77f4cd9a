/** Tables of 20,000 rows each and an ontology over them: five mappings with a name and a number, each from a column of another type. */
const N = 20_000;
const series = `generate_series(1, ${N}) i`;

export const TABLES: readonly string[] = [
  'CREATE SCHEMA plans',
  `CREATE TABLE plans.city AS SELECT i AS city_id, 'city ' || i AS city_name FROM generate_series(1, 2000) i`,
  `CREATE TABLE plans.customer AS SELECT i::bigint AS customer_id, ('name ' || i)::text AS full_name, i % 2000 + 1 AS city_id,
     DATE '1950-01-01' + i AS born, (i % 700)::numeric(12,2) AS credit FROM ${series}`,
  `CREATE TABLE plans.employee AS SELECT (30000 + i)::integer AS emp_no, ('name ' || 30000 + i)::varchar(40) AS emp_name, i % 2000 + 1 AS city_id,
     DATE '1960-01-01' + i AS born, CASE WHEN i > 1 THEN 30000 + i / 3 + 1 END::integer AS boss_no FROM ${series}`,
  // The range of smallint; negative numbers distinguish them from the customers'.
  `CREATE TABLE plans.contact AS SELECT (-i)::smallint AS contact_no, ('name ' || -i)::varchar AS contact_name, i % 2000 + 1 AS city_id FROM ${series}`,
  `CREATE TABLE plans.agent AS SELECT (60000 + i)::integer AS agent_id, ('name ' || 60000 + i)::varchar(200) AS agent_name, i % 2000 + 1 AS city_id FROM ${series}`,
  `CREATE TABLE plans.guest AS SELECT (90000 + i)::bigint AS guest_id, ('name ' || 20000 + i)::char(20) AS guest_name, i % 2000 + 1 AS city_id FROM ${series}`,
  `CREATE TABLE plans.orders AS SELECT i::bigint AS order_no, (i * 7 % ${N} / 2 + 1)::bigint AS customer_id, (i % 90)::numeric(12,2) AS freight FROM ${series}`,
  `CREATE TABLE plans.line AS SELECT (i / 4 + 1)::bigint AS order_no, i % 4 AS line_no, (i % 100)::numeric(12,2) AS amount FROM ${series}`,
  `CREATE TABLE plans.likes AS SELECT (i % ${N} + 1)::bigint AS customer_id, i * 13 / 20000 + 1 AS city_id FROM generate_series(1, 40000) i`,
  `CREATE TABLE plans.note AS SELECT i AS note_no, (i % ${N} + 1)::bigint AS about_no, TIMESTAMP '2024-01-01 00:00' + i * INTERVAL '1 hour' AS written FROM ${series}`,
  'ALTER TABLE plans.city ADD PRIMARY KEY (city_id)',
  'ALTER TABLE plans.customer ADD PRIMARY KEY (customer_id)',
  'ALTER TABLE plans.employee ADD PRIMARY KEY (emp_no)',
  'ALTER TABLE plans.contact ADD PRIMARY KEY (contact_no)',
  'ALTER TABLE plans.agent ADD PRIMARY KEY (agent_id)',
  'ALTER TABLE plans.guest ADD PRIMARY KEY (guest_id)',
  'ALTER TABLE plans.orders ADD PRIMARY KEY (order_no)',
  'ALTER TABLE plans.line ADD PRIMARY KEY (order_no, line_no)',
  'ALTER TABLE plans.likes ADD PRIMARY KEY (customer_id, city_id)',
  'ALTER TABLE plans.note ADD PRIMARY KEY (note_no)',
  'CREATE INDEX ON plans.city (city_name)',
  ...[
    ['customer', 'full_name'],
    ['employee', 'emp_name'],
    ['contact', 'contact_name'],
    ['agent', 'agent_name'],
    ['guest', 'guest_name'],
  ].flatMap(([table, name]) => [`CREATE INDEX ON plans.${table} (${name})`, `CREATE INDEX ON plans.${table} (city_id)`]),
  'CREATE INDEX ON plans.customer (born)',
  'CREATE INDEX ON plans.employee (born)',
  'CREATE INDEX ON plans.employee (boss_no)',
  'CREATE INDEX ON plans.orders (customer_id)',
  'CREATE INDEX ON plans.likes (city_id)',
  'CREATE INDEX ON plans.note (about_no)',
  'CREATE INDEX ON plans.note (written)',
];

export const MODEL = `
CREATE ONTOLOGY plans;
CREATE CONCEPT city (city_id integer, name string, PRIMARY KEY (city_id), LABEL (name));
CREATE CONCEPT party (number bigint, name string, city_id integer, born date, LABEL (name),
  CONSTRAINT lives_in FOREIGN KEY (city_id) REFERENCES city (city_id) INVERSEOF houses);
CREATE CONCEPT organic INHERITS (party);
CREATE CONCEPT customer (credit decimal, PRIMARY KEY (number), CONSTRAINT likes MULTIREFERENCE city INVERSEOF liked_by) INHERITS (party);
CREATE CONCEPT employee (boss_no integer, PRIMARY KEY (number),
  CONSTRAINT reports_to FOREIGN KEY (boss_no) REFERENCES employee (number) INVERSEOF leads TRANSITIVE) INHERITS (organic);
CREATE CONCEPT contact (PRIMARY KEY (number)) INHERITS (organic);
CREATE CONCEPT agent (PRIMARY KEY (number)) INHERITS (party);
CREATE CONCEPT guest (PRIMARY KEY (number)) INHERITS (party);
CREATE CONCEPT order (order_no bigint, number bigint, freight decimal, PRIMARY KEY (order_no),
  CONSTRAINT placed_by FOREIGN KEY (number) REFERENCES customer (number) INVERSEOF placed);
CREATE CONCEPT line (order_no bigint, line_no integer, amount decimal, PRIMARY KEY (order_no, line_no),
  CONSTRAINT of_order FOREIGN KEY (order_no) REFERENCES order (order_no) INVERSEOF has_line);
CREATE CONCEPT note (note_no integer, about_no bigint, written date, PRIMARY KEY (note_no),
  CONSTRAINT about FOREIGN KEY (about_no) REFERENCES party (number) INVERSEOF has_note);
CREATE CONCEPT old_customer INHERITS (customer) FROM svc.customer WHERE born < DATE '1990-01-01';
CREATE MAPPING m_city INTO city AS SELECT city_id, city_name AS name FROM plans.city;
CREATE MAPPING m_customer INTO customer AS SELECT customer_id AS number, full_name AS name, city_id, born, credit FROM plans.customer;
CREATE MAPPING m_employee INTO employee AS SELECT emp_no AS number, emp_name AS name, city_id, born, boss_no FROM plans.employee;
CREATE MAPPING m_contact INTO contact AS SELECT contact_no AS number, contact_name AS name, city_id FROM plans.contact;
CREATE MAPPING m_agent INTO agent AS SELECT agent_id AS number, agent_name AS name, city_id FROM plans.agent;
CREATE MAPPING m_guest INTO guest AS SELECT guest_id AS number, guest_name AS name, city_id FROM plans.guest;
CREATE MAPPING m_order INTO order AS SELECT order_no, customer_id AS number, freight FROM plans.orders;
CREATE MAPPING m_line INTO line AS SELECT order_no, line_no, amount FROM plans.line;
CREATE MAPPING m_note INTO note AS SELECT note_no, about_no, written FROM plans.note;
CREATE MAPPING m_likes (CONSTRAINT likes FOREIGN KEY (city_id) REFERENCES city (city_id),
  CONSTRAINT liked_by FOREIGN KEY (customer_id) REFERENCES customer (number)) AS SELECT customer_id, city_id FROM plans.likes;
`;
