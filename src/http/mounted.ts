/** Faces of other protocols under the product's path: they make their answers themselves, and share what every request goes through. */
import type { Caller } from '../auth/authenticate.ts';
import type { Mount } from '../service/exchange.ts';
import { addressOf, admit } from './admit.ts';
import { readText } from './body.ts';
import type { AppContext } from './context.ts';
import { askedHost } from './guards.ts';

/** Judges the credential of a request, counts it, and keeps who asks. @throws SvcError 401, 429, 503 */
export async function admitted(c: AppContext, judge: () => Promise<Caller>): Promise<Caller> {
  const caller = await judge().catch(async (error: unknown) => {
    await admit(c, `address:${addressOf(c.req.raw.headers)}`);
    throw error;
  });
  c.set('caller', caller);
  await admit(c, `user:${caller.principal.userId}`);
  return caller;
}

/** The route of a mount. */
export const mounted =
  ({ answer }: Mount) =>
  (c: AppContext): Promise<Response> =>
    answer({
      request: c.req.raw,
      runtime: c.env.runtime,
      requestId: c.get('requestId'),
      host: askedHost(c.req.raw.headers, c.req.url),
      readText: () => readText(c.req.raw),
      admitted: (judge) => admitted(c, judge),
      tell: ({ code, noted }) => {
        if (code !== undefined) c.set('code', code);
        if (noted !== undefined) c.set('noted', noted);
      },
    });
