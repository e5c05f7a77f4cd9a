/** Routes of other protocols under the product's path. They make their own answers and share the middleware of all requests. */
import type { Caller } from '../auth/authenticate.ts';
import { ByteStore } from '../cache.ts';
import type { Mount } from '../service/exchange.ts';
import { addressOf, admit, PERIOD_SECONDS, tooMany } from './admit.ts';
import { readText } from './body.ts';
import type { AppContext } from './context.ts';
import { requestHost } from './guards.ts';

const small = new ByteStore(256 * 1024);
/** Addresses that have sent too many invalid credentials, and when. */
const refused = small.view<number>('address');
/** Credentials that were valid before, by the headers that contain them. */
const valid = small.view<true>('credential');

/** Authenticates a request, applies the rate limits, and stores the caller in the context. @throws SvcError 401, 429, 503 */
export async function admitted(c: AppContext, authenticate: () => Promise<Caller>): Promise<Caller> {
  const { headers } = c.req.raw;
  const { now, admit: limit } = c.env.runtime;
  const address = addressOf(headers);
  const credential = ['x-jwt-token', 'x-api-key', 'authorization'].map((name) => headers.get(name)).join();
  const isRefused = limit !== undefined && now() - (refused.get(address) ?? Number.NEGATIVE_INFINITY) < PERIOD_SECONDS * 1000;
  // the catalog would be asked for each credential that is not known
  if (isRefused && valid.get(credential) === undefined) throw tooMany();
  const caller = await authenticate().catch(async (error: unknown) => {
    await admit(c, `address:${address}`).catch((full: unknown) => {
      refused.set(address, now(), 8);
      throw full;
    });
    throw error;
  });
  c.set('caller', caller);
  if (limit !== undefined) valid.set(credential, true, 0);
  await admit(c, `user:${caller.principal.userId}`);
  return caller;
}

/** The handler of a mount. */
export const mounted =
  ({ answer }: Mount) =>
  (c: AppContext): Promise<Response> =>
    answer({
      request: c.req.raw,
      runtime: c.env.runtime,
      requestId: c.get('requestId'),
      host: requestHost(c.req.raw.headers, c.req.url),
      readText: () => readText(c),
      admitted: (authenticate) => c.get('timing').during('auth', () => admitted(c, authenticate)),
      record: ({ code, noted }) => {
        if (code !== undefined) c.set('code', code);
        if (noted !== undefined) c.set('noted', noted);
      },
    });
