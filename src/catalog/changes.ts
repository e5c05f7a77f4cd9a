/**
 * Statements that change the catalog, each a `Call` with its values as parameters. The service collects the calls of a
 * request and commits them as one batch.
 */
import { conflict, type SvcError } from '../errors.ts';
import type { Model } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, call, DbError, sql } from './db.ts';
import { idList } from './promotion.ts';
import { CHANGED, DELETE_GRANTS } from './rights.ts';
import type { Privilege } from './snapshot.ts';
import { forgetSnapshots } from './snapshot.ts';
import { versionExists } from './versions.ts';

// ontologies

const CREATE_ONTOLOGY = sql`INSERT INTO kg_catalog.ontologies (id, name, key, description, seq, version, created_by) VALUES ($1, $2, $3, $4, 1, $5, $6)`;
const ATTACH_MAIN = sql`INSERT INTO kg_catalog.ontology_datasources (ontology_id, datasource_id, active) SELECT $1::uuid, id, true FROM kg_catalog.datasources WHERE key = 'main'`;
// The subquery yields NULL if a policy was changed concurrently, and the NOT NULL column rejects it (23502). FOR UPDATE blocks such a change until the commit.
const CREATE_VERSION = sql`INSERT INTO kg_catalog.ontology_versions (version, ontology_id, seq, created_by, statement, format, content)
  VALUES ($1, (SELECT id FROM kg_catalog.ontologies WHERE id = $2 AND policy_generation = $8 FOR UPDATE), $3, $4, $5, $6, $7::json)`;
const POINT_AT = sql`UPDATE kg_catalog.ontologies SET seq = $2, version = $3, description = $4 WHERE id = $1`;
const DROP_ONTOLOGY = sql`DELETE FROM kg_catalog.ontologies WHERE id = $1`;
const SET_FUNCTIONS = sql`UPDATE kg_catalog.ontologies SET allowed_functions = $2 WHERE id = $1`;

// what they take where they are stored, compressed: no value is read
const VERSION_BYTES = sql`SELECT coalesce(sum(pg_column_size(content) + pg_column_size(statement)), 0)::bigint::text AS bytes FROM kg_catalog.ontology_versions WHERE ontology_id = $1::uuid`;

/** How many bytes the versions of an ontology take. @throws SvcError 503 */
export const versionBytes = async (db: CatalogDb, ontologyId: string): Promise<number> => Number((await db.query(VERSION_BYTES, [ontologyId]))[0]?.bytes ?? 0);

/** A version to be written. */
export interface NewVersion {
  readonly ontologyId: string;
  readonly version: string;
  readonly seq: number;
  readonly createdBy: string;
  readonly statement: string;
  readonly model: Model;
  /** The model's JSON. */
  readonly content: string;
  /** Generation of the ontology's policies that the model was checked against. */
  readonly policyGeneration: number;
}

/** Creates an ontology with the datasource `main` attached and active. The same batch must also write its first version. */
export const createOntology = (ontology: {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly version: string;
  readonly createdBy: string;
}): readonly Call[] => [
  call(CREATE_ONTOLOGY, ontology.id, ontology.name, fold(ontology.name), ontology.description, ontology.version, ontology.createdBy),
  call(ATTACH_MAIN, ontology.id),
];

/** Writes a version and the pointer to it. The INSERT fails with 23505 if that number was already written, and with 23502 if a policy was changed concurrently. */
export const createVersion = (v: NewVersion): readonly Call[] => [
  call(CREATE_VERSION, v.version, v.ontologyId, v.seq, v.createdBy, v.statement, v.model.format, v.content, v.policyGeneration),
  call(POINT_AT, v.ontologyId, v.seq, v.version, v.model.description),
];

export const dropOntology = (id: string, name: string): readonly Call[] => [
  call(DROP_ONTOLOGY, id),
  call(DELETE_GRANTS, 'ontology', fold(name)),
  call(CHANGED),
];

export const setAllowedFunctions = (id: string, functions: string | null): readonly Call[] => [call(SET_FUNCTIONS, id, functions)];

// datasources

const CREATE_DATASOURCE = sql`INSERT INTO kg_catalog.datasources (name, key, type, secret, options) VALUES ($1, $2, $3, $4, $5::json)`;
const REPLACE_DATASOURCE = sql`UPDATE kg_catalog.datasources SET type = $2, secret = $3, options = $4::json, placements = NULL, placements_digest = NULL, placed = NULL WHERE id = $1`;
const DROP_DATASOURCE = sql`DELETE FROM kg_catalog.datasources WHERE key = $1`;
const ATTACH = sql`INSERT INTO kg_catalog.ontology_datasources (ontology_id, datasource_id, active) SELECT $1::uuid, id, $3 FROM kg_catalog.datasources WHERE key = $2`;
const DETACH = sql`DELETE FROM kg_catalog.ontology_datasources WHERE ontology_id = $1 AND datasource_id = (SELECT id FROM kg_catalog.datasources WHERE key = $2)`;
const DEACTIVATE = sql`UPDATE kg_catalog.ontology_datasources SET active = false WHERE ontology_id = $1 AND active`;
const ACTIVATE = sql`UPDATE kg_catalog.ontology_datasources SET active = true WHERE ontology_id = $1 AND datasource_id = (SELECT id FROM kg_catalog.datasources WHERE key = $2)`;

