/** The HTML of the OAuth pages: consent, and the list of grants. */
import type { AuthorizationRequest, Scope, UserGrant } from '../oauth/types.ts';
import { escaped, pageOf } from './pages.ts';

export interface ConsentForm {
  readonly product: string;
  readonly user: string;
  readonly authorization: AuthorizationRequest;
  /** The form's action: the address of the authorization request. */
  readonly action: string;
  readonly token: string;
}

const RIGHTS: Readonly<Record<Scope, string>> = {
  read: 'Read: query the data that you may see.',
  model: 'Model: change ontologies that you may edit.',
};

/** Cleans a name that a client claims: one line of at most 100 characters, without characters that are invisible or change the direction of text. */
const line = (name: string): string =>
  name
    .replace(/[\p{C}\p{Z}\p{DI}\u2800]+/gu, ' ')
    .trim()
    .slice(0, 100)
    .toWellFormed();

const named = (name: string): string => escaped(line(name));

/** The page that asks the user for consent. It names the client, the user and the rights. */
export function consentPage({ product, user, authorization, action, token }: ConsentForm): string {
  // a name of invisible characters counts as missing
  const shown = line(authorization.clientName) || line(authorization.clientId);
  const name = escaped(shown);
  const origin =
    authorization.clientDomain === null
      ? 'The program chose this name; it has not been verified.'
      : `The program is published by <strong>${escaped(authorization.clientDomain)}</strong>.`;
  const goal = authorization.isLocal
    ? 'Access goes to <strong>a program on your own computer</strong>. Allow it only if you have just started to log in there.'
    : `Access goes to <strong>${escaped(authorization.redirectHost)}</strong>.`;
  const rights = authorization.scopes.map((scope) =>
    scope === 'read'
      ? `<li>${RIGHTS.read}<input type="hidden" name="scope" value="read"></li>`
      : `<li><label><input type="checkbox" name="scope" value="${scope}" checked> ${RIGHTS[scope]}</label></li>`,
  );
  return pageOf(
    product,
    `Allow ${shown}?`,
    `<h1>Allow ${name} to use ${product}?</h1>
<p>You are logged in as <strong>${escaped(user)}</strong>. ${name} will act for you, with your rights:</p>
<form method="post" action="${escaped(action)}">
<input type="hidden" name="form_token" value="${escaped(token)}">
<ul>
${rights.join('\n')}
</ul>
<p>${origin} ${goal}</p>
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="quiet">Deny</button>
</form>
<p>Not ${escaped(user)}? <a href="/${product}/login">Log out</a> and start again.</p>`,
  );
}

export interface GrantList {
  readonly product: string;
  readonly user: string;
  readonly grants: readonly UserGrant[];
  readonly token: string;
}

const day = (ms: number): string => `<time datetime="${new Date(ms).toISOString()}">${new Date(ms).toISOString().slice(0, 10)}</time>`;

/** The page that lists the grants of a user. */
export function grantsPage({ product, user, grants, token }: GrantList): string {
  const rows = grants.map(
    ({ id, clientName, redirectHost, scopes, created, expires }) => `<li>
<strong>${named(clientName)}</strong> (${escaped(redirectHost)}), ${escaped(scopes.join(' and '))}, since ${day(created)}${expires === null ? '' : `, until ${day(expires)} if it is not used`}
<form method="post" action="/${product}/oauth/grants">
<input type="hidden" name="form_token" value="${escaped(token)}">
<input type="hidden" name="grant" value="${escaped(id)}">
<button type="submit" class="quiet" aria-label="Revoke ${named(clientName)}">Revoke</button>
</form>
</li>`,
  );
  const list = rows.length === 0 ? '<p>No program has access.</p>' : `<ul>\n${rows.join('\n')}\n</ul>`;
  return pageOf(
    product,
    `Programs with access to ${product}`,
    `<h1>Programs with access</h1>
<p>These programs may act for <strong>${escaped(user)}</strong>. A revoked access ends immediately.</p>
${list}`,
  );
}

/** The page that explains why a client's request is refused, with a link to the client. */
export const refusedPage = ({ product, why, location, host }: { product: string; why: string; location: string; host: string }): string =>
  pageOf(
    product,
    'That did not work',
    `<h1>That did not work</h1>
<p role="alert">The program that sent you here made an invalid request: ${escaped(why)}.</p>
<p><a href="${escaped(location)}" rel="noreferrer">Continue to ${escaped(host)}</a> only if you know this address.</p>`,
  );
