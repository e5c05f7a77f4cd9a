/** Databases in which PostgreSQL analyses statements, and the objects that it resolved. */
import pg from 'pg';
import { startScratchPostgres } from '../../../dev/scratch-postgres.ts';
import { localPostgresAvailable } from '../../../dev/testing.ts';
import { memoryDatabase } from '../databases/memory.ts';
import { type Kind, readStored } from './stored-tree.ts';

type Row = Record<string, unknown>;

/** An object that PostgreSQL resolved: its schema and name, and the fields of the stored query that refer to it. */
export interface Resolved {
  readonly kind: Kind;
  readonly schema: string;
  /** Of a function `name(types)`; of an operator and a type without arguments or brackets. */
  readonly name: string;
  readonly signature: string;
  /** Of an array type: its element type. Of an operator: the function that it calls. */
  readonly base: string;
  /** Of a type: `b` base, `c` row of a relation, `p` pseudo-type, ... */
  readonly sort: string;
  readonly fields: ReadonlySet<string>;
}

/** PostgreSQL's analysis of a statement: all objects that it resolved, or why it refuses the statement. */
export interface Analysis {
  readonly error: string | undefined;
  readonly resolved: readonly Resolved[];
  readonly nodes: ReadonlySet<string>;
  readonly unknown: ReadonlySet<string>;
}

export interface AnalysisDatabase {
  /** The server's version number, e.g. 150004. */
  readonly version: number;
  query(sql: string, params?: unknown[]): Promise<readonly Row[]>;
  /** Runs any number of statements. */
  run(sql: string): Promise<void>;
  /** Creates a view of each statement, reads the stored query, and drops the view. */
  analyse(statements: readonly string[]): Promise<Analysis[]>;
  close(): Promise<void>;
}

/** Names of PostgreSQL's own objects do not change; those of tables do. */
const NAMES: Readonly<Record<Kind, string>> = {
  function: `SELECT p.oid::int AS oid, n.nspname AS schema, proname AS name, proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS signature, '' AS base, prokind::text AS sort
    FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace`,
  operator: `SELECT o.oid::int AS oid, n.nspname AS schema, oprname AS name, oprname || '(' || format_type(oprleft, NULL) || ',' || format_type(oprright, NULL) || ')' AS signature,
      f.proname AS base, '' AS sort
    FROM pg_operator o JOIN pg_namespace n ON n.oid = oprnamespace LEFT JOIN pg_proc f ON f.oid = oprcode`,
  type: `SELECT t.oid::int AS oid, n.nspname AS schema, t.typname AS name, t.typname AS signature, coalesce(e.typname, '') AS base, coalesce(e.typtype, t.typtype)::text AS sort
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_type e ON e.typarray = t.oid`,
  relation: `SELECT c.oid::int AS oid, n.nspname AS schema, relname AS name, relname AS signature, '' AS base, relkind::text AS sort FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace`,
  collation: `SELECT c.oid::int AS oid, n.nspname AS schema, collname AS name, collname AS signature, '' AS base, '' AS sort FROM pg_collation c JOIN pg_namespace n ON n.oid = collnamespace`,
};

/** The view exists until the end of its sub-transaction; the variable keeps its stored query. */
const FUNCTION = `CREATE SCHEMA analysis;
CREATE FUNCTION analysis.of(statement text) RETURNS text LANGUAGE plpgsql SET search_path = '' AS $f$
DECLARE found text;
BEGIN
  EXECUTE 'CREATE VIEW analysis.made AS ' || statement;
  SELECT ev_class::int || ' ' || ev_action::text INTO found FROM pg_catalog.pg_rewrite WHERE ev_class = 'analysis.made'::pg_catalog.regclass;
  RAISE EXCEPTION SQLSTATE 'ZZ999';
EXCEPTION
  WHEN SQLSTATE 'ZZ999' THEN RETURN found;
  WHEN OTHERS THEN RETURN 'error ' || SQLSTATE || ' ' || SQLERRM;
END $f$`;

const BATCH = 50;

async function database(query: AnalysisDatabase['query'], run: AnalysisDatabase['run'], close: () => Promise<void>): Promise<AnalysisDatabase> {
  await run(FUNCTION);
  const version = Number((await query("SELECT current_setting('server_version_num') AS v"))[0]?.v);
  const known = new Map<Kind, Map<number, Row>>();
  /** The name of an object. For an unknown one the names are read again, because tables may have been created since. */
  const named = async (kind: Kind, oid: number): Promise<Row | undefined> => {
    if (!known.get(kind)?.has(oid)) known.set(kind, new Map((await query(NAMES[kind])).map((row) => [row.oid as number, row])));
    return known.get(kind)?.get(oid);
  };
  const read = async (stored: string): Promise<Analysis> => {
    if (stored.startsWith('error ')) return { error: stored.slice('error '.length), resolved: [], nodes: new Set(), unknown: new Set() };
    const space = stored.indexOf(' ');
    const view = Number(stored.slice(0, space));
    const { refers, nodes, unknown } = readStored(stored.slice(space + 1));
    const resolved: Resolved[] = [];
    for (const [kind, oids] of refers) {
      for (const [oid, fields] of oids) {
        if (kind === 'relation' && oid === view) continue;
        const row = await named(kind, oid);
        const text = (key: string): string => String(row?.[key] ?? `oid ${oid}`);
        resolved.push({
          kind,
          schema: text('schema'),
          name: text('name'),
          signature: text('signature'),
          base: String(row?.base ?? ''),
          sort: text('sort'),
          fields,
        });
      }
    }
    return { error: undefined, resolved, nodes, unknown };
  };
  return {
    version,
    query,
    run,
    close,
    analyse: async (statements) => {
      const all: Analysis[] = [];
      for (let i = 0; i < statements.length; i += BATCH) {
        const batch = statements.slice(i, i + BATCH);
        const rows = await query('SELECT analysis.of(s) AS stored FROM unnest($1::text[]) WITH ORDINALITY AS x (s, n) ORDER BY n', [batch]);
        for (const row of rows) all.push(await read(String(row.stored)));
      }
      return all;
    },
  };
}

/** The embedded PostgreSQL. */
export async function embedded(): Promise<AnalysisDatabase> {
  const lite = await memoryDatabase();
  return database(
    async (sql, params = []) => (await lite.query<Row>(sql, params as never[])).rows,
    async (sql) => void (await lite.exec(sql)),
    () => lite.close(),
  );
}

/** An installed PostgreSQL server, or undefined. */
export async function server(): Promise<AnalysisDatabase | undefined> {
  if (!localPostgresAvailable()) return undefined;
  const scratch = await startScratchPostgres();
  const client = new pg.Client({ connectionString: scratch.url });
  await client.connect();
  return database(
    async (sql, params = []) => (await client.query(sql, params as never[])).rows as Row[],
    async (sql) => void (await client.query(sql)),
    async () => {
      await client.end();
      await scratch.stop();
    },
  );
}

/** Both, as far as they are available. */
export async function databases(): Promise<readonly AnalysisDatabase[]> {
  const other = await server();
  return [await embedded(), ...(other ? [other] : [])];
}
