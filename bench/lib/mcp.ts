/** Messages to the MCP server as clients of both eras of the protocol send them. */

/** The last revision with an `initialize`, and the one in which each request tells all. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

/** A POST's body and the headers that go with it, beside the credential. */
export interface McpMessage {
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

const CLIENT = { name: 'bench', version: '1' };

/** What a client of the newer protocol sends along with each request. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of a client that takes plain JSON and streams, as the SDK's do. */
export function request(revision: Revision, method: string, params: Readonly<Record<string, unknown>> = {}): McpMessage {
  const isNew = revision === '2026-07-28';
  const named = isNew ? { 'mcp-method': method, ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}) } : {};
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: isNew ? { ...params, _meta: ENVELOPE } : params },
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': revision, ...named },
  };
}

/** The call of a tool. */
export const callOf = (revision: Revision, name: string, args: Readonly<Record<string, unknown>>): McpMessage =>
  request(revision, 'tools/call', { name, arguments: args });

/** What a client says first. */
export const greeting = (revision: Revision): McpMessage =>
  revision === '2026-07-28'
    ? request(revision, 'server/discover')
    : request(revision, 'initialize', { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT });
