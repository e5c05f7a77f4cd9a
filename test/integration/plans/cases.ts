/** Queries over the tables of world.ts, as SQL over the ontology and as hand-written SQL. */

export interface Case {
  readonly what: string;
  readonly sql: string;
  readonly byHand: string;
}

const PARTIES = `SELECT customer_id::bigint AS number, full_name::text AS name, 'customer' AS kind FROM plans.customer
  UNION ALL SELECT emp_no, emp_name, 'employee' FROM plans.employee
  UNION ALL SELECT contact_no, contact_name, 'contact' FROM plans.contact
  UNION ALL SELECT agent_id, agent_name, 'agent' FROM plans.agent
  UNION ALL SELECT guest_id, guest_name, 'guest' FROM plans.guest`;

/** The union as an expert would write it for the query: each branch with its own condition. */
const eachParty = (branch: (table: string, name: string, number: string) => string): string =>
  [
    ['customer', 'full_name', 'customer_id'],
    ['employee', 'emp_name', 'emp_no'],
    ['contact', 'contact_name', 'contact_no'],
    ['agent', 'agent_name', 'agent_id'],
    ['guest', 'guest_name', 'guest_id'],
  ]
    .map(([table, name, number]) => `(${branch(`plans.${table}`, name as string, number as string)})`)
    .join(' UNION ALL ');

