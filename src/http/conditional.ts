/** Answers that a client may cache and revalidate: with a weak ETag, which is compared after authentication (docs/design/caches.md#etags). */
import { sha256 } from '../auth/tokens.ts';
import { raw } from './answers.ts';
import type { AppContext } from './context.ts';

/** The request headers that an answer depends on. */
const VARY = 'x-api-key, authorization, x-jwt-token, x-jwt-tenant-id, x-api-impersonate-user';

/**
 * Sends a JSON text with its ETag, or 304 if the client already has it. The tag is a digest of the text, so every change of
 * the answer (version, datasources, rights of the caller) changes the tag.
 */
export async function conditional(c: AppContext, body: string): Promise<Response> {
  const etag = `W/"${(await sha256(body)).slice(0, 32)}"`;
  const known = c.req.method === 'GET' && matches(c.req.header('if-none-match'), etag);
  const { headers } = raw(c, '');
  headers.set('cache-control', 'private, no-cache');
  headers.set('etag', etag);
  headers.set('vary', VARY);
  if (!known) return new Response(body, { headers });
  headers.delete('content-type');
  return new Response(null, { status: 304, headers });
}

/** True if If-None-Match contains the tag, by weak comparison (RFC 9110, 13.1.2). */
export function matches(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  if (given.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return [...given.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)].some(([, tag]) => tag === opaque);
}
