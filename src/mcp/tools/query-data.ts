/** query_data: answers a question with rows. */
import { z } from 'zod';
import { queryData as query } from '../../llm/questions.ts';
import {
  askingOf,
  conversationArgument,
  details,
  detailsIf,
  includeTags,
  maxLimit,
  onAmbiguity,
  prompt,
  readingArgument,
  readingsIf,
  readingsOutput,
  rowsOutput,
  shared,
  sqlOutput,
  statusOutput,
  truncatedOutput,
  verbose,
  viewsList,
} from './ai.ts';
import { tool } from './tool.ts';

export const queryData = tool({
  name: 'query_data',
  title: 'Query by question',
  description:
    "Rows that answer a question in natural language; the server's language model writes the SQL. Prefer execute_sql when you can write it yourself.",
  input: z.object({
    prompt,
    ...shared,
    views_list: viewsList,
    include_tags: includeTags,
    max_limit: maxLimit,
    on_ambiguity: onAmbiguity.optional().describe('If the question has several meanings: ask returns them as readings; first (default) takes the most likely'),
    reading: readingArgument,
    conversation_id: conversationArgument,
    verbose,
  }),
  output: z.object({
    status: statusOutput,
    readings: readingsOutput,
    rows: rowsOutput,
    row_count: z.number().int(),
    truncated: truncatedOutput,
    sql: sqlOutput,
    ontology: z.string(),
    concept: z.string(),
    schema: z.string(),
    details,
  }),
  asksModel: true,
  async run(call, args) {
    const { status, readings, rows, truncated, sql, ontology, concept, schema, details: made } = await query(askingOf(call, args));
    call.note({ sql, rows: rows.length });
    return { status, ...readingsIf(readings), rows, row_count: rows.length, truncated, sql, ontology, concept, schema, ...detailsIf(args.verbose, made) };
  },
});
