/** Schemas and parsers of REST input: bodies and headers. */
import { z } from 'zod';
import { badRequest } from '../errors.ts';
import type { ModelFiles } from '../service.ts';

/** The body of POST query. */
export const QUERY = z.object({
  query: z
    .string()
    .refine((text) => text.trim() !== '', 'must contain a statement')
    .meta({ description: 'One or more SQL statements, separated by `;`. The answer is that of the last statement' }),
  ontology_name: z.string().nullish().meta({ description: 'The ontology of the statements. `system_db`, an empty text or no value: no ontology' }),
});

/** The body of POST model/<ontology>/plan and apply. */
export const MODEL_FILES = z.object({
  files: z
    .array(z.object({ name: z.string().meta({ description: 'A name for messages' }), text: z.string().meta({ description: 'Statements, separated by `;`' }) }))
    .max(10_000),
  source: z
    .string()
    .min(1)
    .max(200)
    .nullish()
    .meta({ description: 'Who applies. With `prune`, only objects that an earlier apply of the source made are dropped' }),
  prune: z.boolean().nullish().meta({ description: 'Drop the objects that no file contains' }),
  expect: z.string().nullish().meta({ description: 'The version that the ontology must have; another one is answered with 409' }),
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

/** Parses the body `{ontology_name, query}` of POST query. @throws SvcError as `bodyOf` */
export const queryBody = (text: string): z.infer<typeof QUERY> => bodyOf(QUERY, text, '{"ontology_name": "<name>", "query": "<SQL>"}');

/** Parses the body of POST model/<ontology>/plan and apply. @throws SvcError as `bodyOf` */
export function modelFilesBody(text: string): ModelFiles {
  const { files, source, prune, expect } = bodyOf(MODEL_FILES, text, '{"files": [{"name": "<name>", "text": "<statements>"}]}');
  return { files, source: source ?? null, prune: prune ?? false, expect: expect ?? null };
}

/** Parses a body. @param form the form of the body, for the hint @throws SvcError 400 `malformed_json`; `malformed_body`, which names the member */
function bodyOf<T extends z.ZodType>(schema: T, text: string, form: string): z.infer<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest('malformed_json', 'The body is not valid JSON', { cause: error });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const member = issue?.path.join('.') ?? '';
  throw badRequest(
    'malformed_body',
    member === '' ? `The body must be a JSON object ${form}` : `The member ${JSON.stringify(member)} of the body is missing or has the wrong type`,
    {
      hint: `Send ${form}`,
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
