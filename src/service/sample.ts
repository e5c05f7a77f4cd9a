/** A few rows of a concept, view or cube, so that a language model is told what values look like. */
import { SvcError } from '../errors.ts';
import { quoteBack } from '../language/quote.ts';
import type { Answer, ServiceRequest } from './runtime.ts';
import { runScript } from './script.ts';

export interface Sample {
  readonly ontology: string;
  /** Whether `relation` is a view or cube. */
  readonly isView: boolean;
  readonly relation: string;
  /** Properties, multi-value ones too, or a view's columns. */
  readonly columns: readonly string[];
  /** Characters of a value after which the rest is left out. */
  readonly characters: number;
  readonly rows: number;
}

/** More bytes than this are no sample. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The first rows in no order, each value as text or null, in the order of `columns`. It is a statement like a caller's own, so
 * grants, policies and masks act on it.
 * @throws SvcError as `runScript`, without a position: the caller has written no SQL
 */
export async function sampleRows(request: ServiceRequest, sample: Sample): Promise<readonly (readonly (string | null)[])[]> {
  const { ontology, isView, relation, columns, characters, rows } = sample;
  // names of our own in the answer: a property may be named like another one but for case
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
  if (answer.kind !== 'rows') throw new Error('a sample is rows of the datasource');
  const { rows } = answer;
  if (rows.whole !== undefined) return JSON.parse(new TextDecoder().decode(rows.whole));
  const text = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const piece of rows.stream) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) {
      rows.cancel();
      throw new Error('a sample is too large');
    }
    parts.push(text.decode(piece, { stream: true }));
  }
  return JSON.parse(parts.join('') + text.decode());
}