export const CASES: readonly Case[] = [
  {
    what: 'entity_id = a literal: one row of one table',
    sql: "SELECT entity_id, name FROM svc.party WHERE entity_id = 'customer:1234'",
    byHand: "SELECT 'customer:1234' AS entity_id, full_name::text AS name FROM plans.customer WHERE customer_id = 1234",
  },
  {
    what: 'entity_id IN (...) of two concepts',
    sql: "SELECT name FROM svc.party WHERE entity_id IN ('customer:1234', 'customer:77', 'employee:30005')",
    byHand: `SELECT full_name::text AS name FROM plans.customer WHERE customer_id IN (1234, 77)
      UNION ALL SELECT emp_name FROM plans.employee WHERE emp_no = 30005`,
  },
  {
    what: 'entity_id of a key of two parts',
    sql: "SELECT amount FROM svc.line WHERE entity_id = 'line:500|2'",
    byHand: 'SELECT amount FROM plans.line WHERE order_no = 500 AND line_no = 2',
  },
  {
    what: 'entity_id of a logic concept',
    sql: "SELECT name FROM svc.old_customer WHERE entity_id = 'customer:1234'",
    byHand: "SELECT full_name::text AS name FROM plans.customer WHERE customer_id = 1234 AND born < DATE '1990-01-01'",
  },
  {
    what: 'entity_id at the end of a path',
    sql: `SELECT order_no FROM dsvc.order WHERE "placed_by[customer].entity_id" = 'customer:1234'`,
    byHand: 'SELECT order_no FROM plans.orders o JOIN plans.customer c ON c.customer_id = o.customer_id WHERE c.customer_id = 1234',
  },
  {
    what: 'entity_type = a literal',
    sql: "SELECT name FROM svc.party WHERE entity_type = 'employee' AND name = 'name 30005'",
    byHand: "SELECT emp_name::text AS name FROM plans.employee WHERE emp_name = 'name 30005'",
  },
  {
    what: 'entity_type IN (...)',
    sql: "SELECT count(*) AS n FROM svc.party WHERE entity_type IN ('employee', 'guest')",
    byHand: 'SELECT (SELECT count(*) FROM plans.employee) + (SELECT count(*) FROM plans.guest) AS n',
  },
  {
    what: 'entity_type LIKE ...',
    sql: "SELECT count(*) AS n FROM svc.party WHERE entity_type LIKE 'emp%'",
    byHand: 'SELECT count(*) AS n FROM plans.employee',
  },
  {
    what: 'a text property through five mappings, of columns text, varchar(40), varchar and char(20)',
    sql: "SELECT name, number FROM svc.party WHERE name = 'name 20777'",
    byHand: eachParty((table, name, number) => `SELECT ${name}::text AS name, ${number}::bigint AS number FROM ${table} WHERE ${name} = 'name 20777'`),
  },
  {
    what: 'a text property through four mappings, of columns text, varchar(40), varchar and varchar(200)',
    sql: "SELECT name FROM svc.party WHERE name = 'name 60777' AND entity_type <> 'guest'",
    byHand: eachParty((table, name) => `SELECT ${name}::text AS name FROM ${table} WHERE ${name} = 'name 60777' AND '${table}' <> 'plans.guest'`),
  },
  {
    what: 'a text property through the mappings of text, varchar(40) and varchar',
    sql: "SELECT name, number FROM svc.organic WHERE name = 'name 30005'",
    byHand: `SELECT emp_name::text AS name, emp_no::bigint AS number FROM plans.employee WHERE emp_name = 'name 30005'
      UNION ALL SELECT contact_name, contact_no FROM plans.contact WHERE contact_name = 'name 30005'`,
  },
  {
    what: 'a number property through five mappings, of columns bigint, integer and smallint',
    sql: 'SELECT name FROM svc.party WHERE number = 90777',
    byHand: eachParty((table, name, number) => `SELECT ${name}::text AS name FROM ${table} WHERE ${number} = 90777`),
  },
  {
    what: 'a bigint property of one integer column',
    sql: 'SELECT name FROM svc.employee WHERE number = 30005',
    byHand: 'SELECT emp_name::text AS name FROM plans.employee WHERE emp_no = 30005',
  },
  {
    what: 'a range of a bigint property of one integer column',
    sql: 'SELECT count(*) AS n FROM svc.employee WHERE number BETWEEN 30005 AND 30010',
    byHand: 'SELECT count(*) AS n FROM plans.employee WHERE emp_no BETWEEN 30005 AND 30010',
  },
  {
    what: 'a label of one property',
    sql: "SELECT number FROM svc.employee WHERE entity_label = 'name 30005'",
    byHand: "SELECT emp_no::bigint AS number FROM plans.employee WHERE emp_name = 'name 30005'",
  },
  {
    what: 'a filter on a path',
    sql: `SELECT order_no FROM dsvc.order WHERE "placed_by[customer].name" = 'name 1234'`,
    byHand: "SELECT order_no FROM plans.orders o JOIN plans.customer c ON c.customer_id = o.customer_id WHERE c.full_name = 'name 1234'",
  },
  {
    what: 'a filter two hops away',
    sql: `SELECT amount FROM dsvc.line WHERE "of_order[order].placed_by[customer].name" = 'name 1751'`,
    byHand: `SELECT amount FROM plans.line l JOIN plans.orders o ON o.order_no = l.order_no JOIN plans.customer c ON c.customer_id = o.customer_id
      WHERE c.full_name = 'name 1751'`,
  },
  {
    what: 'a filter on a to-many path',
    sql: `SELECT name FROM dsvc.customer WHERE "placed[order].order_no" = 500`,
    byHand: 'SELECT c.full_name::text AS name FROM plans.customer c JOIN plans.orders o ON o.customer_id = c.customer_id WHERE o.order_no = 500',
  },
  {
    what: 'a filter on a path from a concept of several mappings',
    sql: `SELECT name FROM dsvc.party WHERE "lives_in[city].name" = 'city 12'`,
    byHand: `SELECT p.name FROM (SELECT full_name::text AS name, city_id FROM plans.customer UNION ALL SELECT emp_name, city_id FROM plans.employee
      UNION ALL SELECT contact_name, city_id FROM plans.contact UNION ALL SELECT agent_name, city_id FROM plans.agent
      UNION ALL SELECT guest_name, city_id FROM plans.guest) p JOIN plans.city t ON t.city_id = p.city_id WHERE t.city_name = 'city 12'`,
  },
  {
    what: 'a path to a concept of several mappings, filtered at its start',
    sql: `SELECT "about[party].name" AS name FROM dsvc.note WHERE note_no = 17`,
    byHand: `SELECT p.name FROM plans.note n LEFT JOIN LATERAL (${eachParty((table, name, number) => `SELECT ${name}::text AS name FROM ${table} WHERE ${number} = n.about_no`)}) p ON true
      WHERE n.note_no = 17`,
  },
  {
    what: 'a filter over a link table',
    sql: `SELECT name FROM dsvc.customer WHERE "likes[city].name" = 'city 12' AND number < 17000`,
    byHand: `SELECT c.full_name::text AS name FROM plans.customer c JOIN plans.likes k ON k.customer_id = c.customer_id
      JOIN plans.city t ON t.city_id = k.city_id WHERE t.city_name = 'city 12' AND c.customer_id < 17000`,
  },
  {
    what: 'a transitive path from one row',
    sql: `SELECT "reports_to[employee*5].number" AS boss FROM dsvc.employee WHERE entity_id = 'employee:49000' ORDER BY boss`,
    byHand: `WITH RECURSIVE up(no, depth) AS (SELECT boss_no, 1 FROM plans.employee WHERE emp_no = 49000
        UNION SELECT e.boss_no, depth + 1 FROM up JOIN plans.employee e ON e.emp_no = up.no WHERE depth < 5 AND e.boss_no IS NOT NULL)
      SELECT no::bigint AS boss FROM up ORDER BY boss`,
  },
  {
    what: 'nothing related, asked by the key of the far end',
    sql: `SELECT name FROM dsvc.customer WHERE "placed[order].order_no" IS NULL AND number BETWEEN 9950 AND 10050`,
    byHand: `SELECT full_name::text AS name FROM plans.customer c WHERE customer_id BETWEEN 9950 AND 10050
      AND NOT EXISTS (SELECT FROM plans.orders o WHERE o.customer_id = c.customer_id)`,
  },
  {
    what: 'ORDER BY a text property LIMIT through a union of varchar(40), varchar and text',
    sql: 'SELECT name FROM svc.organic ORDER BY name LIMIT 5',
    byHand: 'SELECT name FROM (SELECT emp_name::text AS name FROM plans.employee UNION ALL SELECT contact_name FROM plans.contact) p ORDER BY name LIMIT 5',
  },
  {
    what: 'ORDER BY a date LIMIT through a union',
    sql: 'SELECT name, born FROM svc.party WHERE born IS NOT NULL ORDER BY born, name LIMIT 5',
    byHand: `SELECT name, born FROM (SELECT full_name::text AS name, born FROM plans.customer UNION ALL SELECT emp_name, born FROM plans.employee) p
      WHERE born IS NOT NULL ORDER BY born, name LIMIT 5`,
  },
  {
    what: 'ORDER BY a number LIMIT, of one integer column',
    sql: 'SELECT number FROM svc.employee ORDER BY number DESC LIMIT 5',
    byHand: 'SELECT emp_no::bigint AS number FROM plans.employee ORDER BY emp_no DESC LIMIT 5',
  },
  {
    what: 'ORDER BY a number LIMIT through a union of bigint, integer and smallint',
    sql: 'SELECT number, name FROM svc.party ORDER BY number LIMIT 5',
    byHand: `SELECT number, name FROM (${eachParty((table, name, number) => `SELECT ${name}::text AS name, ${number}::bigint AS number FROM ${table} ORDER BY ${number} LIMIT 5`)}) p
      ORDER BY number LIMIT 5`,
  },
  {
    what: 'a page further on of numbers through such a union, the largest first',
    sql: 'SELECT number, name FROM svc.party ORDER BY number DESC LIMIT 5 OFFSET 20',
    byHand: `SELECT number, name FROM (${eachParty((table, name, number) => `SELECT ${name}::text AS name, ${number}::bigint AS number FROM ${table} ORDER BY ${number} DESC LIMIT 25`)}) p
      ORDER BY number DESC LIMIT 5 OFFSET 20`,
  },
  {
    what: 'LIMIT without ORDER BY reads only the first table',
    sql: 'SELECT count(*) AS n FROM (SELECT name FROM svc.party LIMIT 5) q',
    byHand: `SELECT count(*) AS n FROM (SELECT name FROM (${PARTIES}) p LIMIT 5) q`,
  },
  {
    what: 'two concepts joined by their keys',
    sql: `SELECT o.order_no FROM svc.customer c JOIN svc.order o ON o.number = c.number WHERE c.name = 'name 1234'`,
    byHand: "SELECT o.order_no FROM plans.customer c JOIN plans.orders o ON o.customer_id = c.customer_id WHERE c.full_name = 'name 1234'",
  },
  {
    what: 'a path that nothing refers to joins nothing',
    sql: 'SELECT order_no FROM dsvc.order WHERE order_no = 500',
    byHand: 'SELECT order_no FROM plans.orders WHERE order_no = 500',
  },
  {
    what: 'a range of a date property of a timestamp column',
    sql: "SELECT note_no FROM svc.note WHERE written BETWEEN '2024-03-05' AND '2024-03-07'",
    byHand: "SELECT note_no FROM plans.note WHERE written >= DATE '2024-03-05' AND written < DATE '2024-03-08'",
  },
  {
    what: 'a date property of a timestamp column',
    sql: "SELECT note_no FROM svc.note WHERE written = DATE '2024-03-05'",
    byHand: "SELECT note_no FROM plans.note WHERE written >= DATE '2024-03-05' AND written < DATE '2024-03-06'",
  },
  {
    what: 'an aggregate of the root, its filter on a to-many path',
    sql: `SELECT count(number) AS n FROM dsvc.customer WHERE "placed[order].order_no" BETWEEN 500 AND 520`,
    byHand:
      'SELECT count(*) AS n FROM plans.customer c WHERE EXISTS (SELECT FROM plans.orders o WHERE o.customer_id = c.customer_id AND order_no BETWEEN 500 AND 520)',
  },
  {
    what: 'two levels of aggregates, for one row',
    sql: `SELECT sum(credit) AS credit, sum("placed[order].freight") AS freight FROM dsvc.customer WHERE number = 1234`,
    byHand: `SELECT (SELECT sum(credit) FROM plans.customer WHERE customer_id = 1234) AS credit,
      (SELECT sum(freight) FROM plans.orders WHERE customer_id = 1234) AS freight`,
  },
  {
    what: 'two levels of aggregates in many groups, where PostgreSQL expects few',
    sql: `SELECT number, sum(credit) AS credit, count("placed[order].order_no") AS orders FROM dsvc.customer
      WHERE number <= 150 AND left(name, 4) = 'name' AND substring(name FROM 1 FOR 2) = 'na' AND substring(name FROM 1 FOR 3) = 'nam'
      GROUP BY number ORDER BY number`,
    byHand: `SELECT customer_id AS number, credit, (SELECT count(*) FROM plans.orders o WHERE o.customer_id = c.customer_id) AS orders FROM plans.customer c
      WHERE customer_id <= 150 AND left(full_name, 4) = 'name' AND substring(full_name FROM 1 FOR 2) = 'na' AND substring(full_name FROM 1 FOR 3) = 'nam'
      ORDER BY customer_id`,
  },
];
