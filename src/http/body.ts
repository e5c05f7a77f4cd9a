/** Reads request bodies with a limit and decodes them strictly. */
import { readBounded } from '../bytes.ts';
import { badRequest, SvcError } from '../errors.ts';
import type { AppContext } from './context.ts';

/** A larger body is refused with 413 (docs/design/platform-rules.md#limits-of-a-request). */
export const BODY_BYTES = 1024 * 1024;
/** How much of a refused body is still read. If the body is not read, the connection may be reset before the client reads the answer. */
const DRAIN_BYTES = 16 * 1024 * 1024;
/** Bodies up to this size are read in one step. The memory of larger ones is counted (large-body.ts). */
const SMALL_BYTES = 16 * 1024;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body as text.
 * @throws SvcError 413 `body_too_large`; 400 `malformed_body` if it is incomplete or not UTF-8; 503 `busy`
 */
export async function readText(c: AppContext): Promise<string> {
  const bytes = await readBytes(c).catch((error: unknown) => {
    if (error instanceof SvcError) throw error;
    throw badRequest('malformed_body', 'The body of the request is incomplete', { cause: error });
  });
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest('malformed_body', 'The body is not valid UTF-8');
  }
}

async function readBytes(c: AppContext): Promise<ArrayBuffer | Uint8Array> {
  const { raw } = c.req;
  // a chunked body has another length than its header may say
  if (raw.body === null || (!raw.headers.has('transfer-encoding') && Number(raw.headers.get('content-length') ?? Number.NaN) <= SMALL_BYTES))
    return raw.arrayBuffer();
  return (await import('./large-body.ts')).readLarge(c, BODY_BYTES, DRAIN_BYTES);
}

/** Discards a body that no route has read, and forgets the memory of one that was read. */
export async function drain(c: AppContext): Promise<void> {
  c.get('release')?.();
  const { raw } = c.req;
  // the answer has already been made
  if (raw.body !== null && !raw.bodyUsed) await readBounded(raw.body, 0, DRAIN_BYTES).catch(() => undefined);
}

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
const TEXT_TYPE = /^(?:text\/plain|application\/text)\s*(?:;|$)/i;

/** @throws SvcError 415 if the content type is not JSON */
export function requireJson(request: Request): void {
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? '')) throw unsupported('application/json');
}

/** @throws SvcError 415 if the content type is not text */
export function requireSqlText(request: Request): void {
  const type = request.headers.get('content-type');
  if (type !== null && !TEXT_TYPE.test(type)) throw unsupported('text/plain');
}

const unsupported = (type: string): SvcError =>
  new SvcError(415, 'unsupported_media_type', 'The content-type of the body is not supported here', { hint: `Send content-type: ${type}` });
