/** Writes requests to the audit. Refused credentials are only counted. */
import { loggedLine } from '../errors.ts';
import { auditFailure, auditRequest } from '../service.ts';
import type { AppContext } from './context.ts';

const PATH_CHARACTERS = 500;

/** Logs that an entry of the audit could not be written in the background. */
export const logAuditFault = (c: AppContext, error: unknown): void =>
  c.env.runtime.log({ level: 'error', event: 'audit_failed', request_id: c.get('requestId'), message: loggedLine(error) });

/** Writes the audit line of a request in the background, after its rows have been sent. */
export function audit(c: AppContext, begun: number): void {
  const { runtime } = c.env;
  const { status } = c.res;
  if (status === 401) auditFailure(runtime, c.get('code') ?? 'unauthorized');
  const principal = c.get('caller')?.principal;
  // the entry of a change was written in the transaction of the change
  if (principal === undefined || status === 401 || (c.get('noted') === true && status < 400)) return;
  const line = (): Parameters<typeof auditRequest>[1] => ({
    at: new Date(begun).toISOString(),
    user: principal.name,
    actor: principal.actor?.name ?? null,
    credential: principal.credential,
    action: `${c.req.method} ${c.req.path.slice(0, PATH_CHARACTERS)}`,
    ontology: c.get('ontology') ?? null,
    sql: c.get('sql') ?? null,
    request_id: c.get('requestId'),
    status,
    code: c.get('code') ?? null,
    rows: c.get('rows') ?? null,
    duration_ms: Math.round(runtime.now() - begun),
  });
  const sent = c.get('sent');
  if (sent === undefined) auditRequest(runtime, line());
  else runtime.waitUntil(sent.then(() => auditRequest(runtime, line())));
}
