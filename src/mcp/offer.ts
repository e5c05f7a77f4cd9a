/** What the MCP server offers: its tools, resources and prompts. */
import type { McpServer, ServerOptions } from '@modelcontextprotocol/server';
import { addApps } from './apps.ts';
import type { Session } from './call.ts';
import { addPrompts } from './prompts.ts';
import { addResources } from './resources.ts';
import { addSkills, SKILLS } from './skills.ts';
import { TOOLS } from './tools/index.ts';
import type { Tool } from './tools/tool.ts';

/** What a server lists. Calls are processed in the same way for all servers. */
export interface Offer {
  /** Capabilities of the server, and how it verifies state that a client sends back. */
  readonly options: Pick<ServerOptions, 'capabilities' | 'requestState'>;
  readonly tools: readonly Tool[];
  /** Registers everything other than tools with the server of one request. */
  readonly add: (server: McpServer, session: Session) => void;
}

export const OFFER: Offer = {
  options: {
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false },
      prompts: { listChanged: false },
      extensions: { [SKILLS]: {} },
    },
  },
  tools: TOOLS,
  add(server, session) {
    addResources(server, session);
    addPrompts(server, session);
    addSkills(server, session);
    addApps(server, session);
  },
};
