/** One structured line a request: who asked for what and how it ended, never a value, a query string or a credential. */
import { loggedFault } from '../errors.ts';
import type { AppContext } from './context.ts';

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
