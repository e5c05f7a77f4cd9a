/** Resources: the model of each ontology as compact text, `ontology://{name}`. */
import { type McpServer, ProtocolError, ResourceTemplate } from '@modelcontextprotocol/server';
import { SvcError } from '../errors.ts';
import { budgetOf, cutRows, type JsonRow } from '../nesting/cut.ts';
import { getOntology, ontologyOf, runScript } from '../service.ts';
import { readingRequest, type Session } from './call.ts';
import { type Detail, modelText } from './model-text.ts';

/** The protocol's error code for a resource that does not exist. */
const NOT_FOUND = -32002;

/** Decodes a name. Returns the text unchanged if its escapes are not UTF-8; no ontology has such a name. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const uriOf = (name: string): string => `ontology://${encodeURIComponent(name)}`;

async function visible(session: Session, signal: AbortSignal): Promise<readonly JsonRow[]> {
  const answer = await runScript(readingRequest(session, signal), { ontology: '', sql: 'SHOW ONTOLOGIES', limit: null, datasource: null });
  const { rows } = await cutRows(answer, session.runtime.config.mcp.rowLimit, budgetOf(session));
  const { agent } = session.target;
  return agent === undefined ? rows : rows.filter((row) => agent.ontologies.includes(String(row.ontology)));
}

export function addResources(server: McpServer, session: Session): void {
  const template = new ResourceTemplate('ontology://{name}', {
    list: async (context) => ({
      resources: (await visible(session, context.mcpReq.signal)).map(({ ontology, description }) => ({
        uri: uriOf(String(ontology)),
        name: String(ontology),
        description: description === null ? '' : String(description),
        mimeType: 'text/plain',
      })),
    }),
    complete: Object.assign(Object.create(null), {
      name: async (begun: string) =>
        session.caller.snapshot.ontologies.length === 0
          ? []
          : (await visible(session, AbortSignal.timeout(10_000)))
              .map((row) => String(row.ontology))
              .filter((name) => name.toLowerCase().startsWith(begun.toLowerCase())),
    }),
  });
  const config = { title: 'Model of a knowledge graph', description: 'Concepts, properties, relationships and views as compact text', mimeType: 'text/plain' };
  server.registerResource('ontology', template, config, async (uri, { name }, context) => {
    const asked = decoded(String(name));
    try {
      const ontology = ontologyOf(session.caller, session.target, asked);
      const { detail } = await getOntology(readingRequest(session, context.mcpReq.signal), ontology);
      return { contents: [{ uri: uri.href, mimeType: 'text/plain', text: modelText(ontology, detail as Detail) }] };
    } catch (error) {
      if (error instanceof SvcError && error.status < 500) throw new ProtocolError(NOT_FOUND, `Resource ${uriOf(asked)} not found`);
      throw new ProtocolError(-32603, error instanceof SvcError ? error.message : 'The service failed to answer this request');
    }
  });
}
