/** Answers of the REST API: error bodies, values and streams of rows, with the common headers. */
import { HTTPException } from 'hono/http-exception';
import type { Caller } from '../auth/authenticate.ts';
import { canSee } from '../auth/grants.ts';
import { badRequest, positionOf, SvcError } from '../errors.ts';
import { FileError } from '../service.ts';
import type { AppContext } from './context.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The headers of every answer. Answers about an ontology include its version. */
function headersOf(c: AppContext, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const version = c.get('version');
  const at = c.get('dataAsOf');
  return {
    'content-type': JSON_TYPE,
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    ...more,
    'x-request-id': c.get('requestId'),
    ...(version === undefined ? {} : { 'x-ontology-version': version }),
    ...(at === undefined ? {} : { 'x-data-as-of': new Date(at).toISOString() }),
  };
}

/** An answer whose body is a JSON value. */
export const json = (c: AppContext, status: number, body: unknown, headers?: Readonly<Record<string, string>>): Response =>
  new Response(JSON.stringify(body), { status, headers: headersOf(c, headers) });

/** An answer `{"status":"success","data":...}`. */
export const success = (c: AppContext, data: unknown, more: Readonly<Record<string, unknown>> = {}): Response =>
  json(c, 200, { status: 'success', data, ...more });

/** An answer with a finished body; JSON by default. */
export const raw = (c: AppContext, body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string, type = JSON_TYPE): Response =>
  new Response(body, { status: 200, headers: headersOf(c, { 'content-type': type, ...sourceOf(c) }) });

const sourceOf = (c: AppContext): Record<string, string> => {
  const source = c.get('source');
  return source === undefined ? {} : { 'x-datasource': source };
};

/** Notes which database has returned the rows, for x-datasource. Only callers who see the datasource get its name. @param place 0: its own database, 1: its first replica */
export const noteSource =
  (c: AppContext, { principal }: Caller) =>
  (datasource: string, place: number): void => {
    const name = canSee(principal, ['datasource', datasource]) ? `; name=${encodeURIComponent(datasource)}` : '';
    c.set('source', (place === 0 ? 'primary' : `replica ${place}`) + name);
  };

/** Converts anything that was thrown to a SvcError. Unexpected errors become a 500 that discloses nothing. */
export function asSvcError(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  if (error instanceof HTTPException && error.status === 400) return badRequest('malformed_json', 'The body is not valid JSON', { cause: error });
  return new SvcError(500, 'internal_error', 'The service failed to answer this request', {
    hint: 'The log has the reason under the request_id',
    cause: error,
  });
}

/** The error body (docs/design/rows-and-json.md#error-bodies). */
export function failure(c: AppContext, thrown: unknown): Response {
  const error = asSvcError(thrown);
  c.set('code', error.code);
  c.set('cause', error.cause ?? (error.status >= 500 ? error : undefined));
  const sql = error instanceof FileError ? error.text : c.get('sql');
  const body = {
    status: 'error',
    data: error.message,
    code: error.code,
    hint: error.hint,
    position: error.offset === undefined || sql === undefined ? undefined : positionOf(sql, error.offset),
    request_id: c.get('requestId'),
  };
  return json(c, error.status, body, error.headers);
}
