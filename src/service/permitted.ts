/** What the statements of a request may do, if the face through which it came limits that (docs/design/mcp.md#what-execute_sql-may-do). */
import { badRequest, forbidden } from '../errors.ts';
import type { Statement } from '../language/statements.ts';

/**
 * `query`: one SELECT and nothing else. `read`: nothing is changed. `model`: ontologies and agents may be changed; users, roles, tokens, grants, policies and
 * datasources never. `own_model`: what is in the ontology that the request is about, and no other one.
 */
export type Permitted = 'query' | 'read' | 'own_model' | 'model';

const READS = new Set<string>(['select', 'show', 'describe', 'explain']);
/** They reach beyond the ontology of the request. */
const BEYOND = new Set<string>(['create_ontology', 'drop_ontology', 'create_agent', 'drop_agent']);
const NOT_MODELLING = new Set<string>([
  'create_datasource',
  'drop_datasource',
  'alter_ontology_datasource',
  'create_user',
  'alter_user',
  'drop_user',
  'create_role',
  'drop_role',
  'grant_role',
  'revoke_role',
  'create_token',
  'revoke_token',
  'grant',
  'revoke',
  'refresh_permissions',
  'create_policy',
  'drop_policy',
]);

/** @throws SvcError 400 `not_one_select`, 403 `read_only`, `not_here` for the first statement that does more than is permitted; nothing of its script is done */
export function checkPermitted(statements: readonly Statement[], permitted: Permitted): void {
  if (permitted === 'query') {
    const other = statements.find(({ kind }, i) => kind !== 'select' || i > 0);
    if (other === undefined) return;
    throw badRequest('not_one_select', 'One SELECT on the ontology is wanted here, and nothing else', { offset: other.source.offset });
  }
  for (const { kind, source } of statements) {
    if (READS.has(kind)) continue;
    if (NOT_MODELLING.has(kind)) {
      throw forbidden('not_here', 'Users, roles, tokens, grants, policies and datasources are not changed this way', {
        offset: source.offset,
        hint: 'An administrator changes them over REST',
      });
    }
    if (permitted === 'model' || (permitted === 'own_model' && !BEYOND.has(kind))) continue;
    if (permitted === 'own_model') {
      throw forbidden('not_here', 'With an agent, only the model of its ontologies is changed', { offset: source.offset, hint: 'Connect without x-agent' });
    }
    throw forbidden('read_only', 'Only SELECT, SHOW, DESCRIBE and EXPLAIN run here', {
      offset: source.offset,
      hint: 'Statements that change the model need the address with ?mode=model and EDIT on the ontology',
    });
  }
}
