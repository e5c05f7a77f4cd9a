/** A stream that ends with the credential that opened it. */
import { SvcError } from '../errors.ts';
import { STREAM_MS } from './streams.ts';

/** A credential is judged anew so often; keep-alive comments make the occasions. */
const JUDGE_MS = 60_000;

/** `judge` throws where the credential holds no longer. */
export function guarded(stream: ReadableStream<Uint8Array>, judge: () => Promise<unknown>, now: () => number = Date.now): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const begun = now();
  let judged = begun;

  async function holds(): Promise<boolean> {
    if (now() - begun >= STREAM_MS) return false;
    if (now() - judged < JUDGE_MS) return true;
    judged = now();
    try {
      await judge();
      return true;
    } catch (error) {
      // a catalog that cannot be reached says nothing of the credential
      return error instanceof SvcError && error.status >= 500;
    }
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done && (await holds())) {
        controller.enqueue(value);
        return;
      }
      if (!done) await reader.cancel().catch(() => undefined);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
