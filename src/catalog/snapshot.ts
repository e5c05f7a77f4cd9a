/**
 * The snapshot of the catalog that decides rights. One statement reads it, with the catalog's clock in it (docs/design/caches.md#the-snapshot). It has only the
 * ontologies and agents that the caller may see, so that its size does not grow with the number of tenants. A snapshot that is older than 60 s is never used; one
 * that is older than 30 s is refreshed in the background.
 */
import { ByteStore, cacheOf } from '../cache.ts';
import { fold } from '../ontology/names.ts';
import type { CatalogDb } from './db.ts';
import { sql } from './db.ts';
import { type KeyValues, MIN_TTL_SECONDS } from './kv.ts';
import type { PolicyRow } from './policies.ts';

/** The form in which names are compared. */
export { fold };

export type Privilege = 'edit' | 'query' | 'access' | 'auth';

/** A grant. `resource` is as written, `key` in the form that is compared. If `all`, the grant also covers everything below the resource. */
export interface GrantRow {
  readonly privilege: Privilege;
  readonly resource: readonly string[];
  readonly key: readonly string[];
  readonly all: boolean;
  readonly grantOption: boolean;
  /** Key of the role that has the grant; null or absent: the user has it. */
  readonly role?: string | null;
}

export interface OntologyRow {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly description: string | null;
  readonly version: string;
  readonly seq: number;
  /** Incremented by clear_cache; part of the key of every cached result. */
  readonly cacheGeneration: number;
  readonly allowedFunctions: string | null;
  /** Keys of the attached datasources, in the order in which they were attached. */
  readonly datasources: readonly string[];
  /** Key of the active datasource. */
  readonly active: string | null;
  /** Ordered by key. */
  readonly policies: readonly PolicyRow[];
  /** Incremented when a policy is created. A version is checked against the policies of one generation. */
  readonly policyGeneration: number;
  /** Ordered by the mapping. Absent for an ontology that the script creates. */
  readonly caches?: readonly CacheRow[];
}

/** The current table of a cached mapping. */
export interface CacheRow {
  /** Key of the mapping. */
  readonly mapping: string;
  /** Digests of the mapping and of the connection for which the table was made. */
  readonly digest: string;
  readonly connection: string;
  readonly schema: string;
  readonly table: string;
  /** When its rows were read, by the catalog's clock: milliseconds since 1970. */
  readonly asOf: number;
  /** In milliseconds. */
  readonly maxAge: number;
}

export interface DatasourceRow {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly type: string;
  /** Name of the variable with the connection string. */
  readonly secret: string;
  /** The options about replicas, as written; null or absent: not given. */
  readonly replicas?: string | null | undefined;
  readonly maxLag?: string | null | undefined;
  /** Where a datasource on Citus has its tables: a digest of it, and when it was read, by the catalog's clock; null or absent: not known. */
  readonly placed?: { readonly digest: string; readonly at: number } | null | undefined;
}

export interface AgentRow {
  readonly name: string;
  readonly key: string;
  readonly description: string | null;
  readonly options: Readonly<Record<string, string>>;
  /** Keys of its ontologies, in order. */
  readonly ontologies: readonly string[];
}

export interface UserRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly tenant: string | null;
  readonly active: boolean;
  /** Ids of the users who control the e-mail; empty if unknown. */
  readonly emailBy: readonly string[];
}

export interface TokenRow {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly expires: number | null;
  readonly revoked: boolean;
  /** Ids of the users who control the token: its creator, or the users who set the password or e-mail of the login that issued it. */
  readonly by: readonly string[];
}

/** What decides the rights of one caller. `user` is null if the token or user does not exist. */
export interface Snapshot {
  /** Milliseconds since 1970 by the catalog's clock. */
  readonly verifiedAt: number;
  /** When the read began, by the clock of the isolate that read it. */
  readonly readAt?: number;
  readonly token: TokenRow | null;
  readonly user: UserRow | null;
  readonly roles: readonly { readonly name: string; readonly key: string }[];
  readonly grants: readonly GrantRow[];
  readonly ontologies: readonly OntologyRow[];
  readonly datasources: readonly DatasourceRow[];
  readonly agents: readonly AgentRow[];
  readonly cacheGeneration: number;
  readonly permissions: number;
  /** A secret of the deployment. The mask HASH computes its hashes with it. */
  readonly maskKey: string;
  /**
   * True: `ontologies` and `agents` are all of the service. False: only those that the caller may see, and possibly others. Statements that change something
   * need all of them, because they also check objects that the caller does not see.
   */
  readonly isWhole: boolean;
}

/** Identifies the caller: by the hash of a token, by user id, or by user name (ignoring case). If no user has that name, by an e-mail that exactly one user has. */
export type SnapshotKey =
  | { readonly kind: 'token'; readonly hash: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string; readonly email: string | null };

