/** A guided start with the tables of a datasource: choose a schema and tables, and look at the model that they suggest. */
import { useEffect, useState } from 'preact/hooks';
import { startingScript } from '../../../src/cli/introspect-script.ts';
import type { DbTable } from '../../../src/engine/tables.ts';
import { Choice, StatementForm } from '../access/statement-form.tsx';
import { addDatasource } from '../access/statements.ts';
import { identifier, query } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { useAttempt } from '../parts/attempt.ts';
import { Code, FailureBox, Line } from '../parts/basics.tsx';
import { texts } from '../texts.ts';

interface Props {
  readonly model: Model;
  /** Opens a script in the editor. */
  open(name: string, script: string): void;
}

export default function OwnTables({ model: m, open }: Props) {
  const attached = m.detail.datasources.map((d) => d.name);
  const [datasources, setDatasources] = useState<readonly string[]>(attached);
  const [datasource, setDatasource] = useState(attached[0] ?? '');
  const [tables, setTables] = useState<readonly DbTable[] | null>(null);
  const { busy, failure, attempt, forget } = useAttempt();
  useEffect(() => {
    void attempt(
      () => query<{ name: string }>(null, 'SHOW DATASOURCES'),
      (found) => {
        const names = found.map((r) => r.name);
        setDatasources(names);
        setDatasource((before) => before || (names[0] ?? ''));
      },
    );
  }, []);
  const statement = `SHOW DATASOURCE ${identifier(datasource)}`;
  const read = (): void =>
    void attempt(
      () => query<{ definition: string }>(null, statement),
      (found) => setTables(found.map((t) => JSON.parse(t.definition) as DbTable)),
    );
  return (
    <div class="start">
      <h2>{texts.tables.title}</h2>
      {failure !== null && <FailureBox failure={failure} />}
      <ol class="steps">
        <li>
          <p>{texts.tables.read}</p>
          <div class="fields">
            <Choice
              label={texts.tables.datasource}
              value={datasource}
              options={datasources}
              set={(name) => {
                forget();
                setDatasource(name);
                setTables(null);
              }}
            />
          </div>
          <p class="actions">
            <button type="button" class={tables === null ? 'primary' : ''} disabled={busy || datasource === ''} onClick={read}>
              {texts.tables.readButton}
            </button>{' '}
            <Line text={statement} />
          </p>
          {datasource !== '' && !attached.includes(datasource) && (
            <>
              <p>{texts.tables.attach}</p>
              <StatementForm title={texts.tables.attachButton} ontology={m.name} statement={addDatasource(m.name, datasource)}>
                {null}
              </StatementForm>
            </>
          )}
        </li>
        {tables !== null && <Guess key={datasource} tables={tables} datasource={datasource} open={open} />}
      </ol>
    </div>
  );
}

/** The choice of tables, and the script that they suggest. */
function Guess({ tables, datasource, open }: Pick<Props, 'open'> & { readonly tables: readonly DbTable[]; readonly datasource: string }) {
  const schemas = [...new Set(tables.map((t) => t.schema))];
  const [schema, setSchema] = useState(schemas[0] ?? '');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set(tables.filter((t) => t.isView).map(nameOf)));
  const inSchema = tables.filter((t) => t.schema === schema);
  const chosen = inSchema.filter((t) => !left.has(nameOf(t)));
  const script = chosen.length === 0 ? '' : startingScript(chosen, datasource).replace(/^--.*\n--.*\n/, '');
  const toggle = (t: DbTable): void => {
    const next = new Set(left);
    if (!next.delete(nameOf(t))) next.add(nameOf(t));
    setLeft(next);
  };
  if (tables.length === 0) return <li>{texts.tables.none}</li>;
  return (
    <>
      <li>
        <p>{texts.tables.choose}</p>
        <div class="fields">
          <Choice label={texts.tables.schema} value={schema} options={schemas} set={setSchema} />
        </div>
        <fieldset aria-label={texts.tables.choose}>
          {inSchema.map((t) => (
            <label key={nameOf(t)}>
              <input type="checkbox" checked={!left.has(nameOf(t))} onChange={() => toggle(t)} /> {t.name}{' '}
              <span class="muted">{t.comment ?? texts.tables.columns(t.columns.length)}</span>
            </label>
          ))}
        </fieldset>
      </li>
      {script !== '' && (
        <li>
          <p>{texts.tables.look}</p>
          <Code text={script} />
          <p class="actions">
            <button type="button" class="primary" onClick={() => open(schema, script)}>
              {texts.tables.open}
            </button>
          </p>
        </li>
      )}
    </>
  );
}

const nameOf = (t: DbTable): string => `${t.schema}.${t.name}`;
