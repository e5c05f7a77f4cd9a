/** The agent and the ontology of a call (docs/design/mcp.md#the-agent-and-the-ontology-of-a-call). */
import type { Caller } from '../../auth/authenticate.ts';
import type { Config } from '../../config.ts';
import { badRequest, forbidden, notFound, type SvcError } from '../../errors.ts';
import { sameName } from '../../ontology/names.ts';
import { type SeenAgent, visibleAgents } from './agents.ts';
import { findOntology } from './lookup.ts';

/** The names in the headers and the URL; null if absent. */
export interface Named {
  readonly ontology: string | null;
  readonly agent: string | null;
  /** The id of the conversation that a question belongs to. */
  readonly conversation?: string | null;
}

/** The defaults from the settings. */
export type Defaults = Pick<Config['mcp'], 'defaultOntology' | 'defaultAgent'>;

/** The default target of a call. */
export interface Target {
  /** Name of the ontology, or null. */
  readonly ontology: string | null;
  /** Whether the request itself named the ontology. */
  readonly isNamed: boolean;
  readonly agent: SeenAgent | undefined;
  /** The id of the conversation, in lower case, or null for a single question. */
  readonly conversation?: string | null;
}

/** `x-ontology` and `x-agent`, else `?ontology=` and `?agent=`; `x-conversation-id`. */
export function namedBy(headers: Headers, search: URLSearchParams): Named {
  const text = (name: string): string | null => headers.get(`x-${name}`)?.trim() || search.get(name)?.trim() || null;
  return { ontology: text('ontology'), agent: text('agent'), conversation: headers.get('x-conversation-id') };
}

const noOntology = (name: string): SvcError => forbidden('no_access', `no access to ontology '${name}'`);

/** @throws SvcError 403 `no_access` for a named agent or ontology that is unknown, hidden, or outside the agent; 400 `bad_conversation_id` */
export function targetOf(caller: Caller, named: Named, { defaultOntology, defaultAgent }: Defaults): Target {
  const agents = visibleAgents(caller);
  const agentOf = (name: string): SeenAgent | undefined => agents.find(({ agent }) => sameName(agent.name, name));
  const agent = named.agent !== null ? agentOf(named.agent) : defaultAgent === null ? undefined : agentOf(defaultAgent);
  if (named.agent !== null && agent === undefined) throw forbidden('no_access', `no access to agent '${named.agent}'`);
  const conversation = conversationId(named.conversation ?? null);
  if (named.ontology !== null) return { ontology: within(caller, agent, named.ontology), isNamed: true, agent, conversation };
  if (agent !== undefined) return { ontology: agent.ontologies[0] ?? null, isNamed: false, agent, conversation };
  return { ontology: defaultOntology === null ? null : (findOntology(caller, defaultOntology)?.name ?? null), isNamed: false, agent, conversation };
}

/** The ontology of a tool's call. @throws SvcError 404 `ontology_not_found`; 403 `no_access` */
export function ontologyOf(
  caller: Caller,
  { ontology, agent }: Pick<Target, 'ontology' | 'agent'>,
  argument: string | undefined,
  hint = 'Name one in the argument `ontology`; list_ontologies lists them',
): string {
  if (argument !== undefined && argument.trim() !== '') return within(caller, agent, argument.trim());
  if (ontology !== null) return ontology;
  throw notFound('ontology_not_found', 'Ontology not found', { hint });
}

/** @throws SvcError 403 `no_access` */
function within(caller: Caller, agent: SeenAgent | undefined, name: string): string {
  const found = findOntology(caller, name)?.name;
  if (found === undefined || (agent !== undefined && !agent.ontologies.includes(found))) throw noOntology(name);
  return found;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of a conversation as it is stored, or null if the text is missing or empty. @throws SvcError 400 `bad_conversation_id` */
export function conversationId(text: string | null): string | null {
  const id = text?.trim().toLowerCase() ?? '';
  if (id === '') return null;
  if (UUID.test(id)) return id;
  throw badRequest('bad_conversation_id', 'The id of a conversation must be a UUID', {
    hint: 'Make a random UUID for each conversation, and send it with each question',
  });
}
