/** The versions of an ontology: their scripts, what they changed, and the way back to one. */
import { useEffect, useState } from 'preact/hooks';
import { change, type Failure, failureOf } from '../api/http.ts';
import { reloadModel } from '../model/current.ts';
import { Code, FailureBox, Line, Loading } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import { rollbackStatement, type Version, versions } from './requests.ts';

export function Versions({ ontology, current }: { readonly ontology: string; readonly current: string }) {
  const [all, setAll] = useState<readonly Version[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [done, setDone] = useState<string | null>(null);
  useEffect(() => {
    versions(ontology).then(setAll, (error: unknown) => setFailure(failureOf(error)));
  }, [ontology, current]);
  const roll = async (id: string): Promise<void> => {
    setFailure(null);
    try {
      await change(ontology, rollbackStatement(ontology, id));
      setDone(texts.edit.rolledBack);
      setChosen(null);
      await reloadModel();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  if (all === null) return failure === null ? <Loading /> : <FailureBox failure={failure} />;
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
                  <p class="actions">
                    <Line text={rollbackStatement(ontology, v.id)} />
                    <button type="button" onClick={() => void roll(v.id)}>
                      {texts.edit.rollback}
                    </button>
                  </p>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
