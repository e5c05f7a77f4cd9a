/** The API tokens of a user, with a button that revokes each. */
import { useState } from 'preact/hooks';
import { identifier, query } from '../api/http.ts';
import { useAttempt } from '../parts/attempt.ts';
import { FailureBox } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import { Field } from './statement-form.tsx';
import { revokeToken } from './statements.ts';
import { AccessTable } from './table.tsx';

export function Tokens() {
  const [user, setUser] = useState('');
  const [rows, setRows] = useState<readonly Readonly<Record<string, unknown>>[] | null>(null);
  const { failure, attempt, forget } = useAttempt();
  const load = (): void => void attempt(() => query<Readonly<Record<string, unknown>>>(null, `SHOW TOKEN FOR ${identifier(user.trim())}`), setRows);
  return (
    <details class="card form">
      <summary>{texts.access.tokens}</summary>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          load();
        }}
      >
        <div class="fields">
          <Field
            label={texts.access.user}
            value={user}
            set={(name) => {
              forget();
              setUser(name);
              setRows(null);
            }}
            list="user-names"
          />
        </div>
        <p class="actions">
          <button type="submit" disabled={user.trim() === ''}>
            {texts.access.showTokens}
          </button>
        </p>
      </form>
      {failure !== null && <FailureBox failure={failure} />}
      {rows !== null && rows.length === 0 && <p class="muted">{texts.access.noTokens}</p>}
      {rows !== null && rows.length > 0 && (
        <AccessTable
          caption={texts.access.tokens}
          columns={['label', 'created', 'expires', 'last_used']}
          rows={rows}
          ontology={null}
          action={{ label: texts.access.revoke, statement: (t) => revokeToken(String(t.token_id)) }}
          onDone={load}
        />
      )}
    </details>
  );
}
