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
 * Returns the distinct values that contain the text, ignoring case and without NULL, as rows with one column `value`. A value that is equal to the text comes first, then
 * those that begin with it, then those with a word that begins with it, then the others; each kind is sorted.
 * The statement runs like one of the caller, so grants, policies and masks apply.
 * @throws SvcError as `runScript`, without a position, because the caller did not write the SQL
 */
export async function searchValues(request: ServiceRequest, { ontology, concept, property, text, limit }: ValueSearch): Promise<Answer> {
  const value = quoteBack(property);
  const schema = property.includes('[') ? 'dsvc' : 'svc';
  const order = text === '' ? value : `${rankOf(`CAST(${value} AS text)`, text)}, ${value}`;
  const fits = text === '' ? '' : ` AND strpos(lower(CAST(${value} AS text)), lower(${quoteLiteral(text)})) > 0`;
  const sql = `SELECT ${value} AS "value" FROM ${schema}.${quoteBack(concept)} WHERE ${value} IS NOT NULL${fits} GROUP BY ${value} ORDER BY ${order}`;
  return runScript(request, { ontology, sql, limit, datasource: null, permitted: 'read' }).catch((error: unknown) => {
    throw error instanceof SvcError ? error.at(undefined) : error;
  });
}

/** What separates words in a value. */
const BETWEEN_WORDS = '-_/.,;:()&+"';

/** SQL for the rank of a value. Both arguments of `translate` have the same length, so each separator becomes a space. */
function rankOf(value: string, text: string): string {
  const folded = `lower(${value})`;
  const wanted = `lower(${quoteLiteral(text)})`;
  const spaced = (of: string): string => `translate(${of}, ${quoteLiteral(BETWEEN_WORDS)}, ${quoteLiteral(' '.repeat(BETWEEN_WORDS.length))})`;
  const startsWord = `strpos(${spaced(folded)}, ' ' || ${spaced(wanted)}) > 0`;
  return `CASE WHEN ${folded} = ${wanted} THEN 0 WHEN strpos(${folded}, ${wanted}) = 1 THEN 1 WHEN ${startsWord} THEN 2 ELSE 3 END`;
}
