/** Schemas of REST input, for the OpenAPI documents and for bodies that are rare. input.ts reads the others without the library. */
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import type { ModelFiles } from '../service.ts';
import { json } from './answers.ts';
import type { AppContext, AppEnv } from './context.ts';
import { jsonOf, malformedBody } from './input.ts';

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
  version: z.string().nullish().meta({ description: 'Only for a plan: instead of what files change, the changes of a rollback to this version' }),
});

/** Validates the path parameter of an asynchronous result. An invalid id gets the same answer as an unknown one. */
export const asyncId = zValidator('param', z.object({ id: z.guid() }), (result, c) =>
  result.success ? undefined : json(c as unknown as AppContext, 404, { error: 'Response not found' }),
) as unknown as MiddlewareHandler<AppEnv>;

/** The header `results-limit`. */
export const RESULTS_LIMIT = z
  .string()
  .regex(/^\s*\d{1,15}\s*$/)
  .transform(Number)
  .pipe(z.int().min(1))
  .meta({ description: 'The maximum number of rows; with `nested`, of root objects' });

/** Parses the body of POST model/<ontology>/plan and apply. @throws SvcError 400 `malformed_json`; `malformed_body`, which names the member */
export function modelFilesBody(text: string): ModelFiles {
  const result = MODEL_FILES.safeParse(jsonOf(text));
  if (!result.success) throw malformedBody('{"files": [{"name": "<name>", "text": "<statements>"}]}', result.error.issues[0]?.path.join('.') ?? '');
  const { files, source, prune, expect, version } = result.data;
  return { files, source: source ?? null, prune: prune ?? false, expect: expect ?? null, ...(version == null ? {} : { version }) };
}
