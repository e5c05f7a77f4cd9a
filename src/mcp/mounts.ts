/** The routes of the MCP server. Their code is loaded with the first request. */
import type { Mount } from '../service/exchange.ts';
import type { Principals } from './object.ts';

const PATHS = ['/api/mcp', '/api/mcp/sse', '/api/mcp/message', '/api/mcp/health'] as const;

/** A path under `/<product>`. */
export type McpPath = (typeof PATHS)[number];

/** The routes of the MCP server. */
export function mcpMounts(product: string, version: string, principals: Principals): readonly Mount[] {
  let answers: Readonly<Record<McpPath, Mount['answer']>> | undefined;
  return PATHS.map((path) => ({
    path,
    answer: async (exchange) => {
      answers ??= (await import('./front.ts')).mcpAnswers(product, version, principals);
      return answers[path](exchange);
    },
  }));
}
