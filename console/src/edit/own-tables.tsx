/** A guided start with the tables of a datasource: the command that reads them, and the way of its file into the editor. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Choice, Field, StatementForm } from '../access/statement-form.tsx';
import { addDatasource } from '../access/statements.ts';
import { type Failure, failureOf, query } from '../api/http.ts';
import { shellWord } from '../connect/snippets.ts';
import { reloadModel } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { Code, Copy, FailureBox } from '../parts/basics.tsx';
import { texts } from '../texts.ts';

export function OwnTables({ model: m, open }: { readonly model: Model; open(name: string, script: string): void }) {
  const attached = m.detail.datasources.map((d) => d.name);
  const [datasources, setDatasources] = useState<readonly string[]>(attached);
  const [datasource, setDatasource] = useState(attached[0] ?? '');
  const [schema, setSchema] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const file = useRef<HTMLInputElement>(null);
  useEffect(() => {
    query<{ name: string }>(null, 'SHOW DATASOURCES').then(
      (rows) => {
        setDatasources(rows.map((r) => r.name));
        setDatasource((before) => before || (rows[0]?.name ?? ''));
      },
      (error: unknown) => setFailure(failureOf(error)),
    );
  }, []);
  const load = async (): Promise<void> => {
    const [chosen] = file.current?.files ?? [];
    if (chosen !== undefined) open(chosen.name, await chosen.text());
  };
  const command = `npm run --silent kg -- introspect ${shellWord(datasource)}${schema.trim() === '' ? '' : ` --schema ${shellWord(schema.trim())}`} > model.sql`;
  return (
    <div class="start">
      <h2>{texts.tables.title}</h2>
      {failure !== null && <FailureBox failure={failure} />}
      <ol class="steps">
        <li>
          <p>{texts.tables.read}</p>
          <div class="fields">
            <Choice label={texts.tables.datasource} value={datasource} options={datasources} set={setDatasource} />
            <Field label={texts.tables.schema} value={schema} set={setSchema} />
          </div>
          <Code text={command} />
          <Copy text={command} />
          {datasource !== '' && !attached.includes(datasource) && (
            <>
              <p>{texts.tables.attach}</p>
              <StatementForm
                title={texts.tables.attachButton}
                ontology={m.name}
                statement={addDatasource(m.name, datasource)}
                onDone={() => void reloadModel()}
              >
                {null}
              </StatementForm>
            </>
          )}
        </li>
        <li>
          <p>{texts.tables.look}</p>
          <button type="button" onClick={() => file.current?.click()}>
            {texts.tables.load}
          </button>
          <input ref={file} type="file" accept=".sql,text/plain" hidden onChange={() => void load()} />
        </li>
        <li>
          <p>{texts.tables.apply}</p>
        </li>
      </ol>
    </div>
  );
}
