/** SYS_AGENTS_BENCHMARKS: for each agent a benchmark of its name, with the verified examples of its ontologies as questions. Clients of the field run them. */
import type { Caller } from '../../auth/authenticate.ts';
import { visibleAgents } from '../caller/agents.ts';
import { findOntology, loadGraph } from '../caller/lookup.ts';
import type { Working } from '../runtime.ts';
import { type VisibleExample, visibleExamples } from './examples.ts';

/** A benchmark as clients read it. `questions`: by number, each with its query and ontology. */
export interface Benchmark {
  readonly agent: string;
  readonly description: string | null;
  readonly questions: readonly { readonly question: string; readonly correct_sql: string; readonly correct_ontology: string }[];
  /** The last change of an example; null without examples. */
  readonly updated: string | null;
  readonly changedBy: string | null;
}

/** The benchmarks of the agents that a caller sees, with the examples that it sees and that are valid. @throws SvcError 503 */
export async function benchmarksOf(request: Working, caller: Caller): Promise<readonly Benchmark[]> {
  const known = new Map<string, Promise<readonly VisibleExample[]>>();
  const examples = (name: string): Promise<readonly VisibleExample[]> => {
    const row = findOntology(caller, name);
    const found = known.get(name) ?? (row === undefined ? Promise.resolve([]) : readAll(row));
    known.set(name, found);
    return found;
  };
  const readAll = async (row: NonNullable<ReturnType<typeof findOntology>>): Promise<readonly VisibleExample[]> =>
    (await visibleExamples(request, caller, row, await loadGraph(request.runtime, row), row.version)).filter((e) => e.error === null);
  const found: Benchmark[] = [];
  for (const { agent, ontologies } of visibleAgents(caller)) {
    const questions: Benchmark['questions'][number][] = [];
    let newest: VisibleExample | undefined;
    for (const ontology of ontologies) {
      for (const e of await examples(ontology)) {
        questions.push({ question: e.question, correct_sql: e.query, correct_ontology: ontology });
        if (newest === undefined || Date.parse(e.changedOn) > Date.parse(newest.changedOn)) newest = e;
      }
    }
    found.push({ agent: agent.name, description: agent.description, questions, updated: newest?.changedOn ?? null, changedBy: newest?.changedBy ?? null });
  }
  return found;
}
