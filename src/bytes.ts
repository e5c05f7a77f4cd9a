/** Concatenates byte arrays, and reads bodies with a limit. */

/** Concatenates the pieces in a new array. */
export function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** As `concat`, but a single piece is returned itself. */
export const wholeOf = (pieces: readonly Uint8Array[]): Uint8Array => (pieces.length === 1 ? (pieces[0] as Uint8Array) : concat(pieces));

/** The result of reading a body. */
export interface BoundedBody {
  /** The body, truncated to the limit. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the body is larger than the limit. */
  readonly isCut: boolean;
}

/**
 * Reads a body. Of a body that is larger than `limit` bytes, the bytes up to `drain` are read and discarded; then the stream is cancelled.
 * @param mayKeep asked for each piece; if it is false, this piece and those before it are discarded
 *
 * @throws the error of the stream if it fails
 */
export async function readBounded(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
  drain: number = limit,
  mayKeep: (bytes: number) => boolean = () => true,
): Promise<BoundedBody> {
  const pieces: Uint8Array[] = [];
  if (body === null) return { bytes: concat(pieces), isCut: false };
  const reader = body.getReader();
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!mayKeep(value.length)) pieces.length = 0;
    else if (size < limit) pieces.push(size + value.length > limit ? value.subarray(0, limit - size) : value);
    size += value.length;
    if (size > limit && size > drain) {
      reader.cancel().catch(() => undefined);
      break;
    }
  }
  // the type assertion is safe: bodies are not in shared memory
  return { bytes: wholeOf(pieces) as Uint8Array<ArrayBuffer>, isCut: size > limit };
}
