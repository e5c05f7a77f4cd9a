/** The prompts that the server offers. */
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Session } from './call.ts';

const user = (text: string) => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] });

const ontology = z.string().optional().describe('Name of a knowledge graph');
const toExplore = z.object({ ontology });
const toAnswer = z.object({ question: z.string().min(1).describe('The question'), ontology });

export function addPrompts(server: McpServer, { target }: Session): void {
  const chosen = (name: string | undefined): string | null => name?.trim() || target.ontology;

  server.registerPrompt(
    'explore',
    { title: 'Explore a knowledge graph', description: 'What it contains, and which questions it can answer', argsSchema: toExplore },
    ({ ontology: name }) => {
      const graph = chosen(name);
      const first = graph === null ? 'Call list_ontologies and choose the most interesting knowledge graph.' : `Use the knowledge graph '${graph}'.`;
      return user(`${first} Call describe_knowledge_graph with include=["model"]. Tell me in a few sentences what it is about, list its main concepts with their numbers of instances \
(SELECT COUNT(*) FROM svc.concept), and propose five questions that it can answer, each over a relationship or a measure.`);
    },
  );
  server.registerPrompt(
    'answer',
    {
      title: 'Answer a question',
      description: 'From a question to a verified answer',
      argsSchema: toAnswer,
    },
    ({ question, ontology: name }) => {
      const graph = chosen(name);
      return user(`Question: ${question}\n\n${graph === null ? 'Call list_ontologies and choose the knowledge graph that can answer it. ' : `Use the knowledge graph '${graph}'. `}\
Call describe_knowledge_graph with include=["model"], find the concept and the paths that the question needs, look up filter values with search_values, check the SQL with execute_sql and dry_run, then run it. \
Answer in words with the numbers from the rows, show the SQL, and state your assumptions.`);
    },
  );
}
