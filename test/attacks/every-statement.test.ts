/** One statement of each kind that PostgreSQL's grammar has, wherever a caller may write SQL: each is refused, and none reaches the datasource. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Node } from '@pgsql/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { startService, type TestService } from '../support/service.ts';

/** Statements other than SELECT. Those that PostgreSQL 15 can run would change something if they reached it. */
const STATEMENTS = `
INSERT INTO shop.t_city (id) VALUES (9)
INSERT INTO shop.t_city SELECT 9, 'x', NULL ON CONFLICT DO NOTHING RETURNING id
UPDATE shop.t_city SET name = 'x' RETURNING id
DELETE FROM shop.t_city RETURNING id
MERGE INTO shop.t_city c USING shop.t_city d ON c.id = d.id WHEN MATCHED THEN DELETE
SELECT * INTO shop.copy FROM shop.t_city
SELECT id FROM shop.t_city FOR UPDATE
SELECT name INTO shop.copy FROM svc.city
SELECT name FROM svc.city FOR UPDATE
CREATE SCHEMA other
ALTER TABLE shop.t_city ADD COLUMN x int
ALTER TABLE shop.t_city REPLICA IDENTITY FULL
ALTER COLLATION "C" REFRESH VERSION
ALTER DOMAIN d DROP NOT NULL
GRANT SELECT ON shop.t_city TO PUBLIC
GRANT pg_monitor TO kg_reader
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC
COPY shop.t_city TO PROGRAM 'touch x'
COPY (SELECT 1) TO STDOUT
COPY shop.t_city FROM '/etc/passwd'
SET ROLE postgres
SET LOCAL statement_timeout = 0
RESET ALL
SET SESSION AUTHORIZATION postgres
SHOW server_version
CREATE TABLE shop.x (id int)
CREATE TABLESPACE t LOCATION '/var/lib/t'
DROP TABLESPACE t
ALTER TABLESPACE t SET (seq_page_cost = 1)
ALTER TABLE ALL IN TABLESPACE t SET TABLESPACE u
CREATE EXTENSION dblink
ALTER EXTENSION dblink UPDATE
ALTER EXTENSION dblink ADD TABLE shop.t_city
CREATE FOREIGN DATA WRAPPER w
ALTER FOREIGN DATA WRAPPER w NO HANDLER
CREATE SERVER s FOREIGN DATA WRAPPER w
ALTER SERVER s VERSION '1'
CREATE FOREIGN TABLE f (id int) SERVER s
CREATE USER MAPPING FOR CURRENT_USER SERVER s
ALTER USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (SET a 'b')
DROP USER MAPPING FOR CURRENT_USER SERVER s
IMPORT FOREIGN SCHEMA a FROM SERVER s INTO shop
CREATE POLICY p ON shop.t_city USING (true)
ALTER POLICY p ON shop.t_city USING (true)
CREATE ACCESS METHOD a TYPE TABLE HANDLER h
CREATE TRIGGER t BEFORE INSERT ON shop.t_city EXECUTE FUNCTION f()
CREATE EVENT TRIGGER t ON ddl_command_start EXECUTE FUNCTION f()
ALTER EVENT TRIGGER t DISABLE
CREATE LANGUAGE l HANDLER h
CREATE ROLE r SUPERUSER
ALTER ROLE kg_reader SUPERUSER
ALTER ROLE kg_reader SET statement_timeout = 0
DROP ROLE r
CREATE SEQUENCE s
ALTER SEQUENCE s RESTART
CREATE AGGREGATE a (int) (SFUNC = int4pl, STYPE = int)
CREATE OPERATOR === (LEFTARG = int, FUNCTION = f)
CREATE TYPE t
CREATE COLLATION c FROM "C"
CREATE TEXT SEARCH PARSER p (START = f)
CREATE DOMAIN d AS int
CREATE OPERATOR CLASS c FOR TYPE int USING btree AS OPERATOR 1 <
CREATE OPERATOR FAMILY f USING btree
ALTER OPERATOR FAMILY f USING btree ADD OPERATOR 1 < (int, int)
DROP TABLE shop.t_city
DROP FUNCTION f()
TRUNCATE shop.t_city
COMMENT ON TABLE shop.t_city IS 'x'
SECURITY LABEL ON TABLE shop.t_city IS 'x'
DECLARE c CURSOR FOR SELECT 1
CLOSE ALL
FETCH ALL FROM c
MOVE 1 FROM c
CREATE INDEX ON shop.t_city (id)
CREATE STATISTICS s ON id, name FROM shop.t_city
ALTER STATISTICS s SET STATISTICS 1
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1
CREATE PROCEDURE p() LANGUAGE sql AS 'DELETE FROM shop.t_city'
ALTER FUNCTION f() IMMUTABLE
DO $$BEGIN PERFORM pg_sleep(1); END$$
CALL p()
ALTER TABLE shop.t_city RENAME TO x
ALTER FUNCTION f() DEPENDS ON EXTENSION x
ALTER TABLE shop.t_city SET SCHEMA public
ALTER TABLE shop.t_city OWNER TO kg_reader
ALTER SCHEMA shop OWNER TO kg_reader
ALTER OPERATOR = (int, int) SET (RESTRICT = NONE)
ALTER TYPE t SET (STORAGE = plain)
CREATE RULE r AS ON INSERT TO shop.t_city DO INSTEAD NOTHING
NOTIFY x, 'y'
LISTEN x
UNLISTEN *
BEGIN
COMMIT
ROLLBACK
SAVEPOINT s
PREPARE TRANSACTION 'x'
CREATE TYPE t AS (a int)
CREATE TYPE t AS ENUM ('a')
CREATE TYPE t AS RANGE (SUBTYPE = int)
ALTER TYPE t ADD VALUE 'b'
CREATE VIEW shop.v AS SELECT 1
CREATE OR REPLACE TEMP VIEW v AS SELECT 1
LOAD 'x'
CREATE DATABASE d
ALTER DATABASE d CONNECTION LIMIT 1
ALTER DATABASE d REFRESH COLLATION VERSION
ALTER DATABASE d SET work_mem = '1GB'
DROP DATABASE d
ALTER SYSTEM SET work_mem = '1GB'
CLUSTER shop.t_city
VACUUM FULL shop.t_city
ANALYZE shop.t_city
EXPLAIN ANALYZE DELETE FROM shop.t_city
EXPLAIN (ANALYZE, BUFFERS) SELECT 1
CREATE TABLE shop.copy AS SELECT * FROM shop.t_city
CREATE MATERIALIZED VIEW shop.m AS SELECT 1
REFRESH MATERIALIZED VIEW shop.m
CHECKPOINT
DISCARD ALL
LOCK TABLE shop.t_city
SET CONSTRAINTS ALL DEFERRED
REINDEX TABLE shop.t_city
CREATE CONVERSION c FOR 'UTF8' TO 'LATIN1' FROM f
CREATE CAST (int AS text) WITHOUT FUNCTION
CREATE TRANSFORM FOR int LANGUAGE l (FROM SQL WITH FUNCTION f(internal))
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE ALL
DROP OWNED BY kg_reader
REASSIGN OWNED BY kg_reader TO postgres
ALTER TEXT SEARCH DICTIONARY d (a = b)
ALTER TEXT SEARCH CONFIGURATION c DROP MAPPING FOR word
CREATE PUBLICATION p FOR ALL TABLES
ALTER PUBLICATION p ADD TABLE shop.t_city
CREATE SUBSCRIPTION s CONNECTION 'host=evil.example' PUBLICATION p
ALTER SUBSCRIPTION s DISABLE
DROP SUBSCRIPTION s`
  .trim()
  .split('\n');

