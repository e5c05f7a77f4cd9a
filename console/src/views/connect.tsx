/** How to use the ontology from programs and AI clients, with the address of this service. */
import { useState } from 'preact/hooks';
import { createToken } from '../access/statements.ts';
import { apiPath, change, isLocal, product } from '../api/http.ts';
import { credential, loginPath } from '../api/session.ts';
import { snippetsOf } from '../connect/snippets.ts';
import { useAttempt } from '../parts/attempt.ts';
import { Code, Copy, FailureBox } from '../parts/basics.tsx';
import { place } from '../router.ts';
import { texts } from '../texts.ts';

const DAYS = [1, 7, 30, 90] as const;

export default function Connect() {
  const ontology = place.value.ontology ?? '';
  const snippets = snippetsOf(product, location.origin + apiPath, ontology, texts.connect);
  return (
    <div class="connect">
      <h1>{texts.connect.title}</h1>
      <p>{texts.connect.intro}</p>
      {loginPath.value !== null && <p>{texts.connect.browser}</p>}
      {isLocal && <p class="muted">{texts.connect.local}</p>}
      <Token />
      {snippets
        .filter(([title]) => loginPath.value !== null || title !== texts.connect.signIn)
        .map(([title, text]) => (
          <section key={title}>
            <h2>
              {title} <Copy text={text} />
            </h2>
            <Code text={text} />
          </section>
        ))}
    </div>
  );
}

/** Creates a token of the signed-in user, and shows the statement that does so. */
function Token() {
  const [days, setDays] = useState<number>(30);
  const [label, setLabel] = useState('');
  const [token, setToken] = useState<string | null>(null);
  const { failure, attempt } = useAttempt();
  const user = credential.value?.user ?? null;
  if (user === null) return null;
  const statement = createToken(user, label, days, Date.now()) ?? '';
  const create = (): void =>
    void attempt(
      () => change<{ token: string }>(null, statement),
      ([row]) => setToken(row?.token ?? null),
    );
  return (
    <section class="card">
      <h2>{texts.connect.token}</h2>
      <p class="actions">
        <label>
          {texts.access.label} <input value={label} autocomplete="off" onInput={(e) => setLabel(e.currentTarget.value)} />
        </label>{' '}
        <label>
          {texts.connect.tokenName}{' '}
          <select value={String(days)} onChange={(e) => setDays(Number(e.currentTarget.value))}>
            {DAYS.map((n) => (
              <option key={n} value={String(n)}>
                {texts.connect.days(n)}
              </option>
            ))}
          </select>
        </label>{' '}
        <button type="button" onClick={create}>
          {texts.connect.makeToken}
        </button>
      </p>
      <Code text={statement} />
      {token !== null && (
        <div role="status">
          <p>{texts.connect.made}</p>
          <Code text={`export TOKEN=${token}`} />
          <Copy text={token} label={texts.connect.copyToken} /> <Copy text={`export TOKEN=${token}`} label={texts.connect.copyExport} />
        </div>
      )}
      {failure !== null && (
        <>
          {failure.code !== 'unknown_user' && <FailureBox failure={failure} />}
          <p role="alert">
            {isLocal && `${texts.local.token} `}
            {texts.connect.noToken} <a href={`/${product}/get_${product}_user_token/`}>{`/${product}/get_${product}_user_token/`}</a>
          </p>
        </>
      )}
    </section>
  );
}
