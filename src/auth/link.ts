/**
 * Links that log a user in once. `npm start` prints one for the demo user; they exist only on a developer's machine (src/http/console.ts). The code of a link has
 * the id of the API token that made it: the link and its session end with that token.
 */
import type { CatalogDb } from '../catalog/db.ts';
import { storeLink, takeLink } from '../catalog/links.ts';
import type { Login } from '../catalog/logins.ts';
import { type Caller, creatorsOf } from './authenticate.ts';
import { sha256 } from './tokens.ts';

/** The lifetime of a link in milliseconds. */
export const LINK_MS = 15 * 60_000;

/** The form of a link's code. */
export const LINK_CODE = /^[A-Za-z0-9_-]{32}[0-9a-f]{32}$/;

/** The id in links that ADMIN_TOKEN made. */
export const NO_TOKEN = '00000000-0000-0000-0000-000000000000';

interface LinkParts {
  readonly db: CatalogDb;
  readonly now: () => number;
}

/** Makes a link for the caller itself and returns its code. The catalog stores only a digest. @throws SvcError 503 */
export async function makeLink({ db, now }: LinkParts, { principal, snapshot }: Pick<Caller, 'principal' | 'snapshot'>): Promise<string> {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
  const code = random + (snapshot.token?.id ?? NO_TOKEN).replaceAll('-', '');
  const expires = new Date(now() + LINK_MS).toISOString();
  await storeLink(db, { hash: await sha256(code), userId: principal.userId, expires, by: creatorsOf(principal) });
  return code;
}

/** A link that was taken. */
export interface Entered {
  readonly login: Login;
  readonly controllers: readonly string[];
  /** The id of the API token that made the link; an id of zeros for ADMIN_TOKEN. */
  readonly madeWith: string;
}

/** Takes the link of a code: of several requests at the same time, one gets it. @returns null if it was used, has expired or never existed, or its token has ended @throws SvcError 503 */
export async function enterByLink({ db }: LinkParts, code: string): Promise<Entered | null> {
  if (!LINK_CODE.test(code)) return null;
  const madeWith = code.slice(32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const taken = await takeLink(db, await sha256(code), madeWith === NO_TOKEN ? null : madeWith);
  return taken === null ? null : { ...taken, madeWith };
}
