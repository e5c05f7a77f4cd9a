/** Caches the JSON form of schemas. The SDK requests it for each list and each call, and a server exists only for one request. */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';

type Form = 'input' | 'output';

export function cached<T extends z.ZodType>(schema: T): StandardSchemaWithJSON<z.input<T>, z.output<T>> {
  const { jsonSchema, ...standard } = schema['~standard'] as StandardSchemaWithJSON<z.input<T>, z.output<T>>['~standard'];
  const made = new Map<string, Record<string, unknown>>();
  const form =
    (of: Form): (typeof jsonSchema)[Form] =>
    (options) => {
      const key = `${of} ${options.target}`;
      const known = made.get(key) ?? jsonSchema[of](options);
      made.set(key, known);
      return known;
    };
  return { '~standard': { ...standard, jsonSchema: { input: form('input'), output: form('output') } } };
}
