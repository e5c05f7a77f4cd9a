/** The saved queries of the ontology, which are its examples, and the form that saves one. */
import { useEffect, useState } from 'preact/hooks';
import { dropExampleStatement, type Example, exampleStatement, examples, mayStore, storeExample } from '../api/examples.ts';
import { change, type Failure, failureOf } from '../api/http.ts';
import { Code, FailureBox, Line, Loading } from '../parts/basics.tsx';
import { texts } from '../texts.ts';

interface Props {
  readonly ontology: string;
  /** The statement in the editor, with values for its parameters. */
  readonly current: string;
  choose(sql: string): void;
}

export function Saved({ ontology, current, choose }: Props) {
  const [list, setList] = useState<readonly Example[] | null>(null);
  const [may, setMay] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [dropping, setDropping] = useState<string | null>(null);
  const load = async (): Promise<void> => {
    try {
      setList(await examples(ontology));
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  useEffect(() => {
    void load();
    void mayStore(ontology).then(setMay);
  }, [ontology]);
  const drop = async (question: string): Promise<void> => {
    setFailure(null);
    try {
      await change(ontology, dropExampleStatement(question));
      setDropping(null);
      await load();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <section class="result saved">
      <div class="body">
        {failure !== null && <FailureBox failure={failure} />}
        {may && <SaveForm ontology={ontology} sql={current} saved={() => void load()} />}
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
                    <button type="button" class="danger" onClick={() => void drop(one.question)}>
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
  const [failure, setFailure] = useState<Failure | null>(null);
  if (sql.trim() === '') return null;
  const statement = exampleStatement(title.trim(), sql);
  const save = async (): Promise<void> => {
    setFailure(null);
    try {
      await storeExample(ontology, title.trim(), sql);
      setTitle('');
      saved();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <form
      class="save"
      onSubmit={(e) => {
        e.preventDefault();
        if (title.trim() !== '') void save();
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
