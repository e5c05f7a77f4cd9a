/** Reads a response body in large chunks. */

/** Size of the buffer of each read. */
const READ_BYTES = 64 * 1024;

/** Reads a body chunk by chunk; undefined at its end. The caller may overwrite a chunk. */
export interface BodyReader {
  read(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

/** Creates a reader for a body. workerd gives a default reader at most 4 KiB per read, so a BYOB reader is used if the body supports it. */
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
