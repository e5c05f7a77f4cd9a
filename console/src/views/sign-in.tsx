import { useState } from 'preact/hooks';
import { loginPath, notice, use } from '../api/session.ts';
import { texts } from '../texts.ts';

/** The page to sign in: by the login page of the service, or with a token. */
export function SignIn() {
  const [token, setToken] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (token.trim() !== '') void use(token);
  };
  return (
    <section class="card sign-in">
      <h1>{texts.session.title}</h1>
      <p>{texts.session.intro}</p>
      {notice.value !== null && <p role="alert">{notice.value}</p>}
      {loginPath.value !== null && (
        <>
          <a class="button primary" href={loginPath.value}>
            {texts.session.withLogin}
          </a>
          <p class="or">{texts.session.or}</p>
        </>
      )}
      <form onSubmit={submit}>
        <label for="token">{texts.session.token}</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="tk_..."
          aria-describedby="token-hint"
          value={token}
          onInput={(e) => setToken(e.currentTarget.value)}
        />
        <p id="token-hint" class="muted">
          {texts.session.tokenHint}
        </p>
        <button type="submit" class={loginPath.value === null ? 'primary' : ''}>
          {texts.session.use}
        </button>
      </form>
    </section>
  );
}
