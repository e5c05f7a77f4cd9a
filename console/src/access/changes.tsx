/** The audit: who changed what when, and who gave rights to whom. Loaded when it is opened. */
import { useState } from 'preact/hooks';
import { literal, product, query } from '../api/http.ts';
import { useAttempt } from '../parts/attempt.ts';
import { FailureBox } from '../parts/basics.tsx';
import { Table } from '../parts/table.tsx';
import { texts } from '../texts.ts';
import { Choice, Field } from './statement-form.tsx';

interface Change {
  readonly changed_on: string;
  readonly user_name: string;
  readonly actor: string | null;
  readonly action: string;
  readonly statements: string | null;
  readonly ontology: string | null;
}

const PAGE = 50;
const RIGHTS = ['grant', 'revoke', 'user', 'role', 'token', 'policy'];

export function Changes({ ontology }: { readonly ontology: string }) {
  const { all, rights, model } = texts.changes.kinds;
  const [kind, setKind] = useState<string>(all);
  const [text, setText] = useState('');
  const [rows, setRows] = useState<readonly Change[] | null>(null);
  const { failure, attempt } = useAttempt();
  const load = (offset: number): void => {
    const like = (column: string, part: string): string => `${column} ILIKE ${literal(`%${part.replace(/[\\%_]/g, '\\$&')}%`)}`;
    const where = [
      kind === rights ? `(${RIGHTS.map((word) => like('action', word)).join(' OR ')})` : kind === model ? `ontology = ${literal(ontology)}` : 'TRUE',
      ...(text.trim() === '' ? [] : [`(${['user_name', 'actor', 'statements'].map((c) => like(c, text.trim())).join(' OR ')})`]),
    ].join(' AND ');
    const columns = 'changed_on, user_name, actor, action, statements, ontology';
    const sql = `SELECT ${columns} FROM ${product}.SYS_AUDIT WHERE ${where} ORDER BY changed_on DESC, request_id LIMIT ${PAGE} OFFSET ${offset}`;
    void attempt(
      () => query<Change>(null, sql),
      (more) => setRows([...(rows ?? []).slice(0, offset), ...more]),
    );
  };
  const { when, who, what, where } = texts.changes;
  return (
    <>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          load(0);
        }}
      >
        <div class="fields">
          <Choice label={texts.changes.kind} value={kind} options={[all, rights, model]} set={setKind} />
          <Field label={texts.changes.text} value={text} set={setText} />
        </div>
        <button type="submit">{texts.show}</button>
      </form>
      {failure !== null && <FailureBox failure={failure} />}
      {rows !== null && rows.length === 0 && <p class="muted">{texts.changes.none}</p>}
      {rows !== null && rows.length > 0 && (
        <Table columns={[when, who, what, where]} caption={texts.changes.title} class="changes">
          {rows.map((row, i) => (
            <tr key={i}>
              <td>
                <time dateTime={row.changed_on}>{new Date(row.changed_on).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' })}</time>
              </td>
              <td>{row.actor === null ? row.user_name : texts.changes.as(row.actor, row.user_name)}</td>
              <td>{row.statements ?? row.action}</td>
              <td>{row.ontology ?? '\u2014'}</td>
            </tr>
          ))}
        </Table>
      )}
      {rows !== null && rows.length > 0 && rows.length % PAGE === 0 && (
        <button type="button" onClick={() => load(rows.length)}>
          {texts.data.more}
        </button>
      )}
    </>
  );
}
