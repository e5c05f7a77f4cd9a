/** Rate limiting by Cloudflare's binding, where it is configured (docs/deploy.md): each user, and each address that sends bad credentials. */
import { SvcError } from '../errors.ts';
import type { AppContext } from './context.ts';

/** The binding tells nobody its period: docs/deploy.md says to set it to this. */
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

/** The address that asks, as Cloudflare tells it; an IPv6 address by its /64, which one subscriber has. */
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
