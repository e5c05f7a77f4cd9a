/** Logs one structured line per request. It contains no values, query strings or credentials. */
import { loggedFault } from '../errors.ts';
import type { AppContext } from './context.ts';

/** Logs a request after its answer was made. @param begun time of arrival, in milliseconds since 1970 */
export function logRequest(c: AppContext, begun: number): void {
  const { runtime } = c.env;
  const cause = c.get('cause');
  runtime.log({
    level: c.res.status >= 500 ? 'error' : 'info',
    request_id: c.get('requestId'),
    method: c.req.method,
    path: c.req.path,
    status: c.res.status,
    ms: Math.round(runtime.now() - begun),
    user: c.get('caller')?.principal.name,
    actor: c.get('caller')?.principal.actor?.name,
    ontology: c.get('ontology'),
    rows: c.get('rows'),
    ...(cause === undefined ? {} : { cause: loggedFault(cause) }),
  });
}