/** Nodes that no text has as a whole statement: they are parts of others, or of PL/pgSQL. */
const NO_STATEMENT = new Set(['RawStmt', 'SelectStmt', 'SetOperationStmt', 'ReturnStmt', 'PLAssignStmt', 'ReplicaIdentityStmt']);
const TYPES_FILE = createRequire(import.meta.url)
  .resolve('@pgsql/types/package.json')
  .replace('package.json', 'types.d.ts');

/** Places of a caller's SQL, also of one who may change the model, and a SELECT that each takes. */
const PLACES: readonly (readonly [what: string, place: (sql: string) => string, sound?: string])[] = [
  ['as a request', (sql) => sql],
  ['after a query', (sql) => `SELECT 1 AS a; ${sql}`],
  ['before a query', (sql) => `${sql}; SELECT 1 AS a`],
  ['after a comment', (sql) => `/* SELECT */ -- SELECT\n${sql}`],
  ['in brackets', (sql) => `(${sql})`],
  ['in EXPLAIN', (sql) => `EXPLAIN ${sql}`],
  ['in EXPLAIN (LOGICAL)', (sql) => `EXPLAIN (LOGICAL) ${sql}`],
  ['in WITH', (sql) => `WITH x AS (${sql}) SELECT 1 AS a`],
  ['in WITH of a sub-query', (sql) => `SELECT * FROM (WITH x AS (${sql}) SELECT 1 AS a) y`],
  ['in FROM', (sql) => `SELECT * FROM (${sql}) x`],
  ['in an expression', (sql) => `SELECT (${sql}) AS a`],
  ['in JSON_ARRAY', (sql) => `SELECT JSON_ARRAY(${sql}) AS a`],
  ['in UNION', (sql) => `SELECT 1 AS a UNION ${sql}`],
  ['in a mapping', (sql) => `CREATE MAPPING bad INTO (city) AS ${sql}`, 'SELECT id FROM shop.t_city'],
  ['in the FROM of a mapping', (sql) => `CREATE MAPPING bad INTO (city) AS SELECT 1 AS id FROM (${sql}) x`],
  ['in a view', (sql) => `CREATE VIEW bad AS ${sql}`],
  ['in a cube', (sql) => `CREATE ONTOLOGY CUBE bad AS ${sql}`, 'SELECT name AS a, COUNT(id) AS n FROM dsvc.city'],
  ['as a calculated property', (sql) => `CREATE PROPERTY bad string AS ${sql}`, 'SELECT 1'],
  ['as a measure', (sql) => `CREATE MEASURE bad bigint AS ${sql}`, 'SELECT count(id)'],
  ['in the condition of a concept', (sql) => `CREATE CONCEPT bad INHERITS (city) FROM dsvc.city WHERE EXISTS (${sql})`],
  ['in an example', (sql) => `CREATE EXAMPLE 'bad' AS ${sql}`, 'SELECT name FROM svc.city'],
  ['in a policy', (sql) => `CREATE POLICY bad ON CONCEPT city TO PUBLIC USING (EXISTS (${sql}))`],
];

