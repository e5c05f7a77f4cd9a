/** Verified examples as the knowledge bases that public clients search: one knowledge base for each ontology, by its name. */

import { examplesOf } from '../service/ops/questions.ts';
import { findOntology, type ServiceRequest } from '../service.ts';
import { likeness } from './similar.ts';

/** A search in knowledge bases, as clients send it. */
export interface KnowledgeSearch {
  readonly question: string;
  readonly names: readonly string[];
  readonly most: number;
  readonly high: number;
  readonly medium: number;
}

/** An example that is similar to the question. */
export interface KnowledgeMatch {
  readonly knowledge_base: string;
  readonly example_name: string;
  readonly question: string;
  readonly query: string;
  readonly instructions: string | null;
  readonly validate_sql: 1;
  /** The similarity of the two questions, 0 to 1. */
  readonly confidence: number;
  readonly changed_on: null;
}

export interface KnowledgeMatches {
  readonly matches: readonly KnowledgeMatch[];
  readonly match_level: 'high' | 'medium' | 'none';
  readonly per_kb_max_changed_on: Readonly<Record<string, string>>;
}

/** Finds the valid examples that the caller may run and that are similar to a question, best first. Unknown names have no examples. @throws SvcError 503 */
export async function searchKnowledge(request: ServiceRequest, { question, names, most, high, medium }: KnowledgeSearch): Promise<KnowledgeMatches> {
  const like = remembered(likeness(question));
  const found: KnowledgeMatch[] = [];
  const rows = new Set(names.flatMap((name) => findOntology(request.caller, name) ?? []));
  for (const row of rows) {
    const rank = <T extends { readonly question: string }>(examples: readonly T[]): readonly T[] =>
      examples.filter((e) => like(e.question) >= medium).sort((a, b) => like(b.question) - like(a.question));
    for (const e of await examplesOf(request, row.name, { rank, most })) {
      const text = { knowledge_base: row.name, example_name: e.question, question: e.question, query: e.query, instructions: e.description };
      found.push({ ...text, validate_sql: 1, confidence: like(e.question), changed_on: null });
    }
  }
  const matches = found.sort((a, b) => b.confidence - a.confidence).slice(0, most);
  const best = matches[0]?.confidence ?? 0;
  const level = matches.length === 0 ? 'none' : best >= high ? 'high' : 'medium';
  return { matches, match_level: level, per_kb_max_changed_on: {} };
}

/** The same function, which computes the value of each text once. */
function remembered(of: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const value = known.get(text) ?? of(text);
    known.set(text, value);
    return value;
  };
}
