/** The pages of MCP Apps: which definitions name them, for which clients, and how they are read. */
import { describe, expect, it } from 'vitest';
import { PAGE_TYPE, pageOf, UI } from '../../../src/mcp/apps.ts';
import type { Session } from '../../../src/mcp/call.ts';
import { connect, listingSession } from '../../support/mcp.ts';

const page = async (name: string): Promise<string | undefined> => (name === 'apps/result.html' ? '<!doctype html>' : undefined);
const session = (more: Partial<Session> = {}): Session => listingSession({ page, ...more });

/** A request of a client that sends its capabilities. */
const body = (capabilities: unknown): Session['body'] => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/list',
  params: { _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities } },
});
const reading = (uri: string): Session['body'] => ({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } });

describe('the pages of results', () => {
  it('are named by four tools', async () => {
    const { tools } = await (await connect(session())).listTools();
    expect(Object.fromEntries(tools.flatMap(({ name, _meta }) => (_meta === undefined ? [] : [[name, _meta]])))).toEqual({
      describe_knowledge_graph: { ui: { resourceUri: 'ui://svc/graph' } },
      execute_sql: { ui: { resourceUri: 'ui://svc/result' } },
      query_data: { ui: { resourceUri: 'ui://svc/result' } },
      ask_question: { ui: { resourceUri: 'ui://svc/result' } },
    });
  });

  it.each([
    [{}, false],
    [{ extensions: {} }, false],
    [{ extensions: { [UI]: {} } }, false],
    [{ extensions: { [UI]: { mimeTypes: ['text/html'] } } }, false],
    [{ extensions: { [UI]: { mimeTypes: [PAGE_TYPE] } } }, true],
  ])('are named for capabilities %j: %s', (capabilities, isNamed) => {
    expect('_meta' in pageOf('execute_sql', session({ body: body(capabilities) }))).toBe(isNamed);
  });

  it('are not named without the console, nor by a tool that is not available', async () => {
    expect(pageOf('execute_sql', session({ page: undefined }))).toEqual({});
    const { tools } = await (await connect(session({ runtime: { ...session().runtime, llm: undefined } }))).listTools();
    expect(tools.find(({ name }) => name === 'ask_question')?._meta).toEqual({ available: false });
  });

  it('are read by their address, and in no list', async () => {
    const client = await connect(session({ body: reading('ui://svc/result') }));
    const { contents } = await client.readResource({ uri: 'ui://svc/result' });
    expect(contents).toEqual([
      {
        uri: 'ui://svc/result',
        mimeType: PAGE_TYPE,
        text: '<!doctype html>',
        _meta: { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } },
      },
    ]);
    await expect(client.readResource({ uri: 'ui://svc/graph' })).rejects.toThrow('not found');
    await expect(client.readResource({ uri: 'ui://svc/other' })).rejects.toThrow('not found');
    const other = await connect(session());
    expect((await other.listResourceTemplates()).resourceTemplates.filter((t) => t.uriTemplate.startsWith('ui:'))).toEqual([]);
    await expect(other.readResource({ uri: 'ui://svc/result' })).rejects.toThrow('not found');
  });
});
