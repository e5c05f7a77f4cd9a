/** input.ts reads the input that schemas.ts describes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { queryBody, resultsLimit } from '../../../src/http/input.ts';
import { modelFilesBody, QUERY, RESULTS_LIMIT } from '../../../src/http/schemas.ts';
import { generated } from '../../support/generated.ts';

const codeOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error instanceof SvcError ? [error.code, error.message] : error;
  }
};

describe('the body of a query', () => {
  const member = fc.option(fc.oneof(fc.string(), fc.constantFrom('', ' \n', 'SELECT 1'), fc.integer(), fc.boolean(), fc.constant(null)), { nil: undefined });
  it('is what the schema accepts', () => {
    const body = fc.oneof(
      fc.record({ query: member, ontology_name: member, more: member }),
      fc.json().map((text) => JSON.parse(text) as unknown),
    );
    fc.assert(
      fc.property(body, (value) => {
        const parsed = QUERY.safeParse(JSON.parse(JSON.stringify(value)));
        const read = codeOf(() => queryBody(JSON.stringify(value)));
        if (parsed.success) expect(read).toEqual({ ontology_name: undefined, ...parsed.data });
        else expect(read).toEqual(['malformed_body', expect.stringContaining(parsed.error.issues[0]?.path.join('.') ?? '')]);
      }),
      generated(500),
    );
  });

  it.each([
    ['{"query":', 'malformed_json', 'The body is not valid JSON'],
    ['[]', 'malformed_body', 'The body must be a JSON object {"ontology_name": "<name>", "query": "<SQL>"}'],
    ['null', 'malformed_body', 'The body must be a JSON object {"ontology_name": "<name>", "query": "<SQL>"}'],
    ['{}', 'malformed_body', 'The member "query" of the body is missing or has the wrong type'],
    ['{"query":"SELECT 1","ontology_name":1}', 'malformed_body', 'The member "ontology_name" of the body is missing or has the wrong type'],
  ])('%s is refused', (text, ...error) => expect(codeOf(() => queryBody(text))).toEqual(error));
});

it('the header results-limit is what the schema accepts', () => {
  const text = fc.oneof(fc.integer().map(String), fc.constantFrom('0', '00', '007', ' 5 ', '1e3', '-1', '+1', '', '1.0', '9'.repeat(15), '9'.repeat(16)));
  fc.assert(
    fc.property(text, (value) => {
      const parsed = RESULTS_LIMIT.safeParse(value);
      const read = codeOf(() => resultsLimit({ get: () => value } as unknown as Headers));
      expect(read).toEqual(parsed.success ? parsed.data : ['bad_results_limit', 'results-limit must be a positive integer']);
    }),
    generated(300),
  );
});

it('names the wrong member of model files', () => {
  expect(codeOf(() => modelFilesBody('{"files":[{"name":"a"}]}'))).toEqual([
    'malformed_body',
    'The member "files.0.text" of the body is missing or has the wrong type',
  ]);
  expect(modelFilesBody('{"files":[{"name":"a","text":"b"}]}')).toEqual({ files: [{ name: 'a', text: 'b' }], source: null, prune: false, expect: null });
});
