/** A stream that ends with the credential that opened it. */
import { SvcError } from '../errors.ts';
import { STREAM_MS } from './streams.ts';

/** A credential is judged anew so often; keep-alive comments make the occasions. */
export const JUDGE_MS = 60_000;

/**
 * Judges a credential again before an answer is handed out that took long. A catalog that cannot be reached says nothing of the credential.
 * @throws SvcError 401, 403 as `judge`
 */
export async function judgedAgain(judge: () => Promise<unknown>): Promise<void> {
  await judge().catch((error: unknown) => {
    if (!(error instanceof SvcError) || error.status < 500) throw error;
  });
}

/** `judge` throws where the credential holds no longer. */
export function guarded(stream: ReadableStream<Uint8Array>, judge: () => Promise<unknown>, now: () => number = Date.now): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const begun = now();
  let judged = begun;

  async function holds(): Promise<boolean> {
    if (now() - begun >= STREAM_MS) return false;
    if (now() - judged < JUDGE_MS) return true;
    judged = now();
    return judgedAgain(judge).then(
      () => true,
      () => false,
    );
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
