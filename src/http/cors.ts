/**
 * CORS for the REST API (docs/design/platform-rules.md#other-origins): CORS_ORIGINS lists the allowed origins, none by default. Credentials are never allowed.
 */
import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './context.ts';

const METHODS = 'GET, POST, OPTIONS';
/** Allowed request headers. */
const REQUEST_HEADERS = [
  'accept',
  'agent',
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
  'ontology',
  'results-limit',
  'x-agent',
  'x-api-impersonate-user',
  'x-api-key',
  'x-async',
  'x-consistency',
  'x-conversation-id',
  'x-jwt-tenant-id',
  'x-jwt-token',
  'x-ontology',
  'x-ontology-version',
  'x-read-only',
  'x-request-id',
  'x-server-timing',
].join(', ');
/** Response headers that a page may read. */
const ANSWER_HEADERS = 'allow, etag, retry-after, server-timing, www-authenticate, x-cache, x-data-as-of, x-datasource, x-ontology-version, x-request-id';
/** How long a browser may cache a preflight, in seconds. Browsers limit it further. */
const MAX_AGE = '7200';

/** The value of access-control-allow-origin for an origin; undefined if it is not allowed. */
export function allowedOrigin(origins: readonly string[], origin: string | undefined): string | undefined {
  if (origin === undefined) return undefined;
  if (origins.includes('*')) return '*';
  // browsers send origins in lower case and without a trailing slash
  return origins.some((o) => o.toLowerCase().replace(/\/$/, '') === origin.toLowerCase()) ? origin : undefined;
}

/** Middleware that answers preflights of allowed origins and adds the CORS headers to answers. */
export const cors = (): MiddlewareHandler<AppEnv> =>
  createMiddleware<AppEnv>(async (c, next) => {
    const { corsOrigins } = c.env.runtime.config;
    // pages with cookie authentication are not available to other origins; the MCP server has its own setting (MCP_CORS_ORIGINS)
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
