/** The HTML of the login page: the form, or the user who is logged in. */
import { escaped, pageOf } from './pages.ts';

export interface LoginForm {
  readonly product: string;
  readonly formToken: string;
  /** Where to redirect after the login; null: stay on the page. */
  readonly returnTo: string | null;
  /** User name of the previous attempt. */
  readonly user: string;
  /** Why the previous attempt failed. */
  readonly message: string | null;
}

/** The form for user name and password. */
export function loginPage({ product, formToken, returnTo, user, message }: LoginForm): string {
  const alert = message === null ? '' : `<p id="message" role="alert">${escaped(message)}</p>\n`;
  const describedBy = message === null ? '' : ' aria-describedby="message"';
  // focus the first empty field
  const [focusUser, focusPassword] = user === '' ? [' autofocus', ''] : ['', ' autofocus'];
  return pageOf(
    product,
    `${message === null ? '' : 'Error: '}Log in to ${product}`,
    `<h1>Log in to ${product}</h1>
${alert}<form method="post" action="/${product}/login">
<input type="hidden" name="form_token" value="${escaped(formToken)}">
${returnTo === null ? '' : `<input type="hidden" name="return_to" value="${escaped(returnTo)}">\n`}<label for="user">User name</label>
<input id="user" name="user" type="text" value="${escaped(user)}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="256" required${describedBy}${focusUser}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${describedBy}${focusPassword}>
<button type="submit">Log in</button>
</form>`,
  );
}

/** The page of a user who is logged in, with links to get a token and to log out. */
export const loggedInPage = (product: string, user: string, formToken: string): string =>
  pageOf(
    product,
    `Logged in to ${product}`,
    `<h1>Logged in to ${product}</h1>
<p>You are logged in as <strong>${escaped(user)}</strong>.</p>
<form method="get" action="/${product}/get_${product}_user_token/">
<button type="submit">Get an API token</button>
</form>
<form method="post" action="/${product}/logout">
<input type="hidden" name="form_token" value="${escaped(formToken)}">
<button type="submit" class="quiet">Log out</button>
</form>`,
  );
