/** Routes of other protocols under the product's path. They make their own answers and share the middleware of all requests. */
import type { Caller } from '../auth/authenticate.ts';
import type { Mount } from '../service/exchange.ts';
import { addressOf, admit } from './admit.ts';
import { readText } from './body.ts';
import type { AppContext } from './context.ts';
import { requestHost } from './guards.ts';

/** Authenticates a request, applies the rate limits, and stores the caller in the context. @throws SvcError 401, 429, 503 */
export async function admitted(c: AppContext, authenticate: () => Promise<Caller>): Promise<Caller> {
  const caller = await authenticate().catch(async (error: unknown) => {
    await admit(c, `address:${addressOf(c.req.raw.headers)}`);
    throw error;
  });
  c.set('caller', caller);
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
