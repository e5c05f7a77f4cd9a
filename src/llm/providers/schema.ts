/** The JSON schema of a turn, in the form that all providers accept: that of OpenAI's strict mode. */
import { z } from 'zod';

/** A JSON schema, in the subset that the providers share. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The keywords that all providers accept. zod checks the rest (lengths, ranges, patterns) in the answer. */
const KEPT = new Set(['type', 'description', 'enum']);

const known = new WeakMap<z.ZodType, JsonSchema>();

/**
 * All members are required, no others are allowed, and there is no `$ref`. An optional member becomes nullable (form.ts removes the null).
 * @throws TypeError for what this form cannot express: records, recursion, `any`
 */
export function strictSchema(schema: z.ZodType): JsonSchema {
  let strict = known.get(schema);
  if (strict === undefined) {
    strict = strictly(z.toJSONSchema(schema, { target: 'draft-7', io: 'input', reused: 'inline', cycles: 'throw' }) as JsonSchema);
    known.set(schema, strict);
  }
  return strict;
}

function strictly(schema: JsonSchema): JsonSchema {
  const strict: Record<string, unknown> = Object.fromEntries(Object.entries(schema).filter(([keyword]) => KEPT.has(keyword)));
  if (schema.const !== undefined) strict.enum = [schema.const];
  const choices = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (choices !== undefined) return { ...strict, anyOf: choices.map(strictly) };
  if (schema.type === 'object') {
    if (typeof schema.properties !== 'object' || typeof schema.additionalProperties === 'object') throw new TypeError('a turn cannot ask for a record');
    const required = new Set((schema.required ?? []) as readonly string[]);
    const properties = Object.entries(schema.properties as Readonly<Record<string, JsonSchema>>).map(
      ([name, member]) => [name, required.has(name) ? strictly(member) : orNull(strictly(member))] as const,
    );
    return { ...strict, properties: Object.fromEntries(properties), required: properties.map(([name]) => name), additionalProperties: false };
  }
  if (schema.type === 'array') return { ...strict, items: strictly(schema.items as JsonSchema) };
  if (schema.type === undefined && strict.enum === undefined) throw new TypeError('a turn cannot ask for anything');
  return strict;
}

function orNull(schema: JsonSchema): JsonSchema {
  if (typeof schema.type === 'string' && schema.enum === undefined) return { ...schema, type: [schema.type, 'null'] };
  const choices = (schema.anyOf ?? [schema]) as readonly JsonSchema[];
  const nullable = [schema.type].flat().includes('null') || choices.some((s) => s.type === 'null');
  return nullable ? schema : { anyOf: [...choices, { type: 'null' }] };
}
