/** Messages to the MCP server as clients of both eras of the protocol send them. */

/** The last revision with an `initialize`, and the first one without. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

/** The body of a POST and its headers, except the credential. */
export interface McpMessage {
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

const CLIENT = { name: 'bench', version: '1' };

/** The metadata that a client of the newer protocol sends with each request. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of a client that accepts plain JSON and streams, like that of the SDK. */
export function request(revision: Revision, method: string, params: Readonly<Record<string, unknown>> = {}): McpMessage {
  const isNew = revision === '2026-07-28';
  const named = isNew ? { 'mcp-method': method, ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}) } : {};
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: isNew ? { ...params, _meta: ENVELOPE } : params },
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': revision, ...named },
  };
}

/** A tool call. */
export const callOf = (revision: Revision, name: string, args: Readonly<Record<string, unknown>>): McpMessage =>
  request(revision, 'tools/call', { name, arguments: args });

/** The first message of a client. */
export const greeting = (revision: Revision): McpMessage =>
  revision === '2026-07-28'
    ? request(revision, 'server/discover')
    : request(revision, 'initialize', { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT });
