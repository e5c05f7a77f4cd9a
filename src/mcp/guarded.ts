/** Ends a stream when the credential that opened it becomes invalid. */
import { SvcError } from '../errors.ts';
import { STREAM_MS } from './streams.ts';

/** How often a credential is checked again. Keep-alive comments trigger the checks. */
export const RECHECK_MS = 60_000;

/**
 * Checks a credential again before an answer that took long. If the catalog cannot be reached, the check passes.
 * @throws SvcError 401, 403 as `check`
 */
export async function recheck(check: () => Promise<unknown>): Promise<void> {
  await check().catch((error: unknown) => {
    if (!(error instanceof SvcError) || error.status < 500) throw error;
  });
}

/** A stream that ends once `check` throws, or after STREAM_MS. */
export function guarded(stream: ReadableStream<Uint8Array>, check: () => Promise<unknown>, now: () => number = Date.now): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const begun = now();
  let checked = begun;

  async function isValid(): Promise<boolean> {
    if (now() - begun >= STREAM_MS) return false;
    if (now() - checked < RECHECK_MS) return true;
    checked = now();
    return recheck(check).then(
      () => true,
      () => false,
    );
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done && (await isValid())) {
        controller.enqueue(value);
        return;
      }
      if (!done) await reader.cancel().catch(() => undefined);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
