/** Schemas and parsers of REST input: bodies and headers. */
import { z } from 'zod';
import { badRequest } from '../errors.ts';

/** The body of POST query. */
export const QUERY = z.object({
  query: z
    .string()
    .refine((text) => text.trim() !== '', 'must contain a statement')
    .meta({ description: 'One or more SQL statements, separated by `;`. The answer is that of the last statement' }),
  ontology_name: z.string().nullish().meta({ description: 'The ontology of the statements. `system_db`, an empty text or no value: no ontology' }),
});

/** The path parameter of an asynchronous result: its id. */
export const ASYNC_ID = z.object({ id: z.guid() });

/** The header `results-limit`. */
export const RESULTS_LIMIT = z
  .string()
  .regex(/^\s*\d{1,15}\s*$/)
  .transform(Number)
  .pipe(z.int().min(1))
  .meta({ description: 'The maximum number of rows; with `nested`, of root objects' });

/** Parses the body `{ontology_name, query}` of POST query. @throws SvcError 400 `malformed_json`; `malformed_body`, which names the member */
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
      : `The member ${JSON.stringify(member)} of the body is missing or has the wrong type`,
    {
      hint: 'Send {"ontology_name": "<name>", "query": "<SQL>"}',
    },
  );
}

/** Reads the header `results-limit`; null if it is missing. @throws SvcError 400 `bad_results_limit` */
export function resultsLimit(headers: Headers): number | null {
  const value = headers.get('results-limit');
  if (value === null) return null;
  const limit = RESULTS_LIMIT.safeParse(value);
  if (!limit.success) throw badRequest('bad_results_limit', 'results-limit must be a positive integer');
  return limit.data;
}
