/**
 * What decides rights: one snapshot of the catalog, read in one statement, with the catalog's own clock in it (docs/design/caches.md#the-snapshot). A snapshot
 * older than 60 s is never used; from 30 s on it is read again in the background.
 */
import { ByteStore, cacheOf } from '../cache.ts';
import { fold } from '../ontology/names.ts';
import type { CatalogDb } from './db.ts';
import { sql } from './db.ts';
import { type KeyValues, LEAST_SECONDS } from './kv.ts';
import type { PolicyRow } from './policies.ts';

/** How names are compared, for who judges grants. */
export { fold };

export type Privilege = 'edit' | 'query' | 'access' | 'auth';

/** `resource` as written, `key` in the compared form. `all`: everything below too. */
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
  /** Raised by clear_cache: part of the key of every cached result. */
  readonly cacheGeneration: number;
  readonly allowedFunctions: string | null;
  /** Keys of the attached datasources in order of attachment. */
  readonly datasources: readonly string[];
  /** Key of the active one. */
  readonly active: string | null;
  /** By name. */
  readonly policies: readonly PolicyRow[];
  /** Goes up with each policy that is made: a version is judged by the policies of this number. */
  readonly policyGeneration: number;
}

export interface DatasourceRow {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly type: string;
  /** Name of the variable that holds the connection. */
  readonly secret: string;
}

export interface AgentRow {
  readonly name: string;
  readonly key: string;
  readonly description: string | null;
  readonly options: Readonly<Record<string, string>>;
  /** Keys of its ontologies in their order. */
  readonly ontologies: readonly string[];
}

export interface UserRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly tenant: string | null;
  readonly active: boolean;
  /** Ids of the users who control the e-mail; empty if that is not known. */
  readonly emailBy: readonly string[];
}

export interface TokenRow {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly expires: number | null;
  readonly revoked: boolean;
  /** Ids of the users who control it: who made it, or who set the password or e-mail of the login that gave it. */
  readonly by: readonly string[];
}

/** What one caller's requests are judged by. `user` null: no such token, or no such user. */
export interface Snapshot {
  /** Milliseconds since 1970 by the catalog's clock. */
  readonly verifiedAt: number;
  readonly token: TokenRow | null;
  readonly user: UserRow | null;
  readonly roles: readonly { readonly name: string; readonly key: string }[];
  readonly grants: readonly GrantRow[];
  readonly ontologies: readonly OntologyRow[];
  readonly datasources: readonly DatasourceRow[];
  readonly agents: readonly AgentRow[];
  readonly cacheGeneration: number;
  readonly permissions: number;
  /** A secret of the deployment: hashes in the place of masked values are made with it. */
  readonly maskKey: string;
}

/** By whom a snapshot is asked for: the hash of a token, a user's id, or its name (without case), else the e-mail that one user alone has. */
export type SnapshotKey =
  | { readonly kind: 'token'; readonly hash: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string; readonly email: string | null };

/** Under what a snapshot is remembered. */
const keptUnder = (by: SnapshotKey): string =>
  by.kind === 'token' ? `t:${by.hash}` : by.kind === 'user' ? `u:${by.id}` : `n:${JSON.stringify([fold(by.name), by.email === null ? null : fold(by.email)])}`;

