/** What the login page shows: the form, or who is logged in. */
import { escaped, pageOf } from './pages.ts';

export interface LoginForm {
  readonly product: string;
  readonly formToken: string;
  /** Where to go on afterwards; null: nowhere else. */
  readonly returnTo: string | null;
  /** What was given before. */
  readonly user: string;
  /** Why it is asked again. */
  readonly message: string | null;
}

/** The form that asks for user and password. */
export function loginPage({ product, formToken, returnTo, user, message }: LoginForm): string {
  const wrong = message === null ? '' : `<p id="message" role="alert">${escaped(message)}</p>\n`;
  const told = message === null ? '' : ' aria-describedby="message"';
  // the field that is still to be filled
  const [focusUser, focusPassword] = user === '' ? [' autofocus', ''] : ['', ' autofocus'];
  return pageOf(
    product,
    `${message === null ? '' : 'Error: '}Log in to ${product}`,
    `<h1>Log in to ${product}</h1>
${wrong}<form method="post" action="/${product}/login">
<input type="hidden" name="form_token" value="${escaped(formToken)}">
${returnTo === null ? '' : `<input type="hidden" name="return_to" value="${escaped(returnTo)}">\n`}<label for="user">User name</label>
<input id="user" name="user" type="text" value="${escaped(user)}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="256" required${told}${focusUser}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${told}${focusPassword}>
<button type="submit">Log in</button>
</form>`,
  );
}

/** Who is logged in, with the way to a token and out. */
export const loggedInPage = (product: string, user: string, formToken: string): string =>
  pageOf(
    product,
    `Logged in to ${product}`,
    `<h1>Logged in to ${product}</h1>
<p>You are logged in as <strong>${escaped(user)}</strong>.</p>
<form method="get" action="/${product}/get_${product}_user_token/">
<button type="submit">Get an API token</button>
</form>
<p><a href="/${product}/oauth/grants">Programs with access</a></p>
<form method="post" action="/${product}/logout">
<input type="hidden" name="form_token" value="${escaped(formToken)}">
<button type="submit" class="quiet">Log out</button>
</form>`,
  );
