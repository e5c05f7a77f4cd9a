/**
 * The classes of statements (docs/design/statements-and-versions.md#classes-of-statements): those that read, those that change an ontology and create a version, and those
 * that change the service.
 */
import type { ModelStatement, ReadStatement, ServiceStatement, Statement } from '../../language/statements.ts';

/**
 * What a statement can change. `ontology`: the content of the request's ontology. `ontologies`: ontologies and agents. `service`: users, rights, tokens, policies
 * and datasources. MCP connections may be limited to one of the first two.
 */
export type Reach = 'ontology' | 'ontologies' | 'service';

/** What each statement of the service can change. */
const REACH: Readonly<Record<ServiceStatement['kind'], Reach>> = {
  create_ontology: 'ontologies',
  drop_ontology: 'ontologies',
  create_agent: 'ontologies',
  drop_agent: 'ontologies',
  create_example: 'ontology',
  drop_example: 'ontology',
  create_datasource: 'service',
  drop_datasource: 'service',
  alter_ontology_datasource: 'service',
  cache_mapping: 'service',
  uncache_mapping: 'service',
  cache_cube: 'service',
  uncache_cube: 'service',
  cache_view: 'service',
  uncache_view: 'service',
  create_job: 'service',
  alter_job: 'service',
  run_job: 'service',
  drop_job: 'service',
  create_user: 'service',
  alter_user: 'service',
  drop_user: 'service',
  create_token: 'service',
  revoke_token: 'service',
  grant: 'service',
  revoke: 'service',
  refresh_permissions: 'service',
  create_role: 'service',
  drop_role: 'service',
  grant_role: 'service',
  revoke_role: 'service',
  create_policy: 'service',
  drop_policy: 'service',
};

const READS: Readonly<Record<ReadStatement['kind'], true>> = { select: true, show: true, describe: true, explain: true };

export const isRead = (statement: Statement): statement is ReadStatement => Object.hasOwn(READS, statement.kind);

/** True for statements of the service; statements that neither read nor belong to the service change an ontology. */
export const isService = (statement: Statement): statement is ServiceStatement => Object.hasOwn(REACH, statement.kind);

/** Returns what a statement can change. */
export const reachOf = (statement: ModelStatement | ServiceStatement): Reach => (isService(statement) ? REACH[statement.kind] : 'ontology');