const READ = sql`
WITH t AS (
  SELECT id, user_id, expires, revoked, coalesce(created_by, CASE WHEN label IN ('get_token', 'get_svc_user_token') THEN '{}' ELSE '{00000000-0000-0000-0000-000000000000}'::uuid[] END) AS made_by
  FROM kg_catalog.tokens WHERE hash = $1
), u AS (
  SELECT id, name, email, tenant, active, coalesce(email_by, '{}') AS email_by FROM kg_catalog.users WHERE id = coalesce($2::uuid, (SELECT user_id FROM t),
    (SELECT id FROM kg_catalog.users WHERE key = $3), (SELECT (array_agg(id))[1] FROM kg_catalog.users WHERE email_key = $4 HAVING count(*) = 1))
), r AS (
  SELECT r.id, r.name, r.key FROM kg_catalog.roles r JOIN kg_catalog.role_members m ON m.role_id = r.id WHERE m.user_id = (SELECT id FROM u)
)
SELECT json_build_object(
  'verifiedAt', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  'token', (SELECT json_build_object('id', id, 'expires', floor(extract(epoch FROM expires) * 1000)::bigint, 'revoked', revoked IS NOT NULL, 'by', made_by) FROM t),
  'user', (SELECT json_build_object('id', id, 'name', name, 'email', email, 'tenant', tenant, 'active', active, 'emailBy', email_by) FROM u),
  'roles', (SELECT coalesce(json_agg(json_build_object('name', name, 'key', key) ORDER BY key), '[]') FROM r),
  'grants', (SELECT coalesce(json_agg(json_build_object('privilege', privilege, 'resource', resource, 'key', resource_key, 'all', is_all, 'grantOption', grant_option,
               'role', (SELECT r.key FROM r WHERE r.id = role_id))), '[]')
             FROM kg_catalog.grants WHERE user_id = (SELECT id FROM u) OR role_id IN (SELECT id FROM r)),
  'ontologies', (SELECT coalesce(json_agg(json_build_object('id', o.id, 'name', o.name, 'key', o.key, 'description', o.description, 'version', o.version, 'seq', o.seq,
                   'cacheGeneration', o.cache_generation, 'allowedFunctions', o.allowed_functions,
                   'datasources', (SELECT coalesce(json_agg(d.key ORDER BY a.created, d.key), '[]') FROM kg_catalog.ontology_datasources a JOIN kg_catalog.datasources d ON d.id = a.datasource_id WHERE a.ontology_id = o.id),
                   'active', (SELECT d.key FROM kg_catalog.ontology_datasources a JOIN kg_catalog.datasources d ON d.id = a.datasource_id WHERE a.ontology_id = o.id AND a.active),
                   'policyGeneration', o.policy_generation,
                   'policies', (SELECT coalesce(json_agg(json_build_object('name', p.name, 'key', p.key, 'kind', p.kind, 'concept', p.concept, 'property', p.property,
                       'isPublic', p.to_public, 'condition', p.condition, 'mask', p.mask,
                       'grantees', (SELECT coalesce(json_agg(json_build_object('kind', CASE WHEN n.user_id IS NULL THEN 'role' ELSE 'user' END, 'id', coalesce(n.user_id, n.role_id),
                           'name', coalesce(pu.name, pr.name)) ORDER BY n.position), '[]') FROM kg_catalog.policy_grantees n
                           LEFT JOIN kg_catalog.users pu ON pu.id = n.user_id LEFT JOIN kg_catalog.roles pr ON pr.id = n.role_id WHERE n.policy_id = p.id)
                     ) ORDER BY p.key), '[]') FROM kg_catalog.policies p WHERE p.ontology_id = o.id)
                 ) ORDER BY o.key), '[]') FROM kg_catalog.ontologies o),
  'datasources', (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'key', key, 'type', type, 'secret', secret) ORDER BY created, key), '[]') FROM kg_catalog.datasources),
  'agents', (SELECT coalesce(json_agg(json_build_object('name', g.name, 'key', g.key, 'description', g.description, 'options', g.options,
               'ontologies', (SELECT coalesce(json_agg(o.key ORDER BY x.position), '[]') FROM kg_catalog.agent_ontologies x JOIN kg_catalog.ontologies o ON o.id = x.ontology_id WHERE x.agent_id = g.id)
             ) ORDER BY g.key), '[]') FROM kg_catalog.agents g),
  'cacheGeneration', s.cache_generation, 'permissions', s.permissions, 'maskKey', s.mask_key
)::text AS snapshot FROM kg_catalog.state s`;

/** Reads a snapshot from the catalog. @throws SvcError 503 `catalog_unavailable` */
export async function readSnapshot(db: CatalogDb, by: SnapshotKey): Promise<{ readonly snapshot: Snapshot; readonly bytes: number }> {
  const params =
    by.kind === 'token'
      ? [by.hash, null, null, null]
      : by.kind === 'user'
        ? [null, by.id, null, null]
        : [null, null, fold(by.name), by.email === null ? null : fold(by.email)];
  const [row] = await db.query(READ, params);
  const text = String(row?.snapshot);
  return { snapshot: JSON.parse(text) as Snapshot, bytes: text.length * 4 };
}

/** Never used from this age on. */
export const MAX_AGE_MS = 60_000;
/** Read anew in the background from this age on. */
export const REFRESH_AGE_MS = 30_000;
/** How long a token that nobody has is remembered. */
const UNKNOWN_MS = 10_000;
/** How long a read that began in the background keeps others from beginning one. */
const REFRESHING_MS = 10_000;

interface Kept {
  readonly snapshot: Snapshot;
  /** By this isolate's clock: when the read began, no later than the catalog's stamp was made. */
  readonly readAt: number;
}

const kept = cacheOf<Kept>('snapshot');
// their own small store: a flood of made-up tokens must not push out what callers use
const small = new ByteStore(256 * 1024);
const unknown = small.view<number>('unknown');
const refreshing = small.view<number>('refresh');
let generation = 0;

