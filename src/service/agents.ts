/**
 * Agents as a caller sees them (docs/design/rights-and-visibility.md#agents-and-their-lists): those with an ontology that it sees, their lists without what is
 * hidden from it.
 */
import type { Caller } from '../auth/authenticate.ts';
import { canSee } from '../auth/grants.ts';
import type { AgentRow } from '../catalog/snapshot.ts';
import type { Graph } from '../ontology/graph.ts';
import { loadGraph, visibleOntologies } from './lookup.ts';
import type { Runtime } from './runtime.ts';
import { seenBy, seesAll } from './sight.ts';

export interface SeenAgent {
  readonly agent: AgentRow;
  /** Names of those of its ontologies that the caller sees, in their order. */
  readonly ontologies: readonly string[];
}

/** The agents that a caller sees, their options as they are. */
export function visibleAgents({ snapshot, principal }: Caller): readonly SeenAgent[] {
  const names = new Map(visibleOntologies(snapshot, principal).map((o) => [o.key, o.name]));
  return snapshot.agents
    .map((agent) => ({ agent, ontologies: agent.ontologies.flatMap((key) => names.get(key) ?? []) }))
    .filter(({ agent, ontologies }) => ontologies.length > 0 || canSee(principal, ['agent', agent.name]));
}

/** The names of a list in an option. */
export const listOf = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((t) => t.trim())
    .filter((t) => t !== '');

/** Words in a list that name nothing. */
const WORDS = new Set(['*', 'none']);

/** The same with lists that name only what the caller sees. @throws SvcError 503 */
export async function toldAgents(runtime: Runtime, caller: Caller): Promise<readonly SeenAgent[]> {
  return Promise.all(visibleAgents(caller).map((seen) => told(runtime, caller, seen)));
}

async function told(runtime: Runtime, { snapshot, principal }: Caller, { agent, ontologies }: SeenAgent): Promise<SeenAgent> {
  const { concepts_list, views_list } = agent.options;
  const all = ontologies.length === agent.ontologies.length && ontologies.every((o) => seesAll(principal, o));
  if (all || (concepts_list === undefined && views_list === undefined)) return { agent, ontologies };
  const rows = snapshot.ontologies.filter((o) => ontologies.includes(o.name));
  const graphs = await Promise.all(rows.map(async (o) => seenBy(principal, await loadGraph(runtime, o), runtime.parser)));
  const narrowed = (text: string | undefined, exists: (graph: Graph, name: string) => boolean): string | undefined => {
    if (text === undefined) return undefined;
    const names = listOf(text).filter((name) => WORDS.has(name) || graphs.some((g) => exists(g, name)));
    // an empty list would stand for all
    return names.length === 0 && listOf(text).length > 0 ? 'none' : names.join(', ');
  };
  const lists = {
    concepts_list: narrowed(concepts_list, (g, name) => g.concept(name) !== undefined),
    views_list: narrowed(views_list, (g, name) => g.view(name) !== undefined),
  };
  const options = Object.fromEntries(Object.entries({ ...agent.options, ...lists }).filter((o): o is [string, string] => o[1] !== undefined));
  return { agent: { ...agent, options }, ontologies };
}
