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

/** As `visibleAgents`, but lists contain only names that the caller sees. @throws SvcError 503 */
export async function filteredAgents(runtime: Runtime, caller: Caller): Promise<readonly SeenAgent[]> {
  return Promise.all(visibleAgents(caller).map((seen) => filtered(runtime, caller, seen)));
}

async function filtered(runtime: Runtime, { snapshot, principal }: Caller, { agent, ontologies }: SeenAgent): Promise<SeenAgent> {
  const { concepts_list, views_list } = agent.options;
  const all = ontologies.length === agent.ontologies.length && ontologies.every((o) => seesAll(principal, o));
  if (all || (concepts_list === undefined && views_list === undefined)) return { agent, ontologies };
  const rows = snapshot.ontologies.filter((o) => ontologies.includes(o.name));
  const graphs = await Promise.all(rows.map(async (o) => seenBy(principal, await loadGraph(runtime, o), runtime.parser)));
  const narrowed = (text: string | undefined, exists: (graph: Graph, name: string) => boolean): string | undefined => {
    if (text === undefined) return undefined;
    const names = listOf(text).filter((name) => KEYWORDS.has(name) || graphs.some((g) => exists(g, name)));
    // an empty list would mean all
    return names.length === 0 && listOf(text).length > 0 ? 'none' : names.join(', ');
  };
  const lists = {
    concepts_list: narrowed(concepts_list, (g, name) => g.concept(name) !== undefined),
    views_list: narrowed(views_list, (g, name) => g.view(name) !== undefined),
  };
  const options = Object.fromEntries(Object.entries({ ...agent.options, ...lists }).filter((o): o is [string, string] => o[1] !== undefined));
  return { agent: { ...agent, options }, ontologies };
}
