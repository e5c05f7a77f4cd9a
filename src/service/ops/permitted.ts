/** Restricts the statements of requests with `x-read-only`, and of requests from MCP tools (docs/design/mcp.md#what-execute_sql-may-do). */
import { badRequest, forbidden, type SvcError } from '../../errors.ts';
import type { Statement } from '../../language/statements.ts';
import type { Permitted, ServiceRequest } from '../runtime.ts';
import { isRead, reachOf } from '../write/classes.ts';

/** True if a request has the header `x-read-only`, unless its value is `false` or empty. A value with a mistake must not allow changes. */
export const isReadOnly = (headers: Headers): boolean => !/^(false)?$/i.test(headers.get('x-read-only')?.trim() ?? '');

/** Reads the header `x-consistency`; true: no rows of replicas or of the result cache. @throws SvcError 400 `bad_consistency` */
export function wantsFresh(headers: Headers): boolean {
  const value = headers.get('x-consistency')?.trim().toLowerCase();
  if (value === undefined || value === 'primary') return value !== undefined;
  throw badRequest('bad_consistency', 'x-consistency must be primary');
}

/** Refuses an operation other than a script that changes something, if the request may only read. @throws SvcError 403 `read_only` */
export function requireChanges({ permitted }: Pick<ServiceRequest, 'permitted'>): void {
  if (permitted !== null) throw changesSomething();
}

/** The error for a request that changes something although it has `x-read-only`. */
export const changesSomething = (): SvcError =>
  forbidden('read_only', 'This request changes something, but has the header x-read-only', { hint: 'Send it without x-read-only' });

/**
 * Checks the statements of a script before any of them runs.
 * @throws SvcError 400 `not_one_select`, 403 `read_only`, `not_here` for the first statement that is not permitted
 */
export function checkPermitted(statements: readonly Statement[], permitted: Permitted): void {
  if (permitted === 'query') {
    const other = statements.find(({ kind }, i) => kind !== 'select' || i > 0);
    if (other === undefined) return;
    throw badRequest('not_one_select', 'Only a single SELECT on the ontology is allowed here', { offset: other.source.offset });
  }
  for (const statement of statements) {
    if (isRead(statement)) continue;
    const { source } = statement;
    if (permitted === 'read_only') {
      throw forbidden('read_only', 'The request has the header x-read-only, so only SELECT, SHOW, DESCRIBE and EXPLAIN are allowed', {
        offset: source.offset,
        hint: 'Send statements that change something without x-read-only',
      });
    }
    const reach = reachOf(statement);
    if (reach === 'service') {
      throw forbidden('not_here', 'Users, roles, tokens, grants, policies and datasources cannot be changed here', {
        offset: source.offset,
        hint: 'An administrator can change them with the REST API',
      });
    }
    if (permitted === 'model' || (permitted === 'own_model' && reach === 'ontology')) continue;
    if (permitted === 'own_model') {
      throw forbidden('not_here', 'With an agent, only the models of its ontologies can be changed', {
        offset: source.offset,
        hint: 'Connect without x-agent',
      });
    }
    throw forbidden('read_only', 'Only SELECT, SHOW, DESCRIBE and EXPLAIN are allowed here', {
      offset: source.offset,
      hint: 'Statements that change the model need the address with ?mode=model and EDIT on the ontology',
    });
  }
}
