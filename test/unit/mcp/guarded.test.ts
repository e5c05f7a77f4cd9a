import { describe, expect, it } from 'vitest';
import { SvcError, unauthorized } from '../../../src/errors.ts';
import { guarded } from '../../../src/mcp/guarded.ts';

/** A stream of `n` pieces, one each 15 s of its own clock. */
function ticking(n: number) {
  const clock = { now: 1_000_000 };
  let sent = 0;
  const state = { cancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        clock.now += 15_000;
        if (sent++ < n) controller.enqueue(new Uint8Array([1]));
        else controller.close();
      },
      cancel() {
        state.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { clock, state, stream };
}

const lengthOf = async (stream: ReadableStream<Uint8Array>) => (await new Response(stream).bytes()).length;

describe('guarded', () => {
  it('passes pieces on while the credential is valid', async () => {
    const { clock, stream } = ticking(20);
    let verifications = 0;
    expect(
      await lengthOf(
        guarded(
          stream,
          async () => verifications++,
          () => clock.now,
        ),
      ),
    ).toBe(20);
    expect(verifications).toBe(5);
  });

  it('ends with the credential, and cancels the source', async () => {
    const { clock, state, stream } = ticking(100);
    const verifyToken = async () => {
      if (clock.now > 1_000_000 + 200_000) throw unauthorized('invalid_token', 'no');
    };
    expect(await lengthOf(guarded(stream, verifyToken, () => clock.now))).toBe(15);
    expect(state.cancelled).toBe(true);
  });

  it('continues while the catalog cannot be reached', async () => {
    const { clock, stream } = ticking(20);
    const verifyToken = async () => {
      throw new SvcError(503, 'catalog_unavailable', 'no');
    };
    expect(await lengthOf(guarded(stream, verifyToken, () => clock.now))).toBe(20);
  });

  it('ends after 30 minutes', async () => {
    const { clock, stream } = ticking(1000);
    expect(
      await lengthOf(
        guarded(
          stream,
          async () => undefined,
          () => clock.now,
        ),
      ),
    ).toBe(119);
  });
});
