/** The origins whose pages may use the MCP server: MCP_CORS_ORIGINS (docs/design/mcp.md#origins). Pure. */
import { isLoopback } from '../config.ts';

const METHODS = 'GET, POST, DELETE, OPTIONS';
/** Headers that a page may send. */
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
  'x-conversation-id',
  'x-jwt-tenant-id',
  'x-jwt-token',
  'x-ontology',
  'x-consistency',
  'x-read-only',
  'x-request-id',
].join(', ');
/** Headers of a response that a page may read. */
const ANSWER_HEADERS = 'allow, mcp-protocol-version, mcp-session-id, retry-after, www-authenticate, x-request-id';

/**
 * The allowed origin for a page: an origin, or `*`; null if the page is not allowed. `*` in the list means any origin. On a loopback
 * host it means only loopback origins, because a remote page must not reach a service on its reader's machine.
 */
export function allowedOrigin(origins: readonly string[], origin: string, host: URL): string | null {
  // browsers send origins in lower case, without a trailing slash
  if (origins.some((o) => o.toLowerCase().replace(/\/$/, '') === origin.toLowerCase())) return origin;
  if (!origins.includes('*')) return null;
  if (!isLoopback(host.hostname)) return '*';
  const page = URL.parse(origin);
  return page !== null && /^https?:$/.test(page.protocol) && isLoopback(page.hostname) ? origin : null;
}

/** The headers that let a page of an allowed origin read a response, without the browser's credentials. */
export const corsHeaders = (allowed: string): Readonly<Record<string, string>> => ({
  'access-control-allow-origin': allowed,
  'access-control-expose-headers': ANSWER_HEADERS,
  ...(allowed === '*' ? {} : { vary: 'origin' }),
});

/** Additional headers for the response to a preflight. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-allow-methods': METHODS,
  'access-control-max-age': '7200',
};