export const createDatasource = (d: {
  readonly name: string;
  readonly type: string;
  readonly secret: string;
  readonly options: Readonly<Record<string, string>>;
}): readonly Call[] => [call(CREATE_DATASOURCE, d.name, fold(d.name), d.type, d.secret, JSON.stringify(d.options))];
export const replaceDatasource = (
  id: string,
  d: { readonly type: string; readonly secret: string; readonly options: Readonly<Record<string, string>> },
): readonly Call[] => [call(REPLACE_DATASOURCE, id, d.type, d.secret, JSON.stringify(d.options))];
export const dropDatasource = (name: string): readonly Call[] => [
  call(DROP_DATASOURCE, fold(name)),
  call(DELETE_GRANTS, 'datasource', fold(name)),
  call(CHANGED),
];
export const attachDatasource = (ontologyId: string, datasource: string, active: boolean): readonly Call[] => [call(ATTACH, ontologyId, datasource, active)];
export const detachDatasource = (ontologyId: string, datasource: string): readonly Call[] => [call(DETACH, ontologyId, datasource)];
export const activateDatasource = (ontologyId: string, datasource: string): readonly Call[] => [
  call(DEACTIVATE, ontologyId),
  call(ACTIVATE, ontologyId, datasource),
];

// agents

const CREATE_AGENT = sql`INSERT INTO kg_catalog.agents (name, key, description, options) VALUES ($1, $2, $3, $4::json)`;
const REPLACE_AGENT = sql`UPDATE kg_catalog.agents SET name = $1, description = $3, options = $4::json WHERE key = $2`;
const CLEAR_AGENT = sql`DELETE FROM kg_catalog.agent_ontologies WHERE agent_id = (SELECT id FROM kg_catalog.agents WHERE key = $1)`;
const AGENT_ONTOLOGY = sql`INSERT INTO kg_catalog.agent_ontologies (agent_id, ontology_id, position) SELECT a.id, o.id, $3 FROM kg_catalog.agents a, kg_catalog.ontologies o WHERE a.key = $1 AND o.key = $2`;
const DROP_AGENT = sql`DELETE FROM kg_catalog.agents WHERE key = $1`;

export const saveAgent = (
  agent: {
    readonly name: string;
    readonly description: string | null;
    readonly options: Readonly<Record<string, string>>;
    readonly ontologyKeys: readonly string[];
  },
  replace: boolean,
): readonly Call[] => {
  const key = fold(agent.name);
  return [
    call(replace ? REPLACE_AGENT : CREATE_AGENT, agent.name, key, agent.description, JSON.stringify(agent.options)),
    call(CLEAR_AGENT, key),
    ...[...new Set(agent.ontologyKeys)].map((ontology, position) => call(AGENT_ONTOLOGY, key, ontology, position)),
  ];
};
export const dropAgent = (name: string): readonly Call[] => [call(DROP_AGENT, fold(name)), call(DELETE_GRANTS, 'agent', fold(name)), call(CHANGED)];

// users, tokens, grants

const CREATE_USER = sql`INSERT INTO kg_catalog.users (id, name, key, email, email_key, tenant, password, email_by, password_by, first_name, last_name)
  VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $4::text IS NULL THEN NULL ELSE $8::uuid[] END, CASE WHEN $7::text IS NULL THEN NULL ELSE $8::uuid[] END, $9, $10)`;
const FIND_USER = sql`SELECT id, name, active FROM kg_catalog.users WHERE key = $1`;
const FIND_ROLE = sql`SELECT id, name FROM kg_catalog.roles WHERE key = $1`;
const CREATE_TOKEN = sql`INSERT INTO kg_catalog.tokens (id, user_id, hash, label, expires, created_by) VALUES ($1, $2, $3, $4, $5::timestamptz, $6::uuid[])`;
const PARSE_TIME = sql`SELECT floor(extract(epoch FROM $1::timestamptz) * 1000)::text AS at`;
const GRANT_USER = sql`INSERT INTO kg_catalog.grants (user_id, privilege, resource, resource_key, is_all, grant_option) VALUES ($1, $2, $3::jsonb, $4::jsonb, $5, $6)
  ON CONFLICT (user_id, privilege, resource_key, is_all) WHERE user_id IS NOT NULL DO UPDATE SET grant_option = kg_catalog.grants.grant_option OR excluded.grant_option`;
const GRANT_ROLE = sql`INSERT INTO kg_catalog.grants (role_id, privilege, resource, resource_key, is_all, grant_option) VALUES ($1, $2, $3::jsonb, $4::jsonb, $5, $6)
  ON CONFLICT (role_id, privilege, resource_key, is_all) WHERE role_id IS NOT NULL DO UPDATE SET grant_option = kg_catalog.grants.grant_option OR excluded.grant_option`;
