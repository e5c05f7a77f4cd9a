/** The search for entities to begin with: by label and by the texts of a concept. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Model } from '../model/model.ts';
import { useAttempt } from '../parts/attempt.ts';
import { FailureBox, Loading } from '../parts/basics.tsx';
import { Hidden } from '../parts/restrictions.tsx';
import { texts } from '../texts.ts';
import { type Findings, search, searchAll } from './find.ts';
import { type Found, nameOf } from './graph.ts';

export function Search({ model: m, first, open }: { readonly model: Model; readonly first: string | null; open(found: Found): void }) {
  const concepts = useMemo(() => [...m.concepts.keys()].filter((c) => c !== 'thing').sort(), [m]);
  const [concept, setConcept] = useState(first ?? 'thing');
  const [text, setText] = useState('');
  const [found, setFound] = useState<Findings | null>(null);
  const { busy, failure, attempt, forget } = useAttempt();
  const find = (): void => void attempt((signal) => (concept === 'thing' ? searchAll(m, text, signal, setFound) : search(m, concept, text, signal)), setFound);
  useEffect(() => {
    if (first !== null) find();
  }, [first]);
  const notes = [
    found?.isCut && texts.data.mayBeMore,
    found !== null && found.read < found.all && texts.data.partlyRead(found.read, found.all),
    found?.isUncalculated && texts.data.uncalculated,
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        find();
      }}
    >
      <p class="actions">
        <label>
          <span class="hidden">{texts.data.concept}</span>
          <select
            value={concept}
            onChange={(e) => {
              forget();
              setFound(null);
              setConcept(e.currentTarget.value);
            }}
          >
            <option value="thing">{texts.data.everyConcept}</option>
            {concepts.map((c) => (
              <option key={c}>{c}</option>
            ))}
          </select>
        </label>
        <input type="search" aria-label={texts.data.search} placeholder={texts.data.search} value={text} onInput={(e) => setText(e.currentTarget.value)} />
        <button type="submit">{texts.data.find}</button>
      </p>
      {failure !== null && <FailureBox failure={failure} />}
      {busy && <Loading text={texts.data.searching} />}
      {!busy && found?.hits.length === 0 && (
        <>
          <p class="muted">{texts.data.none}</p>
          <Hidden model={m} concepts={concept === 'thing' ? concepts : [concept]} />
        </>
      )}
      {found !== null && found.hits.length > 0 && (
        <ul class="found">
          {found.hits.map((f) => (
            <li key={f.id}>
              <button
                type="button"
                onClick={() => {
                  open({ id: f.id, type: f.type, label: f.label });
                  forget();
                  setFound(null);
                }}
              >
                <bdi>{nameOf(f)}</bdi> <span class="muted">{f.property === null ? f.type : `${f.type}, ${f.property}`}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {!busy && notes !== '' && <p class="muted">{notes}</p>}
    </form>
  );
}
