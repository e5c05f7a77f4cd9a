/**
 * MCP Apps: pages that a host shows with the results of tools, as resources `ui://...` (extension io.modelcontextprotocol/ui, revision 2026-01-26;
 * https://github.com/modelcontextprotocol/ext-apps). `scripts/build-apps.ts` builds the pages. They load nothing, and get their data from the host.
 */
import { CLIENT_CAPABILITIES_META_KEY, type McpServer, ProtocolError } from '@modelcontextprotocol/server';
import type { Session } from './call.ts';
import type { Message } from './messages.ts';

/** The name of the extension among the capabilities of a client. */
export const UI = 'io.modelcontextprotocol/ui';
/** The media type of the pages. */
export const PAGE_TYPE = 'text/html;profile=mcp-app';
const NOT_FOUND = -32002;

interface App {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The tools whose results it shows. */
  readonly tools: readonly string[];
}

const APPS: readonly App[] = [
  { name: 'result', title: 'Rows', description: 'Rows as a table and as a chart', tools: ['execute_sql', 'query_data', 'ask_question'] },
  { name: 'graph', title: 'Knowledge graph', description: 'A concept and its neighbours', tools: ['describe_knowledge_graph'] },
];

/** The page needs no other origin and no permission. */
const PAGE_META = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

type Of = Pick<Session, 'body' | 'page' | 'runtime'>;

const uriOf = ({ runtime }: Of, { name }: App): string => `ui://${runtime.config.product}/${name}`;
const messagesOf = ({ body }: Of): readonly Message[] => [body].flat() as readonly Message[];

/**
 * Whether to name the pages. From revision 2026-07-28 on, each request has the capabilities of its client. Older clients send them in `initialize`, which the service does not
 * remember; they get the names, and ignore them if they do not know the extension.
 */
function isWanted(session: Of): boolean {
  if (session.page === undefined) return false;
  for (const { params } of messagesOf(session)) {
    const capabilities = (params?._meta as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    if (capabilities === undefined) continue;
    const { extensions } = capabilities as { readonly extensions?: Readonly<Record<string, { readonly mimeTypes?: unknown } | undefined>> };
    const types = extensions?.[UI]?.mimeTypes;
    return Array.isArray(types) && types.includes(PAGE_TYPE);
  }
  return true;
}

/** What a tool's definition has for its page, if the tool has one that the client may want. */
export function pageOf(tool: string, session: Of): { readonly _meta?: { readonly ui: { readonly resourceUri: string } } } {
  const app = APPS.find(({ tools }) => tools.includes(tool));
  return app === undefined || !isWanted(session) ? {} : { _meta: { ui: { resourceUri: uriOf(session, app) } } };
}

/** Registers the pages for a request that reads one. Hosts find them by the tools' definitions, so that resources/list does not have them. */
export function addApps(server: McpServer, session: Of): void {
  const { page } = session;
  if (page === undefined || !messagesOf(session).some(({ method, params }) => method === 'resources/read' && String(params?.uri).startsWith('ui:'))) return;
  for (const app of APPS) {
    const { name, title, description } = app;
    server.registerResource(name, uriOf(session, app), { title, description, mimeType: PAGE_TYPE }, async ({ href }) => {
      const text = await page(`apps/${name}.html`);
      if (text === undefined) throw new ProtocolError(NOT_FOUND, `Resource ${href} not found`);
      return { contents: [{ uri: href, mimeType: PAGE_TYPE, text, _meta: PAGE_META }] };
    });
  }
}
