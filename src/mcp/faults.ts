/** Converts errors: to text for a model in a tool's result, to an HTTP status and a JSON-RPC error for a client. */
import { positionOf, SvcError } from '../errors.ts';

/** Any thrown value as an SvcError. One of another class is an internal error, whose message is not disclosed. */
export const asSvcError = (error: unknown): SvcError =>
  error instanceof SvcError ? error : new SvcError(500, 'internal_error', 'The service failed to answer this request', { cause: error });

/** The text of a tool's error: message, position and hint, so that a model can fix its call. `sql`: the statement that it sent. */
export function toolFault(error: unknown, sql?: string): { readonly fault: SvcError; readonly text: string } {
  const fault = asSvcError(error);
  const place = fault.offset === undefined || sql === undefined ? '' : ` (at character ${positionOf(sql, fault.offset)})`;
  return { fault, text: `${fault.message}${place}${fault.hint === undefined ? '' : `\nHint: ${fault.hint}`}` };
}

/** The error response to a whole request. */
export function faultResponse(error: unknown, id: string | number | null = null): Response {
  const { status, code, message, hint, headers } = asSvcError(error);
  const rpc = status >= 500 ? -32603 : status === 413 || status === 400 ? -32600 : -32000;
  const body = { jsonrpc: '2.0', error: { code: rpc, message, data: { code, ...(hint === undefined ? {} : { hint }) } }, id };
  return Response.json(body, { status, headers: { ...headers } });
}
