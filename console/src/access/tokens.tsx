/** The API tokens of a user, with a button that revokes each. */
import { useState } from 'preact/hooks';
import { type Failure, failureOf, identifier, query } from '../api/http.ts';
import { FailureBox } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import { Field } from './statement-form.tsx';
import { revokeToken } from './statements.ts';
import { AccessTable } from './table.tsx';

export function Tokens() {
  const [user, setUser] = useState('');
  const [rows, setRows] = useState<readonly Readonly<Record<string, unknown>>[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const load = async (): Promise<void> => {
    setFailure(null);
    try {
      setRows(await query<Readonly<Record<string, unknown>>>(null, `SHOW TOKEN FOR ${identifier(user.trim())}`));
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <details class="card form">
      <summary>{texts.access.tokens}</summary>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void load();
        }}
      >
        <div class="fields">
          <Field
            label={texts.access.user}
            value={user}
            set={(name) => {
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
          onDone={() => void load()}
        />
      )}
    </details>
  );
}
