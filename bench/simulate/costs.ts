/** Measures what the simulation counts with: a catalog with many tenants in a real PostgreSQL, and the service's own statements on it. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { migrate, runOverHttp } from '../../dev/migrate.ts';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { writeAudit } from '../../src/catalog/audit.ts';
import type { CatalogDb, Row } from '../../src/catalog/db.ts';
import { forgetSnapshots, loadSnapshot, type Snapshot } from '../../src/catalog/snapshot.ts';
import { readModel } from '../../src/catalog/versions.ts';
import { MODEL_FORMAT } from '../../src/ontology/model.ts';
import { largeModel } from '../lib/large-model.ts';

/** Processor times of PostgreSQL in milliseconds, and sizes in bytes. */
export interface Costs {
  /** Reading the snapshot of a caller. */
  readonly snapshotMs: number;
  /** What a snapshot takes in the memory of an isolate, as the service estimates it. */
  readonly snapshotBytes: number;
  /** The same for a caller who sees all ontologies, such as an administrator. */
  readonly wholeMs: number;
  readonly wholeBytes: number;
  /** Reading the model of a tenant. */
  readonly modelMs: number;
  /** The model in memory, as the service estimates it. */
  readonly modelBytes: number;
  /** Writing the audit of one request. */
  readonly auditMs: number;
}

/** The users of a tenant, each with a token. */
export const CALLERS = 20;
/** The concepts of a tenant's model. */
export const CONCEPTS = 20;
/** How much processor time each cost is measured over. */
const MEASURED_MS = 1500;
/** A tick of /proc/PID/stat on Linux. */
const TICK_MS = 10;

/** Fills a catalog with tenants: an ontology with a row policy, a role with a grant, and 20 users with a token each. */
export const fill = (tenants: number, model: string): string[] => [
  'TRUNCATE kg_catalog.ontologies, kg_catalog.grants, kg_catalog.tokens CASCADE',
  `DELETE FROM kg_catalog.roles WHERE key <> 'admin'`,
  `DELETE FROM kg_catalog.users WHERE key <> 'admin'`,
  `INSERT INTO kg_catalog.ontologies (id, name, key, description, seq, version, created_by)
   SELECT md5('o' || i)::uuid, 'tenant_' || i, 'tenant_' || i, 'The graph of tenant ' || i, 1, md5('v${tenants}/' || i)::uuid, 'admin' FROM generate_series(1, ${tenants}) i`,
  `INSERT INTO kg_catalog.ontology_datasources (ontology_id, datasource_id, active)
   SELECT o.id, d.id, true FROM kg_catalog.ontologies o, kg_catalog.datasources d WHERE d.key = 'main'`,
  // one model is enough: only one is read
  `INSERT INTO kg_catalog.ontology_versions (version, ontology_id, seq, created_by, statement, format, content)
   VALUES (md5('v${tenants}/1')::uuid, md5('o1')::uuid, 1, 'admin', '', ${MODEL_FORMAT}, '${model.replaceAll("'", "''")}')`,
  `INSERT INTO kg_catalog.policies (id, ontology_id, name, key, kind, concept, to_public, condition, created_by)
   SELECT gen_random_uuid(), o.id, 'own_rows', 'own_rows', 'row', 'concept_0', true, 'concept_0_property_0 = svc_username()', 'admin' FROM kg_catalog.ontologies o`,
  `INSERT INTO kg_catalog.roles (id, name, key) SELECT md5('r' || i)::uuid, 'readers_' || i, 'readers_' || i FROM generate_series(1, ${tenants}) i`,
  `INSERT INTO kg_catalog.grants (role_id, privilege, resource, resource_key, is_all)
   SELECT md5('r' || i)::uuid, 'query', jsonb_build_array('ontology', 'tenant_' || i), jsonb_build_array('ontology', 'tenant_' || i), true FROM generate_series(1, ${tenants}) i`,
  `INSERT INTO kg_catalog.users (id, name, key) SELECT md5('u' || i)::uuid, 'user_' || i, 'user_' || i FROM generate_series(1, ${tenants * CALLERS}) i`,
  `INSERT INTO kg_catalog.role_members (role_id, user_id)
   SELECT md5('r' || ((i - 1) / ${CALLERS} + 1))::uuid, md5('u' || i)::uuid FROM generate_series(1, ${tenants * CALLERS}) i`,
  `INSERT INTO kg_catalog.tokens (user_id, hash) SELECT md5('u' || i)::uuid, encode(sha256(convert_to('token ' || i, 'UTF8')), 'hex') FROM generate_series(1, ${tenants * CALLERS}) i`,
  'ANALYZE',
];

