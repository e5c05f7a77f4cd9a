/** Reads request bodies with a limit and decodes them strictly. */
import { readBounded } from '../bytes.ts';
import { badRequest, SvcError } from '../errors.ts';

/** A larger body is refused with 413 (docs/design/platform-rules.md#limits-of-a-request). */
export const BODY_BYTES = 1024 * 1024;
/** How much of a refused body is still read. If the body is not read, the connection may be reset before the client reads the answer. */
const DRAIN_BYTES = 16 * 1024 * 1024;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body as text.
 * @throws SvcError 413 `body_too_large`; 400 `malformed_body` if it is incomplete or not UTF-8
 */
export async function readText(request: Request): Promise<string> {
  const bytes = await readBytes(request).catch((error: unknown) => {
    if (error instanceof SvcError) throw error;
    throw badRequest('malformed_body', 'The body of the request is incomplete', { cause: error });
  });
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest('malformed_body', 'The body is not valid UTF-8');
  }
}

async function readBytes(request: Request): Promise<Uint8Array> {
  // a body with a content-length within the limit is read in one step, because it cannot be longer
  const length = request.headers.get('content-length');
  if (length !== null && /^\d{1,7}$/.test(length) && Number(length) <= BODY_BYTES) return checked(new Uint8Array(await request.arrayBuffer()));
  const { bytes, isCut } = await readBounded(request.body, BODY_BYTES, DRAIN_BYTES);
  if (isCut) throw tooLarge();
  return bytes;
}

const tooLarge = (): SvcError => new SvcError(413, 'body_too_large', 'The body is larger than 1 MiB');

/** The forms have a few short fields. A larger form could contain half a million of them. */
const FORM_CHARACTERS = 64 * 1024;

/** Reads the body of a form as text. @throws SvcError as `readText`; 413 `body_too_large` */
export async function readFormText(request: Request): Promise<string> {
  const text = await readText(request);
  if (text.length > FORM_CHARACTERS) throw new SvcError(413, 'body_too_large', 'The form is larger than 64 KiB');
  return text;
}

function checked(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength > BODY_BYTES) throw tooLarge();
  return bytes;
}

/** Reads and discards a body that no route has read. */
export async function drain(request: Request): Promise<void> {
  if (request.body === null || request.bodyUsed) return;
  try {
    await readBytes(request);
  } catch {
    // the answer has already been made
  }
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
