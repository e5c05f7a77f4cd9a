/** The versions of an ontology: their scripts, what they changed, and the way back to one. */
import { useState } from 'preact/hooks';
import { change } from '../api/http.ts';
import { reloadModel } from '../model/current.ts';
import { useAnswer, useAttempt } from '../parts/attempt.ts';
import { Code, FailureBox, Line, Loading } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import { ChangeList } from './diff-view.tsx';
import { rollbackPlan, rollbackStatement, versions } from './requests.ts';

export function Versions({ ontology, current }: { readonly ontology: string; readonly current: string }) {
  const { answer: all, failure: unread } = useAnswer(() => versions(ontology), [ontology], [current]);
  const { failure, attempt } = useAttempt();
  const [chosen, setChosen] = useState<string | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const roll = (id: string): void =>
    void attempt(
      async () => {
        await change(ontology, rollbackStatement(ontology, id));
        await reloadModel();
      },
      () => {
        setDone(texts.edit.rolledBack);
        setChosen(null);
      },
    );
  if (all === null) return unread === null ? <Loading /> : <FailureBox failure={unread} />;
  return (
    <div class="versions">
      {done !== null && <p role="status">{done}</p>}
      {failure !== null && <FailureBox failure={failure} />}
      <ul class="facts">
        {all.map((v) => (
          <li key={v.id}>
            <button type="button" class="item" aria-expanded={v.id === chosen} onClick={() => setChosen(v.id === chosen ? null : v.id)}>
              <time dateTime={v.created}>{new Date(v.created).toLocaleString('en')}</time> {v.created_by}{' '}
              {v.id === current && <span class="chip">{texts.edit.current}</span>}
            </button>
            {v.id === chosen && (
              <>
                <p class="muted">
                  <code>{v.id}</code>
                </p>
                {v.statement !== null && <Code text={v.statement} />}
                {v.id !== current && (
                  <>
                    <Differences ontology={ontology} version={v.id} current={current} />
                    <p class="actions">
                      <Line text={rollbackStatement(ontology, v.id)} />
                      <button type="button" onClick={() => roll(v.id)}>
                        {texts.edit.rollback}
                      </button>
                    </p>
                  </>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What a rollback to a version would change. */
function Differences({ ontology, version, current }: { readonly ontology: string; readonly version: string; readonly current: string }) {
  const { answer, failure } = useAnswer(() => rollbackPlan(ontology, version), [ontology, version, current]);
  if (failure !== null) return <FailureBox failure={failure} />;
  if (answer === null) return <Loading />;
  return (
    <section aria-label={texts.edit.differences}>
      <p>{answer.changes.length === 0 ? texts.edit.nothing : texts.edit.rollbackChanges}</p>
      <ChangeList changes={answer.changes} />
    </section>
  );
}
