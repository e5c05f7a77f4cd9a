/** The origins whose pages may reach the MCP server: MCP_CORS_ORIGINS (docs/design/mcp.md#origins). Pure. */
import { isLoopback } from '../config.ts';

const METHODS = 'GET, POST, DELETE, OPTIONS';
/** What a page may send. */
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'x-agent',
  'x-api-key',
  'x-jwt-tenant-id',
  'x-jwt-token',
  'x-ontology',
  'x-request-id',
].join(', ');
/** What a page may read of an answer. */
const ANSWER_HEADERS = 'allow, mcp-protocol-version, mcp-session-id, retry-after, www-authenticate, x-request-id';

/**
 * What to allow to a page: an origin, or `*`; null: it is kept out. `*` in the list means any origin, and on a loopback
 * host loopback origins alone: a page from elsewhere must not reach a service on its reader's machine.
 */
export function allowedOrigin(origins: readonly string[], origin: string, host: URL): string | null {
  // an origin is compared as browsers send it: lower case, without a slash
  if (origins.some((o) => o.toLowerCase().replace(/\/$/, '') === origin.toLowerCase())) return origin;
  if (!origins.includes('*')) return null;
  if (!isLoopback(host.hostname)) return '*';
  const page = URL.parse(origin);
  return page !== null && /^https?:$/.test(page.protocol) && isLoopback(page.hostname) ? origin : null;
}

/** The headers that let a page of an allowed origin read an answer; never with credentials of the browser. */
export const corsHeaders = (allowed: string): Readonly<Record<string, string>> => ({
  'access-control-allow-origin': allowed,
  'access-control-expose-headers': ANSWER_HEADERS,
  ...(allowed === '*' ? {} : { vary: 'origin' }),
});

/** The further ones of a preflight's answer. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-allow-methods': METHODS,
  'access-control-max-age': '7200',
};
