/**
 * The form of answers with rows: by Accept (docs/design/rows-and-json.md#formats) and by the presentation headers
 * (docs/design/nested-results.md#presentation-headers).
 */
import { parseAccept } from 'hono/utils/accept';
import { concat } from '../bytes.ts';
import { SvcError } from '../errors.ts';
import type { Presentation } from '../nesting/presentation.ts';
import { type Format, type Stage, stageFor, valueText, type Wish } from '../nesting/stage.ts';
import { type Answer, MAX_BYTES, RESULT_BYTES, resultTooLarge } from '../service.ts';

/** Content types of the formats. */
export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

/** The formats by media type, the one that is preferred first. */
const FORMATS: readonly (readonly [string, Format])[] = [
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
];

/**
 * The format that an Accept header asks for (RFC 9110, section 12.5.1): the one of the highest weight; among equals the one
 * that is named before others, wildcards last.
 * @throws SvcError 406 `not_acceptable`
 */
export function acceptedFormat(accept: string | null): Format {
  if (accept === null || accept.trim() === '') return 'json';
  const ranges = parseAccept(accept).map(({ type, q }, place) => ({ type: type.toLowerCase(), weight: q, place }));
  let best: { readonly format: Format; readonly weight: number; readonly precise: number; readonly place: number } | undefined;
  for (const [type, format] of FORMATS) {
    // the most precise range that fits decides
    const fitting = ranges.flatMap((r) => {
      const precise = r.type === type ? 2 : r.type === `${type.split('/')[0]}/*` ? 1 : r.type === '*/*' || r.type === '*' ? 0 : -1;
      return precise < 0 ? [] : [{ ...r, precise }];
    });
    const range = fitting.sort((a, b) => b.precise - a.precise || b.weight - a.weight)[0];
    if (range === undefined || range.weight <= 0) continue;
    const { weight, precise, place } = range;
    const better =
      best === undefined ||
      weight > best.weight ||
      (weight === best.weight && (precise > best.precise || (precise === best.precise && precise === 2 && place < best.place)));
    if (better) best = { format, weight, precise, place };
  }
  if (best !== undefined) return best.format;
  throw new SvcError(406, 'not_acceptable', 'Rows are sent as JSON, CSV or NDJSON', {
    hint: 'Send accept: application/json, text/csv or application/x-ndjson',
  });
}

/** The presentation headers of a request. */
export function presentationOf(headers: Headers): Presentation {
  const is = (name: string): boolean => /^\s*true\s*$/i.test(headers.get(name) ?? '');
  return {
    nested: is('nested'),
    formatProperties: is('api-nested-format-properties'),
    caseSensitivity: is('api-nested-case-sensitivity'),
    formatBooleans: is('api-nested-format-booleans'),
    ignoreEntityId: is('api-nested-ignore-entity-id'),
    minimizeRelationships: is('api-nested-minimize-relationships'),
  };
}

/** What a request wants of its rows. CSV has no nested objects: its rows are flat. @throws SvcError 406 */
export function wishOf(headers: Headers): Wish {
  const format = acceptedFormat(headers.get('accept'));
  const presentation = presentationOf(headers);
  return { format, presentation: format === 'csv' ? { ...presentation, nested: false } : presentation };
}

/** A body, whole or as a stream. */
export type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string;

const encoder = new TextEncoder();
/** An answer of at most so many characters is sent as one piece. */
const WHOLE = 1024 * 1024;

/**
 * The body of an answer. `before` and `after` stand around the array in JSON. `told`: what the end of NDJSON or CSV says of a
 * fault that comes after the first bytes.
 * @throws SvcError what folding meets: all rows are read before the first byte
 */
