/** The data view: entities as a graph that the user expands step by step. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Failure, failureOf } from '../api/http.ts';
import { onOtherUser } from '../api/session.ts';
import { Drawing } from '../data/drawing.tsx';
import { EntityPanel } from '../data/entity-panel.tsx';
import {
  add,
  begin,
  change,
  type DataGraph,
  EMPTY,
  type Found,
  fromJson,
  type Link,
  MOST,
  redo,
  remove,
  type Steps,
  step,
  toJson,
  undo,
} from '../data/graph.ts';
import { arrange } from '../data/layout.ts';
import { byIds, search } from '../data/requests.ts';
import { model } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { Copy, download, FailureBox } from '../parts/basics.tsx';
import { go, hashOf, place } from '../router.ts';
import { texts } from '../texts.ts';

const COLOURS = ['#3b7dd8', '#d8743b', '#3ba55d', '#a453c9', '#c94f5d', '#3ba5a5', '#b3902e', '#6f7bd8', '#d8589e', '#5f8f3f', '#8b6f5a', '#4f8fb5'];

export default function DataPage() {
  return model.value === null ? null : <Page model={model.value} />;
}

/** The drawings, kept while the user looks at another view. */
const kept = new Map<string, Steps>();
onOtherUser(() => kept.clear());

function Page({ model: m }: { readonly model: Model }) {
  const [steps, setSteps] = useState<Steps>(() => kept.get(m.name) ?? begin(EMPTY));
  const [chosen, setChosen] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const file = useRef<HTMLInputElement>(null);
  const graph = steps.now;
  useEffect(() => {
    kept.set(m.name, steps);
  }, [steps]);

  const types = useMemo(() => [...new Set([...graph.entities.values()].map((e) => e.type))].sort(), [graph]);
  const names = useMemo(() => [...m.concepts.keys()], [m]);
  // the colour of a concept does not depend on what else is drawn
  const colour = (type: string): string => COLOURS[Math.max(0, names.indexOf(type)) % COLOURS.length] as string;

  const put = (next: DataGraph): void => setSteps((s) => step(s, next));
  const include = (found: readonly Found[], links: readonly Link[] = [], around?: string): void => {
    const from = around === undefined ? undefined : graph.entities.get(around);
    put(arrange(add(graph, found, links, from)));
    if (found.length === 1 && around === undefined) setChosen((found[0] as Found).id);
  };

  // a link, or a row of a query, names entities
  const { entity, entities } = place.value.parameters;
  useEffect(() => {
    const ids = entities?.split('\n') ?? (entity === undefined ? [] : [entity]);
    if (ids.length === 0) return;
    byIds(m, ids.slice(0, MOST)).then(
      (found) => {
        include(found);
        go({ ontology: m.name, view: 'data' }, true);
      },
      (error: unknown) => setFailure(failureOf(error)),
    );
  }, [entity, entities]);

  const load = async (): Promise<void> => {
    const [chosenFile] = file.current?.files ?? [];
    if (chosenFile === undefined) return;
    const read = fromJson(await chosenFile.text());
    if (read === null) alertFault(setFailure);
    else put(read.graph);
  };

  const current = chosen === null ? undefined : graph.entities.get(chosen);
  return (
    <div class="data">
      <div class="bar">
        <button type="button" disabled={steps.past.length === 0} onClick={() => setSteps(undo)}>
          {texts.data.undo}
        </button>
        <button type="button" disabled={steps.future.length === 0} onClick={() => setSteps(redo)}>
          {texts.data.redo}
        </button>
        <button type="button" disabled={graph.entities.size === 0} onClick={() => put(EMPTY)}>
          {texts.data.clear}
        </button>
        <ul class="legend" aria-label={texts.data.legend}>
          {types.map((t) => (
            <li key={t}>
              <span class="dot" style={{ background: colour(t) }} />
              {t}
            </li>
          ))}
        </ul>
        <span class="grow" />
        {graph.entities.size > 0 && (
          <>
            <button type="button" class="plain" onClick={() => download(`${m.name}.json`, new Blob([toJson(m.name, graph)], { type: 'application/json' }))}>
              {texts.data.save}
            </button>
            <Copy
              label={texts.data.share}
              text={() =>
                `${location.origin}${location.pathname}${hashOf({ ontology: m.name, view: 'data', parameters: { entities: [...graph.entities.keys()].join('\n') } })}`
              }
            />
          </>
        )}
        <button type="button" class="plain" onClick={() => file.current?.click()}>
          {texts.data.load}
        </button>
        <input ref={file} type="file" accept="application/json" hidden onChange={() => void load()} />
      </div>
      <div class="canvas">
        {graph.entities.size === 0 ? (
          <p class="empty">{texts.data.start}</p>
        ) : (
          <Drawing
            graph={graph}
            chosen={chosen}
            choose={setChosen}
            colour={colour}
            move={(id, x, y) => put(change(graph, new Map([[id, { x, y, pinned: true }]])))}
          />
        )}
      </div>
      <div class="panel">
        {failure !== null && <FailureBox failure={failure} />}
        {graph.entities.size >= MOST && <p role="status">{texts.data.full(MOST)}</p>}
        <Search key={place.value.parameters.concept ?? ''} model={m} first={place.value.parameters.concept ?? null} open={(found) => include([found])} />
        {current === undefined ? (
          graph.entities.size > 0 && <p class="muted">{texts.data.choose}</p>
        ) : (
          <EntityPanel
            key={current.id}
            model={m}
            graph={graph}
            entity={current}
            include={include}
            hide={() => {
              put(remove(graph, current.id));
              setChosen(null);
            }}
            pin={() => put(change(graph, new Map([[current.id, { pinned: !current.pinned }]])))}
          />
        )}
        {graph.entities.size > 0 && (
          <details>
            <summary>{texts.data.table}</summary>
            <ul class="found">
              {[...graph.entities.values()].map((e) => (
                <li key={e.id}>
                  <button type="button" aria-pressed={e.id === chosen} onClick={() => setChosen(e.id)}>
                    {e.label ?? e.id} <span class="muted">{e.type}</span>
                  </button>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </div>
  );
}

const alertFault = (setFailure: (failure: Failure | null) => void): void => setFailure(failureOf(new Error(texts.data.loadFault)));

function Search({ model: m, first, open }: { readonly model: Model; readonly first: string | null; open(found: Found): void }) {
  const concepts = useMemo(() => [...m.concepts.keys()].sort(), [m]);
  const [concept, setConcept] = useState(first ?? concepts[0] ?? 'thing');
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Found[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const find = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    setFailure(null);
    try {
      setFound(await search(m.name, concept, text));
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
                  open(f);
                  setFound(null);
                }}
              >
                {f.label ?? f.id} <span class="muted">{f.type}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
