/**
 * The format of answers with rows: chosen by Accept (docs/design/rows-and-json.md#formats) and the presentation headers
 * (docs/design/nested-results.md#presentation-headers).
 */
import { parseAccept } from 'hono/utils/accept';
import { shareOf } from '../answer-memory.ts';
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

/** The formats by media type, in order of preference. */
const FORMATS: readonly (readonly [string, Format])[] = [
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
];

/**
 * Returns the format that an Accept header selects (RFC 9110, section 12.5.1): the one with the highest weight. Among equal
 * weights, exact media types precede wildcards, and earlier ones precede later ones.
 * @throws SvcError 406 `not_acceptable`
 */
export function acceptedFormat(accept: string | null): Format {
  if (accept === null || accept.trim() === '') return 'json';
  const ranges = parseAccept(accept).map(({ type, q }, place) => ({ type: type.toLowerCase(), weight: q, place }));
  let best: { readonly format: Format; readonly weight: number; readonly precise: number; readonly place: number } | undefined;
  for (const [type, format] of FORMATS) {
    // the most specific matching range decides
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

/** Reads the presentation headers of a request. */
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

/** Reads format and presentation from the headers. Rows in CSV are always flat. @throws SvcError 406 */
export function wishOf(headers: Headers): Wish {
  const format = acceptedFormat(headers.get('accept'));
  const presentation = presentationOf(headers);
  return { format, presentation: format === 'csv' ? { ...presentation, nested: false } : presentation };
}

/** A complete body or a stream. */
export type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string;

const encoder = new TextEncoder();
/** Answers up to this size are sent as one piece. */
const WHOLE_BYTES = 1024 * 1024;

/**
 * Builds the body of an answer.
 * @param around in JSON, the texts before and after the array
 * @param describeFault describes an error that occurs after the first bytes, for the end of NDJSON and CSV
 * @throws SvcError errors while rows are folded; all rows are read before the first byte is sent
 */
export async function bodyOf(
  answer: Answer,
  wish: Wish,
  around: { readonly before: string; readonly after: string },
  describeFault: (fault: unknown) => object,
): Promise<Body> {
  const [before, after] = wish.format === 'json' ? [around.before, around.after] : ['', ''];
  if (answer.kind === 'value') return before + valueText(answer.data, wish.format) + after;
  if (answer.kind === 'kept') return concat([encoder.encode(before), answer.bytes, encoder.encode(after)]);
  const { rows, owner } = answer;
  const copy = answer.keep && new Copy(answer.keep);
  const stage = stageFor(answer, wish, { maxBytes: MAX_BYTES, owner });
  if (stage === undefined) {
    // a streamed answer is too large for the cache
    if (rows.whole !== undefined) copy?.whole([rows.whole]);
    return rows.body(before, after);
  }
  try {
    if (rows.whole !== undefined) {
      const made = [stage.push(rows.whole), ...stage.finish()];
      stage.end();
      if (before.length + lengthOf(made) + after.length > MAX_BYTES) throw resultTooLarge(MAX_BYTES);
      copy?.whole(made);
      return concat([encoder.encode(before), ...made, encoder.encode(after)]);
    }
    if (!stage.isBuffered) {
      const ended = (): void => {
        stage.end();
        rows.cancel();
      };
      const pieces = changed(before, rows.stream, stage, after, copy);
      return streamed(await opening(pieces, stage), pieces, TRAILERS[wish.format]?.(describeFault), ended);
    }
    for await (const bytes of rows.stream) stage.push(bytes);
    return gathered(owner, before, stage.finish(), after, copy);
  } catch (error) {
    stage.end();
    rows.cancel();
    throw error;
  }
}

const lengthOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0);

/** Collects the rows of an answer for the cache; drops them if they become too large. */
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

  /** Call after all pieces were pushed without an error. */
  end(): void {
    if (this.#length <= RESULT_BYTES) this.#keep(concat(this.#pieces));
  }

  whole(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.push(piece);
    this.end();
  }
}

/** Small answers whole, large ones as a stream whose pieces are made when they are asked for. */
function gathered(owner: string, before: string, pieces: Iterable<Uint8Array<ArrayBuffer>>, after: string, copy: Copy | undefined): Body {
  const first: Uint8Array[] = [encoder.encode(before)];
  const rest = pieces[Symbol.iterator]();
  while (lengthOf(first) <= WHOLE_BYTES) {
    const { done, value } = rest.next();
    if (done) {
      copy?.whole(first.slice(1));
      return concat([...first, encoder.encode(after)]);
    }
    first.push(value);
  }
  const share = shareOf(owner, () => void first.splice(0));
  const size = lengthOf(first);
  share.keep(size);
  let begun = false;
  const ended = (): void => {
    share.end();
    rest.return?.();
  };
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        try {
          if (!begun) {
            begun = true;
            share.keep(size);
            controller.enqueue(concat(first.splice(0)));
            share.end();
            return;
          }
          const { done, value } = rest.next();
          if (!done) controller.enqueue(value);
          else {
            if (after !== '') controller.enqueue(encoder.encode(after));
            controller.close();
          }
        } catch (error) {
          ended();
          // aborted: a client must not take a part for the whole
          controller.error(error);
        }
      },
      cancel: ended,
    },
    { highWaterMark: 0 },
  );
}

/** What comes before the second row: a fault until then still gets its status. */
async function opening(pieces: AsyncGenerator<Uint8Array>, stage: Stage): Promise<Uint8Array> {
  const first: Uint8Array[] = [];
  while (!stage.hasRows) {
    const { done, value } = await pieces.next();
    if (done) break;
    first.push(value);
  }
  return concat(first);
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

/** The end of a stream after an error. */
interface Trailer {
  text(fault: unknown): string;
  /** True if the transfer is aborted after the text. */
  readonly aborts: boolean;
}

/**
 * Truncated JSON is invalid, but truncated CSV looks complete if a proxy ends an aborted transfer normally (workerd does).
 * Therefore an unterminated quote makes it invalid.
 */
const TRAILERS: Readonly<Partial<Record<Format, (describe: (fault: unknown) => object) => Trailer>>> = {
  ndjson: (describe) => ({ text: (fault) => `${JSON.stringify(describe(fault))}\n`, aborts: false }),
  csv: (describe) => ({ text: (fault) => `"${JSON.stringify(describe(fault)).replaceAll('"', "'")}`, aborts: true }),
};

/** A stream of pieces after the first one. A fault aborts it, after the trailer of the format if there is one. */
function streamed(first: Uint8Array, pieces: AsyncGenerator<Uint8Array>, trailer: Trailer | undefined, cancel: () => void): ReadableStream<Uint8Array> {
  let sent = first.length;
  let broken: { readonly fault: unknown } | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (first.length > 0) controller.enqueue(first);
      },
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
          if (trailer === undefined) {
            controller.error(error);
            return;
          }
          controller.enqueue(encoder.encode(trailer.text(error)));
          if (trailer.aborts) broken = { fault: error };
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
