/** Rate limiting with Cloudflare's binding, if it is configured (docs/deploy.md): of each user, and of each address that sends invalid credentials. */
import { SvcError } from '../errors.ts';
import type { AppContext } from './context.ts';

/** The period of the binding, which cannot be read. The operator must set it to this value (docs/deploy.md). */
const PERIOD_SECONDS = 60;

/** Counts a request. @throws SvcError 429 `too_many_requests` */
export async function admit(c: AppContext, key: string): Promise<void> {
  const { admit: admitted } = c.env.runtime;
  if (admitted === undefined || (await admitted(key))) return;
  throw new SvcError(429, 'too_many_requests', 'Too many requests', {
    hint: `Try again in ${PERIOD_SECONDS} seconds`,
    headers: { 'retry-after': String(PERIOD_SECONDS) },
  });
}

/** The client's address according to Cloudflare. For IPv6 it is the /64 prefix, which belongs to one subscriber. */
export function addressOf(headers: Headers): string {
  const address = headers.get('cf-connecting-ip') ?? '-';
  return address.includes(':') ? `${expand(address).slice(0, 4).join(':')}::/64` : address;
}

function expand(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  if (tail === undefined) return front;
  const back = tail === '' ? [] : tail.split(':');
  return [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0'), ...back];
}
