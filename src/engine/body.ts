/** Reading a response's body in large pieces. */

/** Asked for with each read. */
const READ_BYTES = 64 * 1024;

/** A body's bytes, piece after piece; undefined: its end. A piece is the reader's own to overwrite. */
export interface BodyReader {
  read(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

/** workerd hands a plain reader at most 4 KiB a time, so its bytes are read into a buffer of ours, where the body allows that. */
export function bodyReader(body: ReadableStream<Uint8Array>): BodyReader {
  let byob: ReadableStreamBYOBReader;
  try {
    byob = body.getReader({ mode: 'byob' });
  } catch {
    const reader = body.getReader();
    return { read: async () => (await reader.read()).value, cancel: () => reader.cancel() };
  }
  return {
    read: async () => {
      const { done, value } = await byob.read(new Uint8Array(READ_BYTES));
      return done || value === undefined || value.length === 0 ? undefined : value;
    },
    cancel: () => byob.cancel(),
  };
}
