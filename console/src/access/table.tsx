/** A table of rows with a button for each row, which shows its statement and asks before it runs. */
import { useState } from 'preact/hooks';
import { cellText } from '../api/exact.ts';
import { changeAndReload } from '../model/current.ts';
import { useAttempt } from '../parts/attempt.ts';
import { FailureBox, Line } from '../parts/basics.tsx';
import { texts } from '../texts.ts';

type Values = Readonly<Record<string, unknown>>;

interface Props {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly Values[];
  readonly ontology: string | null;
  /** The button's label, and the statement that it runs for a row. */
  readonly action?: { readonly label: string; statement(row: Values): string | null } | undefined;
  onDone(): void;
}

export function AccessTable({ caption, columns, rows, ontology, action, onDone }: Props) {
  const [asked, setAsked] = useState<number | null>(null);
  const { failure, attempt } = useAttempt();
  const run = (statement: string): void =>
    void attempt(
      () => changeAndReload(ontology, statement),
      () => {
        setAsked(null);
        onDone();
      },
    );
  return (
    <>
      {failure !== null && <FailureBox failure={failure} />}
      <div class="scroll" tabIndex={0}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((c) => (
                <th key={c} scope="col">
                  {c}
                </th>
              ))}
              {action !== undefined && (
                <th scope="col">
                  <span class="hidden">{action.label}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => {
              const statement = action?.statement(row) ?? null;
              return (
                <tr key={i}>
                  {columns.map((c) => (
                    <td key={c} title={cellText(row[c]) ?? undefined}>
                      {cellText(row[c]) ?? <span class="null">{texts.query.null}</span>}
                    </td>
                  ))}
                  {action !== undefined && (
                    <td>
                      {statement !== null &&
                        (asked === i ? (
                          <span class="confirm">
                            <Line text={statement} />
                            <button type="button" class="danger" onClick={() => run(statement)}>
                              {action.label}
                            </button>
                            <button type="button" onClick={() => setAsked(null)}>
                              {texts.cancel}
                            </button>
                          </span>
                        ) : (
                          <button type="button" class="plain danger" onClick={() => setAsked(i)}>
                            {action.label}
                          </button>
                        ))}
                    </td>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