/** The key of a snapshot in memory. */
const cacheKey = (by: SnapshotKey): string =>
  by.kind === 'token' ? `t:${by.hash}` : by.kind === 'user' ? `u:${by.id}` : `n:${JSON.stringify([fold(by.name), by.email === null ? null : fold(by.email)])}`;

// key = key || '' is always true. PostgreSQL expects one row of it: if it expected all, it would compile the statement (JIT), which takes far longer than reading
const READ = sql`
WITH t AS (
  SELECT id, user_id, expires, revoked, coalesce(created_by, CASE WHEN label IN ('get_token', 'get_svc_user_token') THEN '{}' ELSE '{00000000-0000-0000-0000-000000000000}'::uuid[] END) AS made_by
  FROM kg_catalog.tokens WHERE hash = $1
), u AS (
  SELECT id, name, email, tenant, active, coalesce(email_by, '{}') AS email_by FROM kg_catalog.users WHERE id = coalesce($2::uuid, (SELECT user_id FROM t),
    (SELECT id FROM kg_catalog.users WHERE key = $3), (SELECT (array_agg(id))[1] FROM kg_catalog.users WHERE email_key = $4 HAVING count(*) = 1))
), r AS (
  SELECT r.id, r.name, r.key FROM kg_catalog.roles r JOIN kg_catalog.role_members m ON m.role_id = r.id WHERE m.user_id = (SELECT id FROM u)
), g AS (
  SELECT privilege, resource, resource_key, is_all, grant_option, NULL AS role FROM kg_catalog.grants WHERE user_id = (SELECT id FROM u)
  UNION ALL
  SELECT g.privilege, g.resource, g.resource_key, g.is_all, g.grant_option, r.key FROM kg_catalog.grants g JOIN r ON r.id = g.role_id
), w AS (
  SELECT $5::boolean OR EXISTS (SELECT 1 FROM r WHERE key = 'admin') OR EXISTS (SELECT 1 FROM u WHERE id = '00000000-0000-4000-8000-000000000001')
    OR EXISTS (SELECT 1 FROM g WHERE jsonb_array_length(resource_key) < 2) AS is_whole
), o AS (
  SELECT * FROM kg_catalog.ontologies WHERE (SELECT is_whole FROM w) AND key = key || ''
  UNION ALL
  SELECT * FROM kg_catalog.ontologies WHERE NOT (SELECT is_whole FROM w) AND key IN (SELECT resource_key ->> 1 FROM g WHERE resource_key ->> 0 = 'ontology')
), a AS (
  SELECT * FROM kg_catalog.agents WHERE (SELECT is_whole FROM w) AND key = key || ''
  UNION ALL
  SELECT * FROM kg_catalog.agents WHERE NOT (SELECT is_whole FROM w) AND (key IN (SELECT resource_key ->> 1 FROM g WHERE resource_key ->> 0 = 'agent')
    OR id IN (SELECT x.agent_id FROM kg_catalog.agent_ontologies x JOIN o ON o.id = x.ontology_id))
)
SELECT json_build_object(
  'verifiedAt', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  'token', (SELECT json_build_object('id', id, 'expires', floor(extract(epoch FROM expires) * 1000)::bigint, 'revoked', revoked IS NOT NULL, 'by', made_by) FROM t),
  'user', (SELECT json_build_object('id', id, 'name', name, 'email', email, 'tenant', tenant, 'active', active, 'emailBy', email_by) FROM u),
  'roles', (SELECT coalesce(json_agg(json_build_object('name', name, 'key', key) ORDER BY key), '[]') FROM r),
  'grants', (SELECT coalesce(json_agg(json_build_object('privilege', privilege, 'resource', resource, 'key', resource_key, 'all', is_all, 'grantOption', grant_option,
               'role', role)), '[]')
             FROM g),
  'ontologies', (SELECT coalesce(json_agg(json_build_object('id', o.id, 'name', o.name, 'key', o.key, 'description', o.description, 'version', o.version, 'seq', o.seq,
                   'cacheGeneration', o.cache_generation, 'allowedFunctions', o.allowed_functions,
                   'datasources', (SELECT coalesce(json_agg(d.key ORDER BY a.created, d.key), '[]') FROM kg_catalog.ontology_datasources a JOIN kg_catalog.datasources d ON d.id = a.datasource_id WHERE a.ontology_id = o.id),
                   'active', (SELECT d.key FROM kg_catalog.ontology_datasources a JOIN kg_catalog.datasources d ON d.id = a.datasource_id WHERE a.ontology_id = o.id AND a.active),
                   'policyGeneration', o.policy_generation,
                   'caches', (SELECT coalesce(json_agg(json_build_object('mapping', c.mapping_key, 'digest', t.digest, 'connection', t.connection, 'schema', t.schema_name,
                       'table', t.table_name, 'asOf', floor(extract(epoch FROM t.as_of) * 1000)::bigint, 'maxAge', c.max_age_s::bigint * 1000) ORDER BY c.mapping_key), '[]')
                     FROM kg_catalog.mapping_caches c JOIN kg_catalog.cache_tables t ON t.id = c.current WHERE c.ontology_id = o.id),
                   'policies', (SELECT coalesce(json_agg(json_build_object('name', p.name, 'key', p.key, 'kind', p.kind, 'concept', p.concept, 'property', p.property,
                       'isPublic', p.to_public, 'condition', p.condition, 'mask', p.mask,
                       'grantees', (SELECT coalesce(json_agg(json_build_object('kind', CASE WHEN n.user_id IS NULL THEN 'role' ELSE 'user' END, 'id', coalesce(n.user_id, n.role_id),
                           'name', coalesce(pu.name, pr.name)) ORDER BY n.position), '[]') FROM kg_catalog.policy_grantees n
                           LEFT JOIN kg_catalog.users pu ON pu.id = n.user_id LEFT JOIN kg_catalog.roles pr ON pr.id = n.role_id WHERE n.policy_id = p.id)
                     ) ORDER BY p.key), '[]') FROM kg_catalog.policies p WHERE p.ontology_id = o.id)
                 ) ORDER BY o.key), '[]') FROM o),
  'datasources', (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'key', key, 'type', type, 'secret', secret, 'replicas', options ->> 'replicas', 'maxLag', options ->> 'max_lag',
                   'placed', CASE WHEN placed IS NOT NULL THEN json_build_object('digest', placements_digest, 'at', floor(extract(epoch FROM placed) * 1000)::bigint) END) ORDER BY created, key), '[]') FROM kg_catalog.datasources),
  'agents', (SELECT coalesce(json_agg(json_build_object('name', a.name, 'key', a.key, 'description', a.description, 'options', a.options,
               'ontologies', (SELECT coalesce(json_agg(o.key ORDER BY x.position), '[]') FROM kg_catalog.agent_ontologies x JOIN kg_catalog.ontologies o ON o.id = x.ontology_id WHERE x.agent_id = a.id)
             ) ORDER BY a.key), '[]') FROM a),
  'cacheGeneration', s.cache_generation, 'permissions', s.permissions, 'maskKey', s.mask_key, 'isWhole', (SELECT is_whole FROM w)
)::text AS snapshot FROM kg_catalog.state s`;

