/**
 * The shop of the corpora: its tables with a few rows, and its model in modelling statements.
 */

export const TABLES: readonly string[] = [
  'CREATE SCHEMA shop',
  'CREATE TABLE shop.t_town (town_no bigint PRIMARY KEY, town text, heads bigint)',
  "INSERT INTO shop.t_town VALUES (1, 'Berlin', 3400000), (2, 'Gent', 260000), (3, 'Nowhere', NULL)",
  `CREATE TABLE shop.t_client (no bigint PRIMARY KEY, fname text, lname text, mail text, born date, town_no bigint REFERENCES shop.t_town,
     seg text, vip boolean, limit_eur double precision, extra json)`,
  `INSERT INTO shop.t_client VALUES
     (1, 'Ann', 'Lee', 'ann@example.org', '1980-02-29', 1, 'gold', true, 5000, '{"tags": ["new", "eu"], "score": 7}'),
     (2, 'Bo', 'Quist', NULL, '1991-12-01', 2, 'silver', false, 150.5, '{"tags": []}'),
     (3, 'Cy', 'Li', 'cy@example.org', NULL, NULL, NULL, NULL, NULL, NULL)`,
  'CREATE TABLE shop.t_knows (a bigint, b bigint, since date, PRIMARY KEY (a, b))',
  "INSERT INTO shop.t_knows VALUES (1, 2, '2020-01-01'), (2, 3, NULL)",
  'CREATE TABLE shop.t_article (art text PRIMARY KEY, label text, eur numeric(10,2), since timestamptz)',
  "INSERT INTO shop.t_article VALUES ('B-1', 'Ball', 9.5, '2024-01-01T10:00:00Z'), ('B-2', 'Bat', 25, NULL)",
  'CREATE TABLE shop.t_order (ord bigint PRIMARY KEY, client bigint REFERENCES shop.t_client, at timestamp, state text, freight numeric(8,2))',
  `INSERT INTO shop.t_order VALUES (100, 1, '2024-02-27T08:00:00', 'shipped', 5.00), (101, 1, '2024-03-01T09:30:00', 'open', 7.25),
     (102, 2, '2024-03-15T00:00:00', 'shipped', NULL)`,
  'CREATE TABLE shop.t_line (ord bigint REFERENCES shop.t_order, pos integer, art text REFERENCES shop.t_article, qty integer, eur numeric(10,2), PRIMARY KEY (ord, pos))',
  "INSERT INTO shop.t_line VALUES (100, 1, 'B-1', 2, 9.50), (100, 2, 'B-2', 1, 25.00), (101, 1, 'B-1', 3, 9.00), (102, 1, 'B-2', 5, 24.00)",
];

export const MODEL = `
CREATE CONCEPT city (city_id bigint, name string, population bigint, PRIMARY KEY (city_id), LABEL (name));
CREATE CONCEPT customer (
  customer_id bigint, first_name string, last_name string, email string, birth_date date, city_id bigint, segment string, vip boolean,
  credit_limit double, attributes json,
  PRIMARY KEY (customer_id), LABEL (first_name, last_name),
  CONSTRAINT lives_in FOREIGN KEY (city_id) REFERENCES city (city_id) INVERSEOF has_resident,
  CONSTRAINT knows MULTIREFERENCE customer INVERSEOF known_by TRANSITIVE);
CREATE CONCEPT gold_customer INHERITS (customer) FROM svc.customer WHERE segment = 'gold';
CREATE CONCEPT product (sku string, title string, price decimal(10,2), launched timestamptz, PRIMARY KEY (sku), LABEL (title));
CREATE CONCEPT \`order\` (
  order_no bigint, customer_id bigint, placed_at timestamp, status string, freight decimal(8,2),
  PRIMARY KEY (order_no),
  CONSTRAINT placed_by FOREIGN KEY (customer_id) REFERENCES customer (customer_id) INVERSEOF placed);
CREATE CONCEPT line (
  order_no bigint, line_no integer, sku string, quantity integer, price decimal(10,2),
  PRIMARY KEY (order_no, line_no),
  CONSTRAINT of_order FOREIGN KEY (order_no) REFERENCES \`order\` (order_no) INVERSEOF has_line,
  CONSTRAINT of_product FOREIGN KEY (sku) REFERENCES product (sku) INVERSEOF in_line);

CREATE MAPPING map_city INTO city AS SELECT town_no AS city_id, town AS name, heads AS population FROM shop.t_town;
CREATE MAPPING map_customer INTO customer AS
  SELECT no AS customer_id, fname AS first_name, lname AS last_name, mail AS email, born AS birth_date, town_no AS city_id, seg AS segment, vip,
         limit_eur AS credit_limit, extra AS attributes FROM shop.t_client;
CREATE MAPPING map_knows (
  CONSTRAINT knows FOREIGN KEY (b) REFERENCES customer (customer_id),
  CONSTRAINT known_by FOREIGN KEY (a) REFERENCES customer (customer_id)) AS SELECT a, b, since FROM shop.t_knows;
CREATE MAPPING map_product INTO product AS SELECT art AS sku, label AS title, eur AS price, since AS launched FROM shop.t_article;
CREATE MAPPING map_order INTO \`order\` AS SELECT ord AS order_no, client AS customer_id, at AS placed_at, state AS status, freight FROM shop.t_order;
CREATE MAPPING map_line INTO line AS SELECT ord AS order_no, pos AS line_no, art AS sku, qty AS quantity, eur AS price FROM shop.t_line;
`;
