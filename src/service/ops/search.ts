/** Searches values of a property, to find values for filters (docs/design/mcp.md#search_values). */
import { SvcError } from '../../errors.ts';
import { quoteBack, quoteLiteral } from '../../language/quote.ts';
import type { Answer, ServiceRequest } from '../runtime.ts';
import { runScript } from './script.ts';

/** A search. `property` may be a path (`lives_in[city].name`). An empty `text` matches all values. */
export interface ValueSearch {
  readonly ontology: string;
  readonly concept: string;
  readonly property: string;
  readonly text: string;
  readonly limit: number;
}

/**
 * Returns the distinct values that contain the text, ignoring case, sorted and without NULL, as rows with one column `value`.
 * The statement runs like one of the caller, so grants, policies and masks apply.
 * @throws SvcError as `runScript`, without a position, because the caller did not write the SQL
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
