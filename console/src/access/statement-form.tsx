/** A form that builds a statement, shows it, and runs it. */
import type { ComponentChildren } from 'preact';
import { changeAndReload } from '../model/current.ts';
import { useAttempt } from '../parts/attempt.ts';
import { Code, Copy, FailureBox } from '../parts/basics.tsx';
import { texts } from '../texts.ts';

interface Props {
  readonly title: string;
  readonly ontology: string | null;
  /** The statement as the fields are now; null: a field is missing. */
  readonly statement: string | null;
  /** The statement as it is shown, if it has a secret. */
  readonly shown?: string | undefined;
  /** Called with the rows of the answer. */
  onDone?(rows: readonly Record<string, unknown>[]): void;
  readonly children: ComponentChildren;
}

export function StatementForm({ title, ontology, statement, shown = statement ?? '', onDone = () => {}, children }: Props) {
  const { busy, failure, attempt } = useAttempt();
  const run = (event: Event): void => {
    event.preventDefault();
    if (statement !== null) void attempt(() => changeAndReload<Record<string, unknown>>(ontology, statement), onDone);
  };
  return (
    <details class="card form">
      <summary>{title}</summary>
      <form onSubmit={run}>
        <div class="fields">{children}</div>
        {statement !== null && <Code text={shown} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={busy || statement === null}>
            {title}
          </button>
          {statement !== null && shown === statement && <Copy text={statement} />}
        </p>
        {failure !== null && <FailureBox failure={failure} sql={shown} />}
      </form>
    </details>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  set(value: string): void;
}

/** A labelled text field. @param list the id of a list of proposals */
export const Field = ({ label, value, set, list }: FieldProps & { readonly list?: string }) => (
  <label>
    {label}
    <input type="text" {...(list === undefined ? {} : { list })} value={value} autocomplete="off" onInput={(e) => set(e.currentTarget.value)} />
  </label>
);

/** A labelled field for a password. */
export const Secret = ({ label, value, set }: FieldProps) => (
  <label>
    {label}
    <input type="password" value={value} autocomplete="new-password" onInput={(e) => set(e.currentTarget.value)} />
  </label>
);

/** A labelled choice. */
export const Choice = ({
  label,
  value,
  options,
  set,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  set(value: string): void;
}) => (
  <label>
    {label}
    <select value={value} onChange={(e) => set(e.currentTarget.value)}>
      {options.map((o) => (
        <option key={o} value={o}>
          {o === '' ? texts.access.none : o}
        </option>
      ))}
    </select>
  </label>
);