export async function bodyOf(
  answer: Answer,
  wish: Wish,
  around: { readonly before: string; readonly after: string },
  told: (fault: unknown) => object,
): Promise<Body> {
  const [before, after] = wish.format === 'json' ? [around.before, around.after] : ['', ''];
  if (answer.kind === 'value') return before + valueText(answer.data, wish.format) + after;
  if (answer.kind === 'kept') return concat([encoder.encode(before), answer.bytes, encoder.encode(after)]);
  const { rows } = answer;
  const copy = answer.keep && new Copy(answer.keep);
  const stage = stageFor(answer, wish, MAX_BYTES);
  if (stage === undefined) {
    // what streams is larger than what is kept
    if (rows.whole !== undefined) copy?.whole([rows.whole]);
    return rows.body(before, after);
  }
  if (rows.whole !== undefined) {
    const made = [stage.push(rows.whole), ...stage.finish()];
    if (before.length + lengthOf(made) + after.length > MAX_BYTES) throw resultTooLarge(MAX_BYTES);
    copy?.whole(made);
    return concat([encoder.encode(before), ...made, encoder.encode(after)]);
  }
  if (!stage.isLate) return streamed(changed(before, rows.stream, stage, after, copy), LAST_WORDS[wish.format]?.(told), rows.cancel);
  try {
    for await (const bytes of rows.stream) stage.push(bytes);
    return gathered(before, stage.finish(), after, copy);
  } catch (error) {
    rows.cancel();
    throw error;
  }
}

const lengthOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0);

/** The rows of an answer on their way to the cache: let go as soon as they are too many. */
class Copy {
  readonly #keep: (bytes: Uint8Array<ArrayBuffer>) => void;
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(keep: (bytes: Uint8Array<ArrayBuffer>) => void) {
    this.#keep = keep;
  }

  push(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > RESULT_BYTES) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** All of it has been pushed, and without a fault. */
  end(): void {
    if (this.#length <= RESULT_BYTES) this.#keep(concat(this.#pieces));
  }

  whole(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.push(piece);
    this.end();
  }
}

/** Small answers whole, large ones as a stream whose pieces are made when they are asked for. */
function gathered(before: string, pieces: Iterable<Uint8Array<ArrayBuffer>>, after: string, copy: Copy | undefined): Body {
  const first: Uint8Array[] = [encoder.encode(before)];
  const rest = pieces[Symbol.iterator]();
  while (lengthOf(first) <= WHOLE) {
    const { done, value } = rest.next();
    if (done) {
      copy?.whole(first.slice(1));
      return concat([...first, encoder.encode(after)]);
    }
    first.push(value);
  }
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (first.length > 0) {
          controller.enqueue(concat(first.splice(0)));
          return;
        }
        const { done, value } = rest.next();
        if (!done) controller.enqueue(value);
        else {
          if (after !== '') controller.enqueue(encoder.encode(after));
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

async function* changed(before: string, source: ReadableStream<Uint8Array>, stage: Stage, after: string, copy: Copy | undefined): AsyncGenerator<Uint8Array> {
  yield encoder.encode(before);
  for await (const bytes of source) {
    const piece = stage.push(bytes);
    copy?.push(piece);
    yield piece;
  }
  for (const piece of stage.finish()) {
    copy?.push(piece);
    yield piece;
  }
  copy?.end();
  yield encoder.encode(after);
}

/** How a broken stream ends. */
interface LastWords {
  text(fault: unknown): string;
  /** The transfer is aborted behind them. */
  readonly aborts: boolean;
}

/**
 * JSON that is cut is no JSON, but CSV that is cut looks whole where a server on the way ends an aborted transfer properly
 * (workerd's own does): an open quote makes it none.
 */
const LAST_WORDS: Readonly<Partial<Record<Format, (told: (fault: unknown) => object) => LastWords>>> = {
  ndjson: (told) => ({ text: (fault) => `${JSON.stringify(told(fault))}\n`, aborts: false }),
  csv: (told) => ({ text: (fault) => `"${JSON.stringify(told(fault)).replaceAll('"', "'")}`, aborts: true }),
};

/** A stream of pieces. A fault aborts it, behind the last words where there are some. */
function streamed(pieces: AsyncGenerator<Uint8Array>, last: LastWords | undefined, cancel: () => void): ReadableStream<Uint8Array> {
  let sent = 0;
  let broken: { readonly fault: unknown } | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (broken !== undefined) {
          controller.error(broken.fault);
          return;
        }
        try {
          for (;;) {
            const { done, value } = await pieces.next();
            if (done) {
              controller.close();
              return;
            }
            if (value.length === 0) continue;
            sent += value.length;
            if (sent > MAX_BYTES) throw resultTooLarge(MAX_BYTES);
            controller.enqueue(value);
            return;
          }
        } catch (error) {
          cancel();
          if (last === undefined) {
            controller.error(error);
            return;
          }
          controller.enqueue(encoder.encode(last.text(error)));
          if (last.aborts) broken = { fault: error };
          else controller.close();
        }
      },
      async cancel() {
        await pieces.return(undefined);
        cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
