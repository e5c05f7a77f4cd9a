/** What callers are told of faults: a model in the words of a tool's error, a client by HTTP status and JSON-RPC error. */
import { positionOf, SvcError } from '../errors.ts';

/** Any thrown thing as an error of the family: what is none is a fault of ours and tells nothing. */
export const asSvcError = (error: unknown): SvcError =>
  error instanceof SvcError ? error : new SvcError(500, 'internal_error', 'The service failed to answer this request', { cause: error });

/** The text of a tool's error: message, place and hint, so that a model can mend its call. `sql`: what it has sent. */
export function toolFault(error: unknown, sql?: string): { readonly fault: SvcError; readonly text: string } {
  const fault = asSvcError(error);
  const place = fault.offset === undefined || sql === undefined ? '' : ` (at character ${positionOf(sql, fault.offset)})`;
  return { fault, text: `${fault.message}${place}${fault.hint === undefined ? '' : `\nHint: ${fault.hint}`}` };
}

/** The error answer of a whole request. */
export function faultResponse(error: unknown, id: string | number | null = null): Response {
  const { status, code, message, hint, headers } = asSvcError(error);
  const rpc = status >= 500 ? -32603 : status === 413 || status === 400 ? -32600 : -32000;
  const body = { jsonrpc: '2.0', error: { code: rpc, message, data: { code, ...(hint === undefined ? {} : { hint }) } }, id };
  return Response.json(body, { status, headers: { ...headers } });
}
