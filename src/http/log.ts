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
    const line = lineOf(c, timing);
    runtime.log(line);
    runtime.measured?.(line);
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
    code: c.get('code'),
    ...(cause === undefined ? {} : { cause: loggedFault(cause) }),
  };
}

/** The fields of a line that Analytics Engine gets, in the order of its columns `blob1`, ... and `double1`, ... (docs/operating.md#the-worker). Append only. */
const TEXTS = ['method', 'path', 'status', 'code', 'ontology', 'datasource', 'cache', 'job', 'outcome'] as const;
const NUMBERS = ['ms', 'auth_ms', 'plan_ms', 'wait_ms', 'database_ms', 'stream_ms', 'rows', 'bytes'] as const;
/** The longest index of a data point is 96 bytes. */
const INDEX_CHARACTERS = 24;

/** A data point for Analytics Engine of the line of a request, or of the run of a job. It has no user. */
export const pointOf = (line: Readonly<Record<string, unknown>>): { indexes: string[]; blobs: string[]; doubles: number[] } => ({
  indexes: [String(line.ontology ?? '').slice(0, INDEX_CHARACTERS)],
  blobs: TEXTS.map((name) => String(line[name] ?? '').slice(0, 500)),
  doubles: NUMBERS.map((name) => Number(line[name] ?? 0)),
});
