/** The data view: entities as a graph that the user expands step by step. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { eyes, type Failure, failureOf } from '../api/http.ts';
import { onOtherUser } from '../api/session.ts';
import { Drawing } from '../data/drawing.tsx';
import { EntityPanel } from '../data/entity-panel.tsx';
import {
  add,
  begin,
  change,
  type DataGraph,
  EMPTY,
  type Entity,
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
import { Legend } from '../data/legend.tsx';
import { Search } from '../data/search.tsx';
import { fromParameters, parametersOf } from '../data/share.ts';
import { COLOURS, type Look, lookOf, PLAIN, restyled } from '../data/style.ts';
import { DrawnTable } from '../data/table.tsx';
import { TypePanel } from '../data/type-panel.tsx';
import { usable, useValues } from '../data/values.ts';
import { model } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { useAttempt } from '../parts/attempt.ts';
import { Copy, download, FailureBox } from '../parts/basics.tsx';
import { go, hashOf, place } from '../router.ts';
import { texts } from '../texts.ts';

export default function DataPage() {
  return model.value === null ? null : <Page model={model.value} />;
}

/** The drawings, kept while the user looks at another view. */
const kept = new Map<string, Steps>();
onOtherUser(() => kept.clear());
/** Somebody else sees other entities, and other values of them. */
const keyOf = (m: Model): string => `${eyes.peek()} ${m.name}`;

function Page({ model: m }: { readonly model: Model }) {
  const [steps, setSteps] = useState<Steps>(() => kept.get(keyOf(m)) ?? begin(EMPTY));
  const [chosen, setChosen] = useState<string | null>(null);
  const [openType, setOpenType] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const { failure: unread, attempt } = useAttempt();
  const file = useRef<HTMLInputElement>(null);
  const graph = steps.now;
  useEffect(() => {
    kept.set(keyOf(m), steps);
  }, [steps]);

  const byType = useMemo(() => Map.groupBy(graph.entities.values(), (e) => e.type), [graph]);
  const types = useMemo(() => [...byType.keys()].sort(), [byType]);
  const names = useMemo(() => [...m.concepts.keys()], [m]);
  const values = useValues(m, graph, (error) => setFailure(failureOf(error)));
  const styleOf = (type: string) => usable(m, type, graph.styles.get(type) ?? PLAIN);
  const looks = useMemo(() => {
    // the usual colour of a concept does not depend on what else is drawn
    const usual = (type: string): string => COLOURS[Math.max(0, names.indexOf(type)) % COLOURS.length] as string;
    const look = ([type, entities]: [string, readonly Entity[]]): [string, Look] => [
      type,
      lookOf(
        styleOf(type),
        usual(type),
        entities.map((e) => e.id),
        values,
        texts.data.otherValue,
      ),
    ];
    return new Map([...byType].map(look));
  }, [graph, values, names]);
  const look = (type: string): Look => looks.get(type) as Look;

  /** Changes the drawing as it is then: an answer may arrive after other changes. */
  const put = (next: (now: DataGraph) => DataGraph): void =>
    setSteps((s) => {
      const changed = next(s.now);
      return changed === s.now ? s : step(s, changed);
    });
  const choose = (id: string): void => {
    setChosen(id);
    setOpenType(null);
  };
  const include = (found: readonly Found[], links: readonly Link[] = [], around?: string): void => {
    put((now) => {
      const from = around === undefined ? undefined : now.entities.get(around);
      // what it was asked for was hidden meanwhile
      return around !== undefined && from === undefined ? now : arrange(add(now, found, links, from));
    });
    if (found.length === 1 && around === undefined) choose((found[0] as Found).id);
  };

  // a link, or a row of a query, names entities
  const { parameters } = place.value;
  useEffect(() => {
    if (parameters.entity === undefined && parameters.entities === undefined) return;
    void attempt(
      () => fromParameters(m, parameters),
      ({ found, links, styles }) => {
        put((now) => arrange({ ...add(now, found, links), styles: new Map([...now.styles, ...styles]) }));
        if (found.length === 1) choose((found[0] as Found).id);
        go({ ontology: m.name, view: 'data' }, true);
      },
    );
  }, [parameters.entity, parameters.entities]);

  const load = (): void => {
    const [chosenFile] = file.current?.files ?? [];
    if (file.current === null || chosenFile === undefined) return;
    // so that the same file can be chosen again
    file.current.value = '';
    void attempt(
      async () => {
        const read = fromJson(await chosenFile.text());
        if (read === null) throw new Error(texts.data.loadFault);
        return read.graph;
      },
      (read) => put(() => read),
    );
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
        <button type="button" disabled={graph.entities.size === 0} onClick={() => put((now) => ({ ...EMPTY, styles: now.styles }))}>
          {texts.data.clear}
        </button>
        <Legend types={types} open={openType} look={look} choose={(type) => setOpenType(type === openType ? null : type)} />
        <span class="grow" />
        {graph.entities.size > 0 && (
          <>
            <button type="button" class="plain" onClick={() => download(`${m.name}.json`, new Blob([toJson(m.name, graph)], { type: 'application/json' }))}>
              {texts.data.save}
            </button>
            <Copy
              label={texts.data.share}
              text={() => `${location.origin}${location.pathname}${hashOf({ ontology: m.name, view: 'data', parameters: parametersOf(graph) })}`}
            />
          </>
        )}
        <button type="button" class="plain" onClick={() => file.current?.click()}>
          {texts.data.load}
        </button>
        <input ref={file} type="file" accept="application/json" hidden onChange={load} />
      </div>
      <div class="canvas">
        {graph.entities.size === 0 ? (
          <p class="empty">{texts.data.start}</p>
        ) : (
          <Drawing
            graph={graph}
            chosen={chosen}
            choose={choose}
            look={look}
            move={(id, x, y) => put((now) => change(now, new Map([[id, { x, y, pinned: true }]])))}
          />
        )}
      </div>
      <div class="panel">
        {(unread ?? failure) !== null && <FailureBox failure={(unread ?? failure) as Failure} />}
        {graph.entities.size >= MOST && <p role="status">{texts.data.full(MOST)}</p>}
        <Search key={parameters.concept ?? ''} model={m} first={parameters.concept ?? null} open={(found) => include([found])} />
        {openType !== null && byType.has(openType) ? (
          <TypePanel
            key={openType}
            model={m}
            type={openType}
            entities={byType.get(openType) as Entity[]}
            style={styleOf(openType)}
            colour={look(openType).colour}
            restyle={(part) => put((now) => ({ ...now, styles: restyled(now.styles, openType, part) }))}
            include={(found, links) => include(found, links, byType.get(openType)?.[0]?.id)}
            close={() => setOpenType(null)}
          />
        ) : current === undefined ? (
          graph.entities.size > 0 && <p class="muted">{texts.data.choose}</p>
        ) : (
          <EntityPanel
            key={current.id}
            model={m}
            graph={graph}
            entity={current}
            include={include}
            hide={() => {
              put((now) => remove(now, current.id));
              setChosen(null);
            }}
            pin={() => put((now) => change(now, new Map([[current.id, { pinned: !current.pinned }]])))}
          />
        )}
        {graph.entities.size > 0 && <DrawnTable graph={graph} chosen={chosen} choose={choose} look={look} />}
      </div>
    </div>
  );
}
