/**
 * Which pages of other origins may call the REST families (docs/design/platform-rules.md#other-origins): CORS_ORIGINS, default none, never with credentials.
 */
import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './context.ts';

const METHODS = 'GET, POST, OPTIONS';
/** What a caller may send. */
const REQUEST_HEADERS = [
  'accept',
  'api-nested-case-sensitivity',
  'api-nested-format-booleans',
  'api-nested-format-properties',
  'api-nested-ignore-entity-id',
  'api-nested-minimize-relationships',
  'authorization',
  'cache-control',
  'content-type',
  'if-none-match',
  'nested',
  'results-limit',
  'x-api-impersonate-user',
  'x-api-key',
  'x-async',
  'x-jwt-tenant-id',
  'x-jwt-token',
  'x-ontology-version',
  'x-request-id',
].join(', ');
/** What a page may read of an answer. */
const ANSWER_HEADERS = 'allow, etag, retry-after, server-timing, www-authenticate, x-cache, x-ontology-version, x-request-id';
/** Seconds for which a browser may remember a preflight; browsers cap it. */
const MAX_AGE = '7200';

/** What to allow to a page of that origin; undefined: nothing. */
export function allowedOrigin(origins: readonly string[], origin: string | undefined): string | undefined {
  if (origin === undefined) return undefined;
  if (origins.includes('*')) return '*';
  // an origin is compared as browsers send it: lower case, without a slash
  return origins.some((o) => o.toLowerCase().replace(/\/$/, '') === origin.toLowerCase()) ? origin : undefined;
}

/** Answers preflights of allowed origins, and lets their pages read answers. */
export const cors = (): MiddlewareHandler<AppEnv> =>
  createMiddleware<AppEnv>(async (c, next) => {
    const { corsOrigins } = c.env.runtime.config;
    // pages that know their user by a cookie are for nobody else's pages; the MCP server has origins of its own (MCP_CORS_ORIGINS)
    if (corsOrigins.length === 0 || !/^\/[^/]+\/(api(?!\/mcp(\/|$))|openapi)\//.test(c.req.path)) return next();
    const origin = allowedOrigin(corsOrigins, c.req.header('origin'));
    if (origin !== undefined && c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined) {
      c.res = new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-headers': REQUEST_HEADERS,
          'access-control-allow-methods': METHODS,
          'access-control-max-age': MAX_AGE,
          'x-request-id': c.get('requestId'),
        },
      });
    } else await next();
    if (!corsOrigins.includes('*')) c.res.headers.append('vary', 'origin');
    if (origin === undefined) return;
    c.res.headers.set('access-control-allow-origin', origin);
    c.res.headers.set('access-control-expose-headers', ANSWER_HEADERS);
  });
