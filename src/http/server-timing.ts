/** The header `server-timing` (docs/security.md#times): only for callers from whom nothing is hidden, since the time of a statement depends on all rows that the database reads. */
import { type Runtime, seesAllRows } from '../service.ts';
import { PARTS, Timing } from '../timing.ts';
import type { AppContext } from './context.ts';

/** Begins to measure a request. Its catalog and Workers KV count as `wait`. */
export function measure(c: AppContext): Timing {
  const { runtime } = c.env;
  const timing = new Timing(runtime.now, runtime.span);
  c.set('timing', timing);
  c.env = { ...c.env, runtime: timed(runtime, timing) };
  return timing;
}

function timed(runtime: Runtime, timing: Timing): Runtime {
  const { db, kv } = runtime;
  const wait = <T>(work: () => Promise<T>): Promise<T> => timing.during('wait', work);
  return {
    ...runtime,
    db: { query: (...args) => wait(() => db.query(...args)), batch: (calls) => wait(() => db.batch(calls)) },
    kv: kv && {
      ...kv,
      text: (key) => wait(() => kv.text(key)),
      bytes: (key) => wait(() => kv.bytes(key)),
    },
  };
}

/** Adds the times of a request to its answer, if its caller may know them. `stream` is not among them: the head is sent before the rows. */
export function addTimes(c: AppContext, timing: Timing): void {
  if (!mayKnowTimes(c)) return;
  const parts = timing.parts();
  const times = PARTS.flatMap((part) => (parts.has(part) ? [`${part};dur=${Number(parts.get(part)?.toFixed(1))}`] : []));
  const cache = c.get('cache');
  setHeader(c, 'server-timing', [...times, ...(cache === undefined ? [] : [`cache;desc=${cache}`])].join(', '));
}

/** Hono's `c.header` copies a finished answer, and the body of the copy is a stream. Only the answers of another server, whose headers cannot be changed, need that. */
function setHeader(c: AppContext, name: string, value: string): void {
  try {
    c.res.headers.set(name, value);
  } catch {
    c.header(name, value);
  }
}

/** Editors get the times always, others with `x-server-timing: true`. A request about no ontology shows its times to administrators only. */
function mayKnowTimes(c: AppContext): boolean {
  const caller = c.get('caller');
  if (caller === undefined) return false;
  const sees = seesAllRows(caller, c.get('ontology'));
  return sees === 'edits' || (sees === 'reads' && /^\s*true\s*$/i.test(c.req.header('x-server-timing') ?? ''));
}