/** The processor time of a process so far. */
async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // after the name in brackets: the 12th and 13th fields are user and system time
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The catalog over one connection, as the service sees it. `characters` is the length of the last answer. */
function directDb(client: pg.Client): CatalogDb & { characters: number } {
  const query = async (text: string, params: readonly unknown[] = []): Promise<readonly Row[]> => {
    const { rows } = await client.query(text, [...params]);
    db.characters = rows.reduce((sum: number, row: Record<string, unknown>) => sum + Object.values(row).reduce((n: number, v) => n + String(v).length, 0), 0);
    return rows as readonly Row[];
  };
  const db = {
    characters: 0,
    query,
    batch: async (calls: Parameters<CatalogDb['batch']>[0]) => {
      await client.query('BEGIN');
      const all = [];
      for (const { sql, params } of calls) all.push(await query(sql, params));
      await client.query('COMMIT');
      return all;
    },
  };
  return db;
}

const hashOf = async (i: number): Promise<string> => Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`token ${i}`))).toString('hex');

async function measured(local: LocalPostgres, model: string): Promise<Costs> {
  const client = new pg.Client({ connectionString: local.direct?.(CATALOG_OWNER) ?? '' });
  await client.connect();
  try {
    const pid = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid as number;
    const db = directDb(client);
    const each = async (step: (round: number) => Promise<unknown>): Promise<number> => {
      for (let i = 0; i < 5; i++) await step(i);
      const begun = await processorMs(pid);
      let rounds = 0;
      let took = 0;
      for (; took < MEASURED_MS; took = (await processorMs(pid)) - begun) for (let i = 0; i < 5; i++) await step(rounds++);
      return took / rounds;
    };
    const options = { db, now: Date.now, waitUntil: () => undefined };
    const hashes = await Promise.all(Array.from({ length: CALLERS }, (_, i) => hashOf(i + 1)));
    const snapshot = (i: number, fresh = false): Promise<Snapshot> => {
      forgetSnapshots();
      return loadSnapshot({ kind: 'token', hash: hashes[i % CALLERS] as string }, { ...options, fresh });
    };
    const sizeOf = async (fresh: boolean): Promise<number> => {
      if ((await snapshot(0, fresh)).user?.name !== 'user_1') throw new Error('the catalog of the simulation lacks its users');
      return db.characters * 4;
    };
    const line = {
      at: new Date().toISOString(),
      user: 'user_1',
      actor: null,
      credential: 'api_token',
      action: 'POST /svc/api/query',
      ontology: 'tenant_1',
      digest: hashes[0] as string,
      request_id: crypto.randomUUID(),
      status: 200,
      code: null,
      rows: 1,
      duration_ms: 5,
    };
    const [ontology, version] = Object.values(
      (await client.query("SELECT id AS o, version AS v FROM kg_catalog.ontologies WHERE key = 'tenant_1'")).rows[0] as Record<string, string>,
    );
    // reads of the model are cached in this process by its version, so the statement is repeated as it was sent
    let statement: { readonly text: string; readonly params: readonly unknown[] } | undefined;
    const recording: CatalogDb = {
      ...db,
      query: (text, params = []) => {
        statement = { text, params };
        return db.query(text, params);
      },
    };
    await readModel({ db: recording }, ontology as string, version as string);
    const sent = statement as { readonly text: string; readonly params: readonly unknown[] } | undefined;
    if (sent === undefined) throw new Error('the model was not read from the catalog');
    return {
      snapshotMs: await each((i) => snapshot(i)),
      snapshotBytes: await sizeOf(false),
      wholeMs: await each((i) => snapshot(i, true)),
      wholeBytes: await sizeOf(true),
      modelMs: await each(() => client.query(sent.text, [...sent.params])),
      modelBytes: model.length * 3,
      auditMs: await each(() => writeAudit(db, [line], new Map())),
    };
  } finally {
    await client.end();
  }
}

/** Measures the costs with these numbers of tenants. @throws Error without an installed PostgreSQL, or on a system without /proc */
export async function measureCosts(numbers: readonly number[]): Promise<ReadonlyMap<number, Costs>> {
  if (!localPostgresAvailable()) throw new Error('the simulation needs an installed PostgreSQL: its processor times are part of the result');
  const local = await startLocalPostgres({ backend: 'pg' });
  try {
    await migrate(runOverHttp(local.connectionString(CATALOG_OWNER), local.endpoint));
    const model = JSON.stringify(largeModel(CONCEPTS, 10));
    const costs = new Map<number, Costs>();
    for (const tenants of numbers) {
      for (const statement of fill(tenants, model)) await local.superuser(statement);
      // a new version of the model for each number, so that each is read
      costs.set(tenants, await measured(local, model));
    }
    return costs;
  } finally {
    await local.close();
  }
}
