/** ask_question: a question, answered in words. */
import { z } from 'zod';
import { askQuestion as ask } from '../../llm/questions.ts';
import {
  askingOf,
  conversationArgument,
  details,
  detailsIf,
  includeTags,
  maxLimit,
  onAmbiguity,
  optionalRows,
  prompt,
  readingArgument,
  readingsIf,
  readingsOutput,
  shared,
  sqlOutput,
  statusOutput,
  verbose,
  viewsList,
} from './ai.ts';
import { tool } from './tool.ts';

export const askQuestion = tool({
  name: 'ask_question',
  title: 'Ask a question',
  description: "A question answered in words from the data by the server's language model, with the SQL that was run.",
  input: z.object({
    prompt,
    ...shared,
    views_list: viewsList,
    include_tags: includeTags,
    max_limit: maxLimit,
    note: z.string().optional().describe('Further context'),
    on_ambiguity: onAmbiguity.optional().describe('If the question has several meanings: ask (default) returns them as readings; first takes the most likely'),
    reading: readingArgument,
    conversation_id: conversationArgument,
    show_result_set: z.boolean().optional().describe('Also return the rows'),
    verbose,
  }),
  output: z.object({
    status: statusOutput,
    readings: readingsOutput,
    answer: z.string(),
    sql: sqlOutput,
    rows: optionalRows,
    warnings: z.array(z.string()).optional(),
    details,
  }),
  asksModel: true,
  async run(call, { show_result_set, ...args }) {
    const { status, readings, answer, warnings, sql, rows, details: made } = await ask(askingOf(call, args));
    call.note({ sql, rows: rows.rows.length });
    return {
      status,
      ...readingsIf(readings),
      answer,
      sql,
      ...(show_result_set === true ? { rows: rows.rows } : {}),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...detailsIf(args.verbose, made),
    };
  },
});
