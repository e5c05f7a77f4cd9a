/** Reads the rows of a statement as NDJSON. */
import { Failure, READ_ONLY, send } from './http.ts';
import { Rows } from './row-list.ts';

export { type Row, Rows } from './row-list.ts';

interface Wish {
  readonly ontology: string;
  readonly sql: string;
  readonly limit: number;
  readonly nested: boolean;
  /** True after the user has seen that the text changes something. */
  readonly mayChange: boolean;
  readonly signal: AbortSignal;
  /** Called when rows have arrived, at most once a frame. */
  onProgress(rows: Rows): void;
}

/** Runs statements and reads the rows of the last one. @throws Failure `read_only`, before any of them has run, if one changes something and may not; Failure, also in the middle of the rows; DOMException `AbortError` */
export async function readRows({ ontology, sql, limit, nested, mayChange, signal, onProgress }: Wish): Promise<Rows> {
  const response = await send('/query', {
    method: 'POST',
    body: { ontology_name: ontology, query: sql },
    headers: { accept: 'application/x-ndjson', 'results-limit': String(limit), ...(mayChange ? {} : READ_ONLY), ...(nested ? { nested: 'true' } : {}) },
    signal,
  });
  const rows = new Rows();
  rows.version = response.headers.get('x-ontology-version');
  let rest = '';
  let shown = performance.now();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    rows.add(lines);
    if (performance.now() - shown > 100) {
      onProgress(rows);
      shown = performance.now();
      // lets the browser paint and handle input between two parts
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }
  if (rest !== '') rows.add([rest]);
  const last = rows.length > 0 ? rows.row(rows.length - 1) : null;
  // an error after the first rows is the last line
  if (last !== null && typeof last.error === 'string' && typeof last.request_id === 'string' && typeof last.code === 'string')
    throw new Failure(200, last.code, last.error, typeof last.hint === 'string' ? last.hint : null);
  return rows;
}
