import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cached } from '../../../src/mcp/remembered.ts';

describe('cached', () => {
  const schema = z.object({ names: z.preprocess((v) => (typeof v === 'string' ? v.split(',') : v), z.array(z.string())).optional(), n: z.number().default(1) });

  it('has the forms and judgements of the schema, the forms made once', async () => {
    const kept = cached(schema)['~standard'];
    const target = { target: 'draft-2020-12' } as const;
    for (const form of ['input', 'output'] as const) {
      expect(kept.jsonSchema[form](target)).toEqual(schema['~standard'].jsonSchema[form](target));
      expect(kept.jsonSchema[form](target)).toBe(kept.jsonSchema[form](target));
    }
    expect(kept.jsonSchema.input(target)).not.toEqual(kept.jsonSchema.output(target));
    expect(kept.jsonSchema.input({ target: 'draft-07' })).not.toEqual(kept.jsonSchema.input(target));
    expect(await kept.validate({ names: 'a,b' })).toEqual({ value: { names: ['a', 'b'], n: 1 } });
    expect(await kept.validate({ names: 5 })).toHaveProperty('issues');
  });
});
