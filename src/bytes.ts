/** Pieces of bytes: put together, and read from a body under a limit. */

/** All pieces in a new array. */
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

/** What was read of a body. */
export interface BoundedBody {
  /** The body, or the beginning of it: at most as many bytes as the limit. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the body is larger than the limit. */
  readonly isCut: boolean;
}

/**
 * Reads a body to its end. A body that is larger than `limit` bytes is read, but not kept, up to `drain` bytes; the rest is cancelled.
 *
 * @throws the error of the stream if it breaks off
 */
export async function readBounded(body: ReadableStream<Uint8Array> | null, limit: number, drain: number = limit): Promise<BoundedBody> {
  const pieces: Uint8Array[] = [];
  if (body === null) return { bytes: concat(pieces), isCut: false };
  const reader = body.getReader();
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (size < limit) pieces.push(size + value.length > limit ? value.subarray(0, limit - size) : value);
    size += value.length;
    if (size > limit && size > drain) {
      reader.cancel().catch(() => undefined);
      break;
    }
  }
  // no body is in shared memory
  return { bytes: wholeOf(pieces) as Uint8Array<ArrayBuffer>, isCut: size > limit };
}
