/** What the MCP server offers: its tools, resources and prompts. */
import type { McpServer, ServerOptions } from '@modelcontextprotocol/server';
import type { Session } from './call.ts';
import { addPrompts } from './prompts.ts';
import { addResources } from './resources.ts';
import { TOOLS } from './tools/index.ts';
import type { Tool } from './tools/tool.ts';

/** Of a server, what stands in its lists; the way of a call to it is the same for all. */
export interface Offer {
  /** What it says that it can, and how it checks state that it has left with a client. */
  readonly options: Pick<ServerOptions, 'capabilities' | 'requestState'>;
  readonly tools: readonly Tool[];
  /** Registers what is no tool with the server of one request. */
  readonly add: (server: McpServer, session: Session) => void;
}

export const OFFER: Offer = {
  options: { capabilities: { tools: { listChanged: false }, resources: { listChanged: false }, prompts: { listChanged: false } } },
  tools: TOOLS,
  add(server, session) {
    addResources(server, session);
    addPrompts(server, session);
  },
};
