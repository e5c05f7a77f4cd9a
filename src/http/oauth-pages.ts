/** What OAuth's pages show: the question whether a client may act for a user, and what was granted so far. */
import type { Asked, GivenGrant, Scope } from '../oauth/types.ts';
import { escaped, pageOf } from './pages.ts';

export interface ConsentForm {
  readonly product: string;
  readonly user: string;
  readonly asked: Asked;
  /** Where the form goes: the request's own address. */
  readonly action: string;
  readonly token: string;
}

const RIGHTS: Readonly<Record<Scope, string>> = {
  read: 'Read: ask questions of the data, and see what you may see.',
  model: 'Model: change ontologies, where you may.',
};

/** A name as a client gives it, as text: one line, not too long, without characters that turn the direction of the text around it. */
const line = (name: string): string =>
  name
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, 100)
    .toWellFormed();

const named = (name: string): string => escaped(line(name));

/** Names the client, the user and the rights. */
export function consentPage({ product, user, asked, action, token }: ConsentForm): string {
  // a name of characters that nobody sees is none
  const shown = line(asked.clientName) || line(asked.clientId);
  const name = escaped(shown);
  const origin =
    asked.clientDomain === null
      ? 'The program gave itself this name; nobody has checked it.'
      : `The program is published by <strong>${escaped(asked.clientDomain)}</strong>.`;
  const goal = asked.isLocal
    ? 'Access goes to <strong>a program on your own computer</strong>. Allow it only if you have just started to log in there.'
    : `Access goes to <strong>${escaped(asked.redirectHost)}</strong>.`;
  const rights = asked.scopes.map((scope) =>
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
  readonly grants: readonly GivenGrant[];
  readonly token: string;
}

const day = (ms: number): string => `<time datetime="${new Date(ms).toISOString()}">${new Date(ms).toISOString().slice(0, 10)}</time>`;

/** What a user has granted. */
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
<p>These programs may act for <strong>${escaped(user)}</strong>. What is revoked ends at once.</p>
${list}`,
  );
}

/** Says why a request of a client is refused, with a link back to the client. */
export const refusedPage = ({ product, why, location, host }: { product: string; why: string; location: string; host: string }): string =>
  pageOf(
    product,
    'That did not work',
    `<h1>That did not work</h1>
<p role="alert">The program that sent you here asked wrongly: ${escaped(why)}.</p>
<p><a href="${escaped(location)}" rel="noreferrer">Go on to ${escaped(host)}</a> only if you know that address.</p>`,
  );