/** When this isolate has last written: what others read before is too old for it, however young. */
let wroteAt = Number.NEGATIVE_INFINITY;
/** Clocks of machines part by less. */
const CLOCKS_MS = 2000;

/** Forgets every snapshot: called where this isolate has written, so that the next request reads its own write. */
export function forgetSnapshots(at: number = Date.now()): void {
  wroteAt = at;
  // a read that is under way began before the write: it must not be kept
  generation++;
  kept.clear();
  unknown.clear();
  refreshing.clear();
}

export interface SnapshotOptions {
  readonly db: CatalogDb;
  readonly now: () => number;
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Where snapshots lie that other isolates have read; undefined: nowhere. */
  readonly kv?: KeyValues | undefined;
  /** Ask the catalog whatever is remembered: statements on models and rights, and callers that know a newer version. */
  readonly fresh?: boolean;
}

/**
 * The snapshot for a caller: from the isolate's memory within its age, else from KV within its age, else from the catalog.
 * KV spares cold isolates the read and never makes a snapshot younger.
 * @throws SvcError 503 `catalog_unavailable`
 */
export async function loadSnapshot(by: SnapshotKey, options: SnapshotOptions): Promise<Snapshot> {
  const { now, kv, fresh = false } = options;
  const key = keptUnder(by);
  if (fresh) return readAndKeep(by, key, options);
  const found = kept.get(key);
  if (found !== undefined) {
    const age = ageOf(found, now());
    if (age < MAX_AGE_MS) {
      if (age >= REFRESH_AGE_MS) readLater(by, key, options);
      return found.snapshot;
    }
    kept.delete(key);
  }
  const missed = unknown.get(key);
  if (missed !== undefined && now() - missed < UNKNOWN_MS) return NOBODY;
  const others = kv === undefined ? undefined : await fromOthers(kv, key, now);
  if (others === undefined) return readAndKeep(by, key, options);
  if (ageOf(others, now()) >= REFRESH_AGE_MS) readLater(by, key, options);
  return others.snapshot;
}

/** Reads it anew in the background, one at a time. */
function readLater(by: SnapshotKey, key: string, options: SnapshotOptions): void {
  const { now, waitUntil } = options;
  if (now() - (refreshing.get(key) ?? Number.NEGATIVE_INFINITY) <= REFRESHING_MS) return;
  refreshing.set(key, now(), 8);
  waitUntil(readAndKeep(by, key, options).catch(() => undefined));
}

async function readAndKeep(by: SnapshotKey, key: string, { db, now, kv, waitUntil, fresh = false }: SnapshotOptions): Promise<Snapshot> {
  const readAt = now();
  const begun = generation;
  const { snapshot, bytes } = await readSnapshot(db, by);
  if (begun === generation) {
    if (snapshot.user === null) unknown.set(key, readAt, 8);
    else {
      kept.set(key, { snapshot, readAt }, bytes);
      // what is read fresh is mostly read to be changed
      if (kv !== undefined && !fresh) waitUntil(tellOthers(kv, key, { snapshot, readAt }));
    }
    refreshing.delete(key);
  }
  return snapshot;
}

/** The statement is part of the key: a release that reads more never takes a snapshot of one that read less. */
const othersKey = (kv: KeyValues, key: string): Promise<string> => kv.key('snapshot', [key, READ]);

const tellOthers = async (kv: KeyValues, key: string, entry: Kept): Promise<void> =>
  kv.putSealed(await othersKey(kv, key), JSON.stringify(entry), Math.max(LEAST_SECONDS, MAX_AGE_MS / 1000));

/** What another isolate has read, where it is young enough by its own stamps; kept here from then on. */
async function fromOthers(kv: KeyValues, key: string, now: () => number): Promise<Kept | undefined> {
  const begun = generation;
  const text = await kv.sealed(await othersKey(kv, key));
  const entry = text === undefined ? undefined : parseKept(text);
  if (entry === undefined || ageOf(entry, now()) >= MAX_AGE_MS || begun !== generation) return undefined;
  // read before this isolate wrote, or by a clock that cannot be right
  if (entry.readAt <= wroteAt + CLOCKS_MS || entry.readAt > now() + CLOCKS_MS) return undefined;
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

/** The older of what both clocks say: neither a slow nor a fast one makes a snapshot younger than it is. */
const ageOf = ({ snapshot, readAt }: Kept, now: number): number => Math.max(now - snapshot.verifiedAt, now - readAt);

const NOBODY: Snapshot = {
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
};
