/** An isolate that ends in the middle of its work. */
import { forgetSnapshots } from '../../../src/catalog/snapshot.ts';

/** Ends the isolate at its n-th request to a database: that request and all later ones fail, before it is sent or after. */
export async function killed(n: number, isSent: boolean, work: () => Promise<unknown>): Promise<boolean> {
  const real = globalThis.fetch;
  let count = 0;
  globalThis.fetch = async (input, init) => {
    count++;
    if (count === n && isSent) await (await real(input, init)).text();
    if (count >= n) throw new TypeError('killed');
    return real(input, init);
  };
  try {
    await work();
  } finally {
    globalThis.fetch = real;
  }
  forgetSnapshots(0);
  return count >= n;
}
