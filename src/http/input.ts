/** Parsers of REST input that most requests have: the body of a query, headers. schemas.ts describes the same input; a test compares both. */
import { badRequest, type SvcError } from '../errors.ts';
import { isReadOnly, type Permitted } from '../service.ts';

const QUERY_FORM = '{"ontology_name": "<name>", "query": "<SQL>"}';

/** The body of POST query. */
export interface QueryBody {
  readonly query: string;
  readonly ontology_name?: string | null | undefined;
}

/** Parses the body `{ontology_name, query}` of POST query. @throws SvcError 400 `malformed_json`; `malformed_body`, which names the member */
export function queryBody(text: string): QueryBody {
  const body = jsonOf(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw malformedBody(QUERY_FORM, '');
  const { query, ontology_name } = body as Readonly<Record<string, unknown>>;
  if (typeof query !== 'string' || query.trim() === '') throw malformedBody(QUERY_FORM, 'query');
  if (ontology_name !== undefined && ontology_name !== null && typeof ontology_name !== 'string') throw malformedBody(QUERY_FORM, 'ontology_name');
  return { query, ontology_name };
}

/** Parses JSON. @throws SvcError 400 `malformed_json` */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest('malformed_json', 'The body is not valid JSON', { cause: error });
  }
}

/** The error for a body of another form. @param form the required form @param member the path of the wrong member; empty: the body itself */
export const malformedBody = (form: string, member: string): SvcError =>
  badRequest(
    'malformed_body',
    member === '' ? `The body must be a JSON object ${form}` : `The member ${JSON.stringify(member)} of the body is missing or has the wrong type`,
    { hint: `Send ${form}` },
  );

/** True if the request asks for an asynchronous answer. */
export const wantsAsync = (headers: Headers): boolean => /^true$/i.test(headers.get('x-async') ?? '');

/** Reads the header `results-limit`; null if it is missing. @throws SvcError 400 `bad_results_limit` */
export function resultsLimit(headers: Headers): number | null {
  const value = headers.get('results-limit');
  if (value === null) return null;
  const limit = /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : 0;
  if (limit < 1) throw badRequest('bad_results_limit', 'results-limit must be a positive integer');
  return limit;
}

/** The statements that a request with these headers may have: with `x-read-only` only those that change nothing. Null without it: all that the caller's rights allow. */
export const permittedBy = (headers: Headers): Permitted | null => (isReadOnly(headers) ? 'read_only' : null);
