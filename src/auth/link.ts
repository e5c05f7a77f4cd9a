/** Links that log a user in once. `npm start` prints one for the demo user; they exist only on a developer's machine (src/http/console.ts). */
import type { CatalogDb } from '../catalog/db.ts';
import { storeLink, takeLink } from '../catalog/links.ts';
import type { Login } from '../catalog/logins.ts';
import { creatorsOf, type Principal } from './authenticate.ts';
import { sha256 } from './tokens.ts';

/** The lifetime of a link in milliseconds. */
export const LINK_MS = 15 * 60_000;

/** The form of a link's code. */
export const LINK_CODE = /^[A-Za-z0-9_-]{32}$/;

interface LinkParts {
  readonly db: CatalogDb;
  readonly now: () => number;
}

/** Makes a link for the caller itself and returns its code. The catalog stores only a digest. @throws SvcError 503 */
export async function makeLink({ db, now }: LinkParts, principal: Principal): Promise<string> {
  const code = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
  const expires = new Date(now() + LINK_MS).toISOString();
  await storeLink(db, { hash: await sha256(code), userId: principal.userId, expires, by: creatorsOf(principal) });
  return code;
}

/** Takes the link of a code: of several requests at the same time, one gets it. @returns null if it was used, has expired or never existed @throws SvcError 503 */
export async function enterByLink({ db }: LinkParts, code: string): Promise<{ readonly login: Login; readonly controllers: readonly string[] } | null> {
  return LINK_CODE.test(code) ? takeLink(db, await sha256(code)) : null;
}
