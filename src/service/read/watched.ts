/** Measures statements on datasources, and logs the slow ones. */

import type { RowStream } from '../../engine/rows.ts';
import { statementDigest } from '../audit.ts';
import type { Session } from '../session.ts';

/** The session of a statement, as far as it is measured. */
type Watched = Pick<Session, 'request' | 'draft' | 'script'>;

/** Awaits what a datasource answers, as a part of the request's time. */
export function onDatasource<T>({ request }: Pick<Session, 'request'>, datasource: string, ask: () => Promise<T>): Promise<T> {
  request.asks?.(datasource);
  return request.timing === undefined ? ask() : request.timing.during('database', ask);
}

/** As `onDatasource`, for rows. A statement that takes longer than SLOW_QUERY_MS, with all of its rows, or until it fails, is logged, with the digest that the audit has. */
export async function watched(session: Watched, datasource: string, ask: () => Promise<RowStream>): Promise<RowStream> {
  const { runtime, requestId } = session.request;
  const limit = runtime.config.slowQueryMs;
  const begun = runtime.now();
  const ended = (counts: { readonly rows?: number; readonly bytes?: number }): void => {
    const ms = Math.round(runtime.now() - begun);
    if (limit === 0 || ms < limit) return;
    const line = { level: 'warn', event: 'slow_query', request_id: requestId, ontology: session.draft?.name, datasource, ms, ...counts };
    runtime.waitUntil(statementDigest(session.script.sql).then((digest) => runtime.log({ ...line, digest })));
  };
  try {
    const rows = await onDatasource(session, datasource, ask);
    rows.done.then(ended, () => ended({}));
    return rows;
  } catch (error) {
    ended({});
    throw error;
  }
}
