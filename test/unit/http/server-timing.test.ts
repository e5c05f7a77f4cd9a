/** The header with the times of a request, on answers of this service and of other servers. */
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import type { Caller } from '../../../src/auth/authenticate.ts';
import type { AppEnv } from '../../../src/http/context.ts';
import { addTimes } from '../../../src/http/server-timing.ts';
import { Timing } from '../../../src/timing.ts';

/** An application whose only answer is this one, for an administrator. `same`: whether the answer with the header is the one that was made. */
async function timed(made: () => Response | Promise<Response>): Promise<{ answer: Response; same: boolean }> {
  const app = new Hono<AppEnv>();
  let same = false;
  app.use(async (c, next) => {
    c.set('caller', { principal: { isAdmin: true } } as Caller);
    await next();
    const before = c.res;
    addTimes(c, new Timing(Date.now));
    same = c.res === before;
  });
  app.get('/', made);
  return { answer: await app.request('/'), same };
}

it('adds the times to an answer without copying it', async () => {
  const { answer, same } = await timed(() => new Response('rows', { headers: { 'content-type': 'text/plain' } }));
  expect([answer.headers.get('server-timing'), same, await answer.text()]).toEqual([expect.stringContaining('plan;dur='), true, 'rows']);
});

it('adds the times to an answer of another server, whose headers cannot be changed', async () => {
  const { answer, same } = await timed(() => fetch('data:text/plain,rows'));
  expect([answer.headers.get('server-timing'), same, await answer.text()]).toEqual([expect.stringContaining('plan;dur='), false, 'rows']);
});
