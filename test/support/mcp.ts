/** An MCP server for a caller without an ontology, and a client that is connected to it in memory. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import type { Session } from '../../src/mcp/call.ts';
import { Gate } from '../../src/mcp/gate.ts';
import { OFFER } from '../../src/mcp/offer.ts';
import { buildServer } from '../../src/mcp/server.ts';
import { Spliced } from '../../src/mcp/spliced.ts';

/** The session of a request, with the members that listing needs. @param more members that differ */
export const listingSession = (more: Partial<Session> = {}): Session =>
  ({
    runtime: { config: { product: 'svc', mcp: { rowLimit: 3000 } }, now: Date.now, log: () => undefined, llm: {} },
    caller: { principal: { name: 'ann', isAdmin: false, grants: [], credential: 'api_token' }, snapshot: { ontologies: [], agents: [] } },
    target: { ontology: null, isNamed: false, agent: undefined },
    modelling: false,
    requestId: 'r',
    spliced: new Spliced(),
    body: [],
    ...more,
  }) as unknown as Session;

/** A client of the server for a session. */
export async function connect(of: Session): Promise<Client> {
  const server = buildServer(of, { offer: OFFER, version: '1', gate: new Gate(8), slowGate: new Gate(8), audit: () => undefined });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(far as never), client.connect(near)]);
  return client;
}
