/** Sample rows of a concept, view or cube, which show a language model what values look like. */
import { SvcError } from '../../errors.ts';
import { quoteBack } from '../../language/quote.ts';
import type { Answer, ServiceRequest } from '../runtime.ts';
import { runScript } from './script.ts';

export interface Sample {
  readonly ontology: string;
  /** True if `relation` is a view or cube. */
  readonly isView: boolean;
  readonly relation: string;
  /** Properties, including multi-value properties, or columns of a view. */
  readonly columns: readonly string[];
  /** Values are truncated to this number of characters. */
  readonly characters: number;
  readonly rows: number;
}

/** The maximum size of a sample. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Returns rows in unspecified order. Values are texts or null, in the order of `columns`. The statement runs like one of the
 * caller, so grants, policies and masks apply.
 * @throws SvcError as `runScript`, without a position, because the caller did not write the SQL
 */
export async function sampleRows(request: ServiceRequest, sample: Sample): Promise<readonly (readonly (string | null)[])[]> {
  const { ontology, isView, relation, columns, characters, rows } = sample;
  // the answer uses generated names, because names of properties may differ only in case
  const values = columns.map((name, i) => `CAST(${quoteBack(name)} AS varchar(${characters})) AS "c${i}"`);
  const sql = `SELECT ${values.join(', ')} FROM ${isView ? 'vsvc' : 'dsvc'}.${quoteBack(relation)} LIMIT ${rows}`;
  try {
    const answer = await runScript(request, { ontology, sql, limit: null, datasource: null, permitted: 'read' });
    return (await objectsOf(answer)).map((row) => columns.map((_, i) => textOf(row[`c${i}`])));
  } catch (error) {
    throw error instanceof SvcError ? error.at(undefined) : error;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

async function objectsOf(answer: Answer): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (answer.kind !== 'rows') throw new Error('a sample must be rows of the datasource');
  const { rows } = answer;
  if (rows.whole !== undefined) return JSON.parse(new TextDecoder().decode(rows.whole));
  const text = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const piece of rows.stream) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) {
      rows.cancel();
      throw new Error('the sample is too large');
    }
    parts.push(text.decode(piece, { stream: true }));
  }
  return JSON.parse(parts.join('') + text.decode());
}
