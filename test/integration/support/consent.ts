/** The user's actions in the browser that an OAuth client opens. */
import { hidden, Visitor } from './visitor.ts';

/** Follows the browser from the URL of the login page back to the requested page. */
export type LogIn = (browser: Visitor, loginPage: string, back: string) => Promise<string>;

/**
 * Opens an authorization URL of the service, logs in and allows the request.
 * @returns the client's redirect URI with the code; it is not opened
 */
export async function consentAs(address: string, logIn: LogIn): Promise<URL> {
  const { origin, pathname, search } = new URL(address);
  const browser = new Visitor((path, init) => fetch(new URL(path, origin), init));
  const sentTo = (await browser.send(pathname + search)).location ?? '';
  const back = new URL(sentTo, origin).searchParams.get('return_to') ?? '';
  if (back !== pathname + search) throw new Error(`nobody is asked to log in: ${sentTo}`);
  const shown = await browser.send(await logIn(browser, sentTo, back));
  const left = await browser.post(pathname + search, { ...hidden(shown.text), decision: 'allow' }, { origin });
  if (left.status !== 302 || left.location === null) throw new Error(`${left.status}: ${left.text}`);
  return new URL(left.location);
}

/** The same by the form of the service's own login page. */
export const consent = (address: string, user: string, password: string): Promise<URL> =>
  consentAs(address, async (browser, _, back) => (await browser.logIn(user, password, back)).location ?? '/');
