/** Logs one structured line per request. It contains no values, query strings or credentials. */
import { loggedFault } from '../errors.ts';
import type { Timing } from '../timing.ts';
import type { AppContext } from './context.ts';

/** Logs a request: at once, or when its rows have been sent. */
export function logRequest(c: AppContext, timing: Timing): void {
  const { runtime } = c.env;
  const sent = c.get('sent');
  const write = (): void => {
    timing.end();
    runtime.log(lineOf(c, timing));
  };
  if (sent === undefined) write();
  else runtime.waitUntil(sent.then(write));
}

function lineOf(c: AppContext, timing: Timing): Readonly<Record<string, unknown>> {
  const cause = c.get('cause');
  const times = [...timing.parts()].map(([part, ms]) => [`${part}_ms`, Math.round(ms)] as const);
  return {
    level: c.res.status >= 500 ? 'error' : 'info',
    time: new Date(timing.begun).toISOString(),
    request_id: c.get('requestId'),
    method: c.req.method,
    path: c.req.path,
    status: c.res.status,
    ms: times.reduce((sum, [, ms]) => sum + ms, 0),
    ...Object.fromEntries(times),
    user: c.get('caller')?.principal.name,
    actor: c.get('caller')?.principal.actor?.name,
    ontology: c.get('ontology'),
    datasource: c.get('datasource'),
    cache: c.get('cache'),
    rows: c.get('rows'),
    bytes: c.get('bytes'),
    ...(cause === undefined ? {} : { cause: loggedFault(cause) }),
  };
}
