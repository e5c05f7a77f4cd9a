/**
 * Bodies that take much memory (docs/design/platform-rules.md#the-memory-of-bodies). A client may send a body slowly, or send many at once whose statements wait,
 * so what the requests of a caller keep in an isolate is limited.
 */
import { readBounded } from '../bytes.ts';
import { NOT_READ, SvcError } from '../errors.ts';
import { addressOf } from './admit.ts';
import type { AppContext } from './context.ts';

/** The most bytes of the bodies of a caller, and of all callers together. */
export const OF_CALLER = 4 * 1024 * 1024;
export const OF_ALL = 16 * 1024 * 1024;
/** What a user may have if the others have everything. */
const IN_ANY_CASE = 256 * 1024;
/** The same for an address: a caller who is not known may have many, and sends only short forms. */
const OF_ADDRESS_IN_ANY_CASE = 16 * 1024;
const ADDRESS = 'address:';

/** The bytes that requests keep, by caller. They are numbers only, so no request uses objects of another one. */
const kept = new Map<string, number>();
let all = 0;

/** The bytes of bodies that requests in progress keep in this isolate. */
export const keptOfBodies = (): number => all;

/** Counts further bytes of a caller. @returns false if the caller may not have them */
function keep(caller: string, bytes: number): boolean {
  const own = (kept.get(caller) ?? 0) + bytes;
  const least = caller.startsWith(ADDRESS) ? OF_ADDRESS_IN_ANY_CASE : IN_ANY_CASE;
  if (own > OF_CALLER || (all + bytes > OF_ALL && own > least)) return false;
  set(caller, bytes);
  return true;
}

function set(caller: string, more: number): void {
  const own = (kept.get(caller) ?? 0) + more;
  all += more;
  if (own === 0) kept.delete(caller);
  else kept.set(caller, own);
}

/** The user that a body counts for, or the address of a caller who is not known. What a user sends as another one counts for the user who sends it. */
function callerOf(c: AppContext): string {
  const principal = c.get('caller')?.principal;
  return principal === undefined ? `${ADDRESS}${addressOf(c.req.raw.headers)}` : (principal.actor ?? principal).userId;
}

/** Reads a body of at most `most` bytes; of a larger one up to `drained` bytes are discarded. Its bytes count until the request ends. @throws SvcError 413 `body_too_large`; 503 `busy` */
export async function readLarge(c: AppContext, most: number, drained: number): Promise<Uint8Array> {
  const { body, signal } = c.req.raw;
  const caller = callerOf(c);
  let own = 0;
  let refused = false;
  const release = (): void => {
    set(caller, -own);
    own = 0;
  };
  c.set('release', () => {
    // an answer that streams keeps the statement
    const sent = c.get('sent');
    if (sent === undefined) release();
    else sent.then(release, release);
  });
  // a request whose client has left may be ended before its last step
  signal.addEventListener('abort', release, { once: true });
  const { bytes, isCut } = await readBounded(body, most, drained, (more) => {
    // of a body that is too large nothing is counted beyond the limit, because nothing is kept
    const counted = Math.min(more, most - own);
    if (!refused && !signal.aborted && keep(caller, counted)) own += counted;
    else {
      refused = true;
      release();
    }
    return !refused;
  });
  if (isCut) throw new SvcError(413, 'body_too_large', 'The body is larger than 1 MiB');
  if (!refused) return bytes;
  throw new SvcError(503, 'busy', NOT_READ, { hint: 'Try again in 5 seconds', headers: { 'retry-after': '5' } });
}