/**
 * Reads a snapshot from the catalog.
 * @param isWhole with all ontologies and agents, also those that the caller does not see
 * @throws SvcError 503 `catalog_unavailable`
 */
async function readSnapshot(db: CatalogDb, by: SnapshotKey, isWhole: boolean): Promise<{ readonly snapshot: Snapshot; readonly bytes: number }> {
  const params =
    by.kind === 'token'
      ? [by.hash, null, null, null]
      : by.kind === 'user'
        ? [null, by.id, null, null]
        : [null, null, fold(by.name), by.email === null ? null : fold(by.email)];
  const [row] = await db.query(READ, [...params, isWhole]);
  const text = String(row?.snapshot);
  return { snapshot: JSON.parse(text) as Snapshot, bytes: text.length * 4 };
}

/** A snapshot of this age is not used. */
export const MAX_AGE_MS = 60_000;
/** A snapshot of this age is refreshed in the background. */
export const REFRESH_AGE_MS = 30_000;
/** How long an unknown token is cached as unknown. */
const UNKNOWN_MS = 10_000;
/** While a background refresh is younger than this, no other one starts. */
const REFRESHING_MS = 10_000;

interface Kept {
  readonly snapshot: Snapshot;
  /** When the read began, by this isolate's clock. This is not later than `verifiedAt`. */
  readonly readAt: number;
}

const kept = cacheOf<Kept>('snapshot');
// a separate small store, so that a flood of invalid tokens does not evict other entries
const small = new ByteStore(256 * 1024);
const unknown = small.view<number>('unknown');
const refreshing = small.view<number>('refresh');
let generation = 0;

/** When this isolate last wrote. Snapshots that other isolates read before that time are not used here. */
let wroteAt = Number.NEGATIVE_INFINITY;
/** Upper bound on the clock skew between machines. */
const CLOCK_SKEW_MS = 2000;

/** Removes all snapshots from memory. Called after this isolate has written, so that its next request sees the write. */
export function forgetSnapshots(at: number = Date.now()): void {
  wroteAt = at;
  // invalidates reads that began before the write and have not ended yet
  generation++;
  kept.clear();
  unknown.clear();
  refreshing.clear();
}

