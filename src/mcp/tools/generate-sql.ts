/** generate_sql: writes the SQL for a question without running it. */
import { z } from 'zod';
import { generateSql as generate } from '../../llm/questions.ts';
import { askingOf, caseSensitive, details, detailsIf, prompt, shared, sqlOutput, verbose, viewsList } from './ai.ts';
import { tool } from './tool.ts';

export const generateSql = tool({
  name: 'generate_sql',
  title: 'Write SQL for a question',
  description: "SQL for a question, written by the server's language model and checked, not run. Run it with execute_sql.",
  input: z.object({ prompt, ...shared, views_list: viewsList, db_is_case_sensitive: caseSensitive, verbose }),
  output: z.object({
    sql: sqlOutput,
    ontology: z.string(),
    concept: z.string(),
    schema: z.string(),
    is_valid: z.boolean(),
    error: z.string().optional(),
    details,
  }),
  asksModel: true,
  async run(call, args) {
    const { details: made, ...generated } = await generate(askingOf(call, args));
    call.note({ sql: generated.sql });
    return { ...generated, ...detailsIf(args.verbose, made) };
  },
});