const AUDIT = sql`INSERT INTO kg_catalog.audit (user_name, credential, action, object, ontology, digest, request_id, actor) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

export const createUser = (u: {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly tenant: string | null;
  readonly password: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** Ids of the users who set the password and the e-mail. */
  readonly by: readonly string[];
}): readonly Call[] => [
  call(CREATE_USER, u.id, u.name, fold(u.name), u.email, u.email === null ? null : fold(u.email), u.tenant, u.password, idList(u.by), u.firstName, u.lastName),
];

/** Creates a token. `expires` is ISO 8601, or null for a token that does not expire. */
export const createToken = (t: {
  readonly id: string;
  readonly userId: string;
  readonly hash: string;
  readonly label: string | null;
  readonly expires: string | null;
  /** Ids of the users who create it. */
  readonly by: readonly string[];
}): readonly Call[] => [call(CREATE_TOKEN, t.id, t.userId, t.hash, t.label, t.expires, idList(t.by))];

export const grant = (g: {
  readonly grantee: { readonly kind: 'user' | 'role'; readonly id: string };
  readonly privilege: Privilege;
  readonly resource: readonly string[];
  readonly all: boolean;
  readonly grantOption: boolean;
}): readonly Call[] => [
  call(
    g.grantee.kind === 'user' ? GRANT_USER : GRANT_ROLE,
    g.grantee.id,
    g.privilege,
    JSON.stringify(g.resource),
    JSON.stringify(g.resource.map(fold)),
    g.all,
    g.grantOption,
  ),
  call(CHANGED),
];

const CACHE_CLEARED = sql`UPDATE kg_catalog.ontologies SET cache_generation = cache_generation + 1 WHERE id = $1`;

/** Invalidates all cached results of an ontology: in this isolate immediately, in others with their next snapshot. */
export const clearCache = (ontologyId: string): readonly Call[] => [call(CACHE_CLEARED, ontologyId)];

/** An audit entry of a change. It is written in the same batch as the change. */
export const audit = (a: {
  readonly user: string;
  readonly credential: string;
  readonly action: string;
  readonly object: string | null;
  readonly ontology: string | null;
  readonly digest: string | null;
  readonly requestId: string;
  /** The user who impersonated `user`. */
  readonly actor?: string | undefined;
}): Call => call(AUDIT, a.user, a.credential, a.action, a.object, a.ontology, a.digest, a.requestId, a.actor ?? null);

export interface Found {
  readonly id: string;
  readonly name: string;
}

/** Finds a user by name, ignoring case. @throws SvcError 503 */
export async function findUser(db: CatalogDb, name: string): Promise<(Found & { readonly active: boolean }) | undefined> {
  const [row] = await db.query(FIND_USER, [fold(name)]);
  return row === undefined ? undefined : { id: String(row.id), name: String(row.name), active: row.active === true };
}

/** Finds a role by name, ignoring case. @throws SvcError 503 */
export async function findRole(db: CatalogDb, name: string): Promise<Found | undefined> {
  const [row] = await db.query(FIND_ROLE, [fold(name)]);
  return row === undefined ? undefined : { id: String(row.id), name: String(row.name) };
}

/** Parses a timestamp with PostgreSQL's rules. @returns milliseconds since 1970; undefined if the text is not a timestamp @throws SvcError 503 */
export async function parseTime(db: CatalogDb, text: string): Promise<number | undefined> {
  try {
    const [row] = await db.query(PARSE_TIME, [text]);
    const at = Number(row?.at);
    return Number.isFinite(at) ? at : undefined;
  } catch (error) {
    if (error instanceof DbError && error.sqlstate.startsWith('22')) return undefined;
    throw error;
  }
}

/** 409: another request changed the same objects, and no change of this script was saved. */
const versionConflict = (): SvcError =>
  conflict('version_conflict', 'Another request changed the same objects; no change of this script was saved', {
    hint: 'Read the current version and send the script again',
  });

/**
 * Commits all calls of a request as one batch and clears the snapshots that this isolate keeps.
 * @param version uuid of the version that the batch writes. If the answer is lost, the catalog is asked whether this version exists.
 * @throws SvcError 409 `version_conflict` if another writer committed first; 503 `catalog_unavailable`
 */
export async function commit(db: CatalogDb, calls: readonly Call[], version: string | null): Promise<void> {
  try {
    const results = await db.batch(calls);
    for (const [i, { onRows }] of calls.entries()) onRows?.(results[i] ?? []);
  } catch (error) {
    // unique violation; a referenced row was deleted (foreign key, not null); a guard such as the last administrator (check); serialization failure or deadlock
    if (error instanceof DbError && /^(23505|23503|23502|23514|40001|40P01)$/.test(error.sqlstate)) throw versionConflict();
    if (error instanceof DbError || version === null) throw error;
    const written = await versionExists(db, version).catch(() => false);
    if (!written) throw error;
  } finally {
    forgetSnapshots();
  }
}
