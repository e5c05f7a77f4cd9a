/**
 * The agents that a caller sees (docs/design/rights-and-visibility.md#agents-and-their-lists): those with a visible ontology. Their lists omit what is hidden
 * from the caller.
 */
import type { Caller } from '../../auth/authenticate.ts';
import { canSee } from '../../auth/grants.ts';
import type { AgentRow } from '../../catalog/snapshot.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { Runtime } from '../runtime.ts';
import { loadGraph, visibleOntologies } from './lookup.ts';
import { seenBy, seesAll } from './sight.ts';

export interface SeenAgent {
  readonly agent: AgentRow;
  /** Names of the visible ontologies of the agent, in order. */
  readonly ontologies: readonly string[];
}

/** Returns the agents that a caller sees, with unfiltered options. */
export function visibleAgents({ snapshot, principal }: Caller): readonly SeenAgent[] {
  const names = new Map(visibleOntologies(snapshot, principal).map((o) => [o.key, o.name]));
  return snapshot.agents
    .map((agent) => ({ agent, ontologies: agent.ontologies.flatMap((key) => names.get(key) ?? []) }))
    .filter(({ agent, ontologies }) => ontologies.length > 0 || canSee(principal, ['agent', agent.name]));
}

/** Splits the list of names in an option. */
export const listOf = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((t) => t.trim())
    .filter((t) => t !== '');

/** Keywords of a list. */
const KEYWORDS = new Set(['*', 'none']);

const hasConcept = (graph: Graph, name: string): boolean => graph.concept(name) !== undefined;
const hasColumn = (graph: Graph, name: string): boolean =>
  /^entity_(id|type|label)$/i.test(name) || graph.property(name) !== undefined || graph.measure(name) !== undefined;

/** The options with names of the model. An empty list of concepts or views would mean all. */
const LISTS: readonly { readonly option: string; readonly exists: (graph: Graph, name: string) => boolean; readonly ifEmpty: string }[] = [
  { option: 'concepts_list', exists: hasConcept, ifEmpty: 'none' },
  { option: 'views_list', exists: (graph, name) => graph.view(name) !== undefined, ifEmpty: 'none' },
  { option: 'concept', exists: hasConcept, ifEmpty: '' },
  { option: 'exclude_properties', exists: hasColumn, ifEmpty: '' },
  { option: 'technical_context_properties', exists: hasColumn, ifEmpty: '' },
];

/** As `visibleAgents`, but lists contain only names that the caller sees. @throws SvcError 503 */
export async function filteredAgents(runtime: Runtime, caller: Caller): Promise<readonly SeenAgent[]> {
  return Promise.all(visibleAgents(caller).map((seen) => filtered(runtime, caller, seen)));
}

async function filtered(runtime: Runtime, { snapshot, principal }: Caller, { agent, ontologies }: SeenAgent): Promise<SeenAgent> {
  const all = ontologies.length === agent.ontologies.length && ontologies.every((o) => seesAll(principal, o));
  if (all || LISTS.every(({ option }) => agent.options[option] === undefined)) return { agent, ontologies };
  const rows = snapshot.ontologies.filter((o) => ontologies.includes(o.name));
  const graphs = await Promise.all(rows.map(async (o) => seenBy(principal, await loadGraph(runtime, o), runtime.parser)));
  const options: Record<string, string> = { ...agent.options };
  for (const { option, exists, ifEmpty } of LISTS) {
    const written = listOf(options[option]);
    if (written.length === 0) continue;
    const names = written.filter((name) => KEYWORDS.has(name) || graphs.some((g) => exists(g, name)));
    options[option] = names.length === 0 ? ifEmpty : names.join(', ');
  }
  return { agent: { ...agent, options }, ontologies };
}