let s: TestService;
let token: string;
beforeAll(async () => {
  s = await startService({
    tables: ['CREATE SCHEMA shop', 'CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)', "INSERT INTO shop.t_city VALUES (1, 'Berlin')"],
  });
  await s.rows(
    `CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id));
CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city; CREATE USER rex; GRANT QUERY ON ALL ontology.shop TO USER rex; GRANT EDIT ON ALL ontology.shop TO USER rex WITH GRANT OPTION;
GRANT QUERY ON datasource.main TO USER rex`,
    'shop',
  );
  token = String((await s.rows('CREATE TOKEN FOR rex'))[0]?.token);
});
afterAll(() => s?.close());

describe('the statements', () => {
  it('are of each kind that the grammar has', async () => {
    const parser = await loadNodeParser();
    const kinds = STATEMENTS.map((sql) => Object.keys(parser.parse(sql).stmts[0]?.stmt as Node)[0]);
    const all = [...readFileSync(TYPES_FILE, 'utf8').matchAll(/export interface (\w+Stmt) /g)].map(([, name = '']) => name);
    expect(all.filter((kind) => !NO_STATEMENT.has(kind) && !kinds.includes(kind))).toEqual([]);
  });
});

describe('a place of a statement', () => {
  it.each(PLACES.map(([what, place, sound = 'SELECT 1 AS a']) => [what, place, sound] as const))('takes a SELECT: %s', async (what, place, sound) => {
    const { status, text } = await s.query(place(sound).replaceAll('bad', what.replaceAll(/\W/g, '_')), 'shop', token);
    expect(status, text).toBe(200);
  });
});

describe.each(PLACES.map(([what, place]) => [what, place] as const))('%s', (_, place) => {
  it('each is refused', async () => {
    const before = JSON.stringify(await s.database.exec('SELECT * FROM shop.t_city'));
    s.reached();
    const accepted: string[] = [];
    for (const sql of STATEMENTS) {
      const { status, text } = await s.query(place(sql), 'shop', token);
      const ran = s.reached().filter((body) => !/SELECT\s+1\b/.test(body));
      if ((status !== 400 && status !== 403) || ran.length > 0) accepted.push(`${sql} => ${status} ${text.slice(0, 150)} ${ran.join(' ').slice(0, 200)}`);
    }
    expect(accepted).toEqual([]);
    expect(JSON.stringify(await s.database.exec('SELECT * FROM shop.t_city'))).toBe(before);
  });
});
