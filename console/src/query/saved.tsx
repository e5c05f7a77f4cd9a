/** The saved queries of the ontology, which are its examples, and the form that saves one. */
import { useState } from 'preact/hooks';
import { dropExampleStatement, exampleStatement, examples, mayStore, storeExample } from '../api/examples.ts';
import { change, eyes } from '../api/http.ts';
import { useAnswer, useAttempt } from '../parts/attempt.ts';
import { Code, FailureBox, Line, Loading } from '../parts/basics.tsx';
import { texts } from '../texts.ts';

interface Props {
  readonly ontology: string;
  /** The statement in the editor, with values for its parameters. */
  readonly current: string;
  choose(sql: string): void;
}

export function Saved({ ontology, current, choose }: Props) {
  const { answer: list, failure: unread, again } = useAnswer(() => examples(ontology), [ontology, eyes.value]);
  const may = useAnswer(() => mayStore(ontology), [ontology, eyes.value]).answer === true;
  const { failure: refused, attempt } = useAttempt();
  const [dropping, setDropping] = useState<string | null>(null);
  const failure = refused ?? unread;
  const drop = (question: string): void =>
    void attempt(
      () => change(ontology, dropExampleStatement(question)),
      () => {
        setDropping(null);
        again();
      },
    );
  return (
    <section class="result saved">
      <div class="body">
        {failure !== null && <FailureBox failure={failure} />}
        {may && <SaveForm ontology={ontology} sql={current} saved={again} />}
        {list === null ? failure === null && <Loading /> : list.length === 0 && <p class="empty">{texts.query.noSaved}</p>}
        <ul class="history">
          {list?.map((one) => (
            <li key={one.question}>
              <button type="button" title={one.query} onClick={() => choose(one.query)}>
                {one.question}
              </button>
              {may &&
                (dropping === one.question ? (
                  <span class="confirm">
                    <Line text={dropExampleStatement(one.question)} />
                    <button type="button" class="danger" onClick={() => drop(one.question)}>
                      {texts.query.dropSaved}
                    </button>
                  </span>
                ) : (
                  <button type="button" class="plain" aria-label={`${texts.query.dropSaved}: ${one.question}`} onClick={() => setDropping(one.question)}>
                    {texts.query.dropSaved}
                  </button>
                ))}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function SaveForm({ ontology, sql, saved }: { readonly ontology: string; readonly sql: string; saved(): void }) {
  const [title, setTitle] = useState('');
  const { failure, attempt } = useAttempt();
  if (sql.trim() === '') return null;
  const statement = exampleStatement(title.trim(), sql);
  const save = (): void =>
    void attempt(
      () => storeExample(ontology, title.trim(), sql),
      () => {
        setTitle('');
        saved();
      },
    );
  return (
    <form
      class="save"
      onSubmit={(e) => {
        e.preventDefault();
        if (title.trim() !== '') save();
      }}
    >
      <label>
        {texts.query.saveTitle} <input value={title} maxLength={500} onInput={(e) => setTitle(e.currentTarget.value)} />
      </label>
      <button type="submit" disabled={title.trim() === ''}>
        {texts.query.saveQuery}
      </button>
      {title.trim() !== '' && <Code text={statement} />}
      {failure !== null && <FailureBox failure={failure} sql={statement} />}
    </form>
  );
}
