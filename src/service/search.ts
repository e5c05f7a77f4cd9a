/** Values of a property, to find the right word for a filter (docs/design/mcp.md#search_values). */
import { SvcError } from '../errors.ts';
import { quoteBack, quoteLiteral } from '../language/quote.ts';
import type { Answer, ServiceRequest } from './runtime.ts';
import { runScript } from './script.ts';

/** `property` may be a path (`lives_in[city].name`). `text` empty: all values. */
export interface ValueSearch {
  readonly ontology: string;
  readonly concept: string;
  readonly property: string;
  readonly text: string;
  readonly limit: number;
}

/**
 * The distinct values, without NULL, sorted, that contain the text literally and in any case, as rows of one column `value`.
 * It is a statement like a caller's own, so grants, policies and masks act on it.
 * @throws SvcError as `runScript`, without a position: the caller has written no SQL
 */
export async function searchValues(request: ServiceRequest, { ontology, concept, property, text, limit }: ValueSearch): Promise<Answer> {
  const value = quoteBack(property);
  const schema = property.includes('[') ? 'dsvc' : 'svc';
  const fits = text === '' ? '' : ` AND strpos(lower(CAST(${value} AS text)), lower(${quoteLiteral(text)})) > 0`;
  const sql = `SELECT ${value} AS "value" FROM ${schema}.${quoteBack(concept)} WHERE ${value} IS NOT NULL${fits} GROUP BY ${value} ORDER BY ${value}`;
  return runScript(request, { ontology, sql, limit, datasource: null, permitted: 'read' }).catch((error: unknown) => {
    throw error instanceof SvcError ? error.at(undefined) : error;
  });
}
