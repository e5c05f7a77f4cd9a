/** What REST callers may send: bodies by schema, headers. */
import { z } from 'zod';
import { badRequest } from '../errors.ts';

/** The body of POST query. */
export const QUERY = z.object({
  query: z
    .string()
    .refine((text) => text.trim() !== '', 'must hold a statement')
    .meta({ description: 'One or several SQL statements, parted by `;`: the answer is that of the last one' }),
  ontology_name: z.string().nullish().meta({ description: 'The ontology that the statements are about; `system_db`, the empty text or nothing: none' }),
});

/** The path of an asynchronous answer: its id. */
export const ASYNC_ID = z.object({ id: z.guid() });

/** The header `results-limit`. */
export const RESULTS_LIMIT = z
  .string()
  .regex(/^\s*\d{1,15}\s*$/)
  .transform(Number)
  .pipe(z.int().min(1))
  .meta({ description: 'At most so many rows; with `nested` so many roots' });

/** `{ontology_name, query}` of POST query. @throws SvcError 400 `malformed_json`, `malformed_body` naming the member */
export function queryBody(text: string): z.infer<typeof QUERY> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest('malformed_json', 'The body is not valid JSON', { cause: error });
  }
  const result = QUERY.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const member = issue?.path.join('.') ?? '';
  throw badRequest(
    'malformed_body',
    member === ''
      ? 'The body must be a JSON object {"ontology_name", "query"}'
      : `The member ${JSON.stringify(member)} of the body is missing or of a wrong kind`,
    {
      hint: 'Send {"ontology_name": "<name>", "query": "<SQL>"}',
    },
  );
}

/** The header `results-limit`, or null. @throws SvcError 400 `bad_results_limit` */
export function resultsLimit(headers: Headers): number | null {
  const value = headers.get('results-limit');
  if (value === null) return null;
  const limit = RESULTS_LIMIT.safeParse(value);
  if (!limit.success) throw badRequest('bad_results_limit', 'results-limit must be a positive integer');
  return limit.data;
}
