/** The JSON schema for providers, and extracting the value from their answers. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { merged } from '../../../src/llm/providers/fetch.ts';
import { valueIn } from '../../../src/llm/providers/form.ts';
import { type JsonSchema, strictSchema } from '../../../src/llm/providers/schema.ts';
import { cpuSeconds } from '../../support/cpu.ts';

describe('strictSchema', () => {
  it('requires all members, allows no others, and uses only keywords that all providers accept', () => {
    const part = z.object({ name: z.string().regex(/^a/), n: z.number().int().min(1).max(9).optional() });
    const schema = z.object({
      kind: z.enum(['a', 'b']).optional(),
      same: z.literal('x'),
      parts: z.array(part).max(3),
      again: part.nullable().optional(),
      either: z.discriminatedUnion('t', [z.object({ t: z.literal('p'), a: z.string() }), z.object({ t: z.literal('q') })]).describe('One of two'),
      late: z.string().default('x'),
    });
    const strictPart = {
      type: 'object',
      properties: { name: { type: 'string' }, n: { type: ['integer', 'null'] } },
      required: ['name', 'n'],
      additionalProperties: false,
    };
    expect(strictSchema(schema)).toEqual({
      type: 'object',
      properties: {
        kind: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] },
        same: { type: 'string', enum: ['x'] },
        parts: { type: 'array', items: strictPart },
        again: { anyOf: [strictPart, { type: 'null' }] },
        either: {
          description: 'One of two',
          anyOf: [
            { type: 'object', properties: { t: { type: 'string', enum: ['p'] }, a: { type: 'string' } }, required: ['t', 'a'], additionalProperties: false },
            { type: 'object', properties: { t: { type: 'string', enum: ['q'] } }, required: ['t'], additionalProperties: false },
          ],
        },
        late: { type: ['string', 'null'] },
      },
      required: ['kind', 'same', 'parts', 'again', 'either', 'late'],
      additionalProperties: false,
    });
    expect(strictSchema(schema)).toBe(strictSchema(schema));
  });

  it.each([
    ['a record', z.object({ a: z.record(z.string(), z.string()) })],
    ['anything', z.object({ a: z.unknown() })],
    [
      'itself',
      (): z.ZodType => {
        const node: z.ZodType = z.object({ next: z.lazy(() => node).optional() });
        return node;
      },
    ],
  ])('refuses %s, which providers do not support', (_, schema) => {
    expect(() => strictSchema(typeof schema === 'function' ? schema() : schema)).toThrow();
  });
});

describe('valueIn', () => {
  const schema = z.object({ sql: z.string().min(1), list: z.array(z.object({ a: z.number().optional() })).optional(), note: z.string().nullable() });
  const value = { sql: 'SELECT "{" FROM a', list: [{ a: 1 }, {}], note: null };

  it.each([
    ['all of it', JSON.stringify(value)],
    ['after braces that are not JSON', `A set {a, b} and {"sql": 1}: ${JSON.stringify(value)} }`],
    ['within another text of JSON', `[${JSON.stringify(value)}]`],
    ['null for an optional member, at any depth', JSON.stringify({ ...value, list: [{ a: 1 }, { a: null }] })],
    ['with an end of line in a fence', `\`\`\`\n${JSON.stringify(value, null, 4)}\n\`\`\`\r\n`],
  ])('finds %s', (_, text) => expect(valueIn(text, schema)).toEqual(value));

  it.each([
    ['none', 'There is none {'],
    ['an object in another one', JSON.stringify({ answer: value })],
    ['null for a required member', JSON.stringify({ ...value, sql: null })],
    ['nothing but braces', '{'.repeat(50_000)],
    ['two', `${JSON.stringify(value)} ${JSON.stringify({ ...value, sql: 'x' })}`],
  ])('finds nothing in %s', (_, text) => expect(valueIn(text, schema)).toBeUndefined());

  it.each([
    ['numbers in place of objects', '0'],
    ['objects without members', '{"a":null}'],
  ])('refuses a long list of %s at once', (_, element) => {
    const text = `{"sql":"x","note":null,"list":[${`${element},`.repeat(20_000)}0]}`;
    const before = process.cpuUsage();
    expect(valueIn(text, schema)).toBeUndefined();
    expect(cpuSeconds(before)).toBeLessThan(0.5);
  });

  it('removes many nulls from a wide object at once', () => {
    const wide = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`k${i}`, 0]));
    const list = Array.from({ length: 100 }, () => ({ a: null }));
    const text = JSON.stringify({ ...value, ...wide, list });
    const before = process.cpuUsage();
    expect(valueIn(text, schema)).toEqual({ ...value, list: list.map(() => ({})) });
    expect(cpuSeconds(before)).toBeLessThan(0.5);
  });

  it('ignores members of the prototype', () => {
    expect(valueIn('{"sql":"x","note":null,"__proto__":{"polluted":1}}', schema)).toEqual({ sql: 'x', note: null });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('merged', () => {
  it.each<[unknown, JsonSchema, JsonSchema]>([
    [
      { a: 1, b: { c: 1, d: 2 } },
      { b: { d: 3, e: [4] }, f: null },
      { a: 1, b: { c: 1, d: 3, e: [4] }, f: null },
    ],
    [
      { a: [1], b: { c: 1 } },
      { a: [2], b: 'x' },
      { a: [2], b: 'x' },
    ],
    [[1], { a: 1 }, { a: 1 }],
  ])('%j with %j', (value, params, expected) => expect(merged(value, params)).toEqual(expected));

  it('does not change prototypes', () => {
    const result = merged({}, JSON.parse('{"__proto__":{"polluted":1}}'));
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
