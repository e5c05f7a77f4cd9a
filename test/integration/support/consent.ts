/** What a user does in the browser that an OAuth client opens. */
import { hidden, Visitor } from './visitor.ts';

/** Takes a browser from the address of the login page back to where it wanted to go. */
export type LogIn = (browser: Visitor, loginPage: string, back: string) => Promise<string>;

/**
 * Opens an authorization address of the service, logs in and allows what is asked.
 * @returns the client's address to which the browser is sent, with the code; nobody has gone there
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
