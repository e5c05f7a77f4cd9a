/** The search for entities to begin with: by label and by the texts of a concept. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Failure, failureOf } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { FailureBox } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import type { Found } from './graph.ts';
import { type Hit, search } from './requests.ts';

export function Search({ model: m, first, open }: { readonly model: Model; readonly first: string | null; open(found: Found): void }) {
  const concepts = useMemo(() => [...m.concepts.keys()].filter((c) => c !== 'thing').sort(), [m]);
  const [concept, setConcept] = useState(first ?? 'thing');
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Hit[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const find = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    setFailure(null);
    try {
      setFound(await search(m, concept, text));
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  useEffect(() => {
    if (first !== null) void find();
  }, [first]);
  return (
    <form onSubmit={(e) => void find(e)}>
      <p class="actions">
        <label>
          <span class="hidden">{texts.data.concept}</span>
          <select value={concept} onChange={(e) => setConcept(e.currentTarget.value)}>
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
      {found !== null && found.length === 0 && <p class="muted">{texts.data.none}</p>}
      {found !== null && found.length > 0 && (
        <ul class="found">
          {found.map((f) => (
            <li key={f.id}>
              <button
                type="button"
                onClick={() => {
                  open({ id: f.id, type: f.type, label: f.label });
                  setFound(null);
                }}
              >
                {f.label ?? f.id} <span class="muted">{f.property === null ? f.type : `${f.type}, ${f.property}`}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