export interface SnapshotOptions {
  readonly db: CatalogDb;
  readonly now: () => number;
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Snapshots that other isolates have read; undefined: none. */
  readonly kv?: KeyValues | undefined;
  /** Always read a whole snapshot from the catalog: for statements on models and rights, and for callers that know a newer version. */
  readonly fresh?: boolean;
}

/**
 * Returns the snapshot for a caller from the isolate's memory, from KV, or from the catalog. The limits on its age apply in memory and in KV.
 * @throws SvcError 503 `catalog_unavailable`
 */
export async function loadSnapshot(by: SnapshotKey, options: SnapshotOptions): Promise<Snapshot> {
  const { now, kv, fresh = false } = options;
  const key = cacheKey(by);
  if (fresh) return readAndKeep(by, key, options);
  const found = kept.get(key);
  if (found !== undefined) {
    const age = ageOf(found, now());
    if (age < MAX_AGE_MS) {
      if (age >= REFRESH_AGE_MS) refreshLater(by, key, options);
      return found.snapshot;
    }
    kept.delete(key);
  }
  const missed = unknown.get(key);
  if (missed !== undefined && now() - missed < UNKNOWN_MS) return UNKNOWN_CALLER;
  const shared = kv === undefined ? undefined : await readShared(kv, key, now);
  if (shared === undefined) return readAndKeep(by, key, options);
  if (ageOf(shared, now()) >= REFRESH_AGE_MS) refreshLater(by, key, options);
  return shared.snapshot;
}

/** Refreshes a snapshot in the background, unless a refresh is already running. */
function refreshLater(by: SnapshotKey, key: string, options: SnapshotOptions): void {
  const { now, waitUntil } = options;
  if (now() - (refreshing.get(key) ?? Number.NEGATIVE_INFINITY) <= REFRESHING_MS) return;
  refreshing.set(key, now(), 8);
  waitUntil(readAndKeep(by, key, options).catch(() => undefined));
}

async function readAndKeep(by: SnapshotKey, key: string, { db, now, kv, waitUntil, fresh = false }: SnapshotOptions): Promise<Snapshot> {
  const readAt = now();
  const begun = generation;
  const { snapshot: read, bytes } = await readSnapshot(db, by, fresh);
  const snapshot = { ...read, readAt };
  if (begun === generation) {
    if (snapshot.user === null) unknown.set(key, readAt, 8);
    else {
      kept.set(key, { snapshot, readAt }, bytes);
      // a snapshot that is read with `fresh` is usually changed soon
      if (kv !== undefined && !fresh) waitUntil(writeShared(kv, key, { snapshot, readAt }));
    }
    refreshing.delete(key);
  }
  return snapshot;
}

/** The statement is part of the key, so that releases whose statements differ do not share snapshots. */
const sharedKey = (kv: KeyValues, key: string): Promise<string> => kv.key('snapshot', [key, READ]);

const writeShared = async (kv: KeyValues, key: string, entry: Kept): Promise<void> =>
  kv.put(await sharedKey(kv, key), JSON.stringify(entry), Math.max(MIN_TTL_SECONDS, MAX_AGE_MS / 1000));

/** Reads a snapshot that another isolate stored in KV and keeps it in memory; undefined if its timestamps show that it is too old. */
async function readShared(kv: KeyValues, key: string, now: () => number): Promise<Kept | undefined> {
  const begun = generation;
  const text = (await kv.text(await sharedKey(kv, key)))?.value;
  const entry = text === undefined ? undefined : parseKept(text);
  if (entry === undefined || ageOf(entry, now()) >= MAX_AGE_MS || begun !== generation) return undefined;
  // read before this isolate wrote, or by a clock that is wrong
  if (entry.readAt <= wroteAt + CLOCK_SKEW_MS || entry.readAt > now() + CLOCK_SKEW_MS) return undefined;
  kept.set(key, entry, (text as string).length * 4);
  return entry;
}

function parseKept(text: string): Kept | undefined {
  try {
    const { snapshot, readAt } = JSON.parse(text) as Kept;
    return Number.isFinite(readAt) && Number.isFinite(snapshot.verifiedAt) && snapshot.user !== null ? { snapshot, readAt } : undefined;
  } catch {
    return undefined;
  }
}

/** The age of a snapshot: the larger one by either clock, so that no clock skew makes a snapshot look younger than it is. */
const ageOf = ({ snapshot, readAt }: Kept, now: number): number => Math.max(now - snapshot.verifiedAt, now - readAt);

const UNKNOWN_CALLER: Snapshot = {
  verifiedAt: 0,
  token: null,
  user: null,
  roles: [],
  grants: [],
  ontologies: [],
  datasources: [],
  agents: [],
  cacheGeneration: 0,
  permissions: 0,
  maskKey: '',
  isWhole: false,
};
