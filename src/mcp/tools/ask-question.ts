/** ask_question: a question, answered in words. */
import { z } from 'zod';
import { includeTags, maxLimit, optionalRows, prompt, requireModel, shared, sqlOutput, verbose, viewsList } from './ai.ts';
import { tool } from './tool.ts';

export const askQuestion = tool({
  name: 'ask_question',
  title: 'Ask a question',
  description: "A question answered in words from the data by the server's language model, with the SQL behind it.",
  input: z.object({
    prompt,
    ...shared,
    views_list: viewsList,
    include_tags: includeTags,
    max_limit: maxLimit,
    note: z.string().optional().describe('Further context'),
    show_result_set: z.boolean().optional().describe('Return the rows too'),
    verbose,
  }),
  output: z.object({ answer: z.string(), sql: sqlOutput, rows: optionalRows }),
  run: async () => requireModel(),
});
