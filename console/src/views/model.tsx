/** The model: a drawing of concepts, a list with the same content, and the details of the chosen concept. */
import { useMemo, useState } from 'preact/hooks';
import { model } from '../model/current.ts';
import { MOST_WITHOUT_FOCUS, shown } from '../model/graph.ts';
import type { Model } from '../model/model.ts';
import { ConceptDetails } from '../parts/concept-details.tsx';
import { Drawing } from '../parts/model-drawing.tsx';
import { ViewDetails } from '../parts/view-details.tsx';
import { go, place } from '../router.ts';
import { texts } from '../texts.ts';

export default function ModelPage() {
  const current = model.value;
  return current === null ? null : <Page model={current} />;
}

function Page({ model: m }: { readonly model: Model }) {
  const { parameters } = place.value;
  const [inheritance, setInheritance] = useState(true);
  const [relationships, setRelationships] = useState(true);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const chosen = parameters.concept ?? null;
  const depth = Math.min(3, Math.max(1, Number(parameters.depth ?? '1') || 1));
  const large = m.concepts.size > MOST_WITHOUT_FOCUS;
  const focus = parameters.focus ?? (large ? (chosen ?? firstOf(m)) : null);
  const wish = { focus, depth, inheritance, relationships, collapsed };
  const drawn = useMemo(() => shown(m, wish), [m, focus, depth, inheritance, relationships, collapsed]);
  const set = (change: Readonly<Record<string, string | null>>): void => {
    const next = Object.fromEntries(Object.entries({ ...parameters, ...change }).filter((e): e is [string, string] => e[1] !== null));
    go({ ontology: m.name, view: 'model', parameters: next }, true);
  };
  const toggle = (name: string): void => {
    const next = new Set(collapsed);
    if (!next.delete(name)) next.add(name);
    setCollapsed(next);
  };
  const choose = (name: string): void => set({ concept: name, view: null, ...(large ? { focus: name } : {}) });
  return (
    <div class={chosen === null && parameters.view === undefined ? 'columns' : 'columns with-details'}>
      <ConceptList model={m} chosen={chosen} chooseConcept={choose} chooseView={(name) => set({ view: name, concept: null })} />
      <section class="drawing" aria-label={texts.model.drawing}>
        <div class="bar">
          <label>
            <input type="checkbox" checked={inheritance} onChange={(e) => setInheritance(e.currentTarget.checked)} /> {texts.model.inheritance}
          </label>
          <label>
            <input type="checkbox" checked={relationships} onChange={(e) => setRelationships(e.currentTarget.checked)} /> {texts.model.relationships}
          </label>
          {focus !== null && (
            <>
              <label>
                {texts.model.depth}{' '}
                <select value={String(depth)} onChange={(e) => set({ depth: e.currentTarget.value })}>
                  {['1', '2', '3'].map((n) => (
                    <option key={n}>{n}</option>
                  ))}
                </select>
              </label>
              {!large && (
                <button type="button" class="plain" onClick={() => set({ focus: null })}>
                  {texts.model.everything}
                </button>
              )}
            </>
          )}
          {large && parameters.focus === undefined && <span class="muted">{texts.model.tooMany(m.concepts.size, drawn.nodes.length)}</span>}
        </div>
        <Drawing
          model={m}
          drawn={drawn}
          chosen={chosen}
          collapsed={collapsed}
          choose={choose}
          focus={(name) => set({ focus: name, concept: name, view: null })}
          toggle={toggle}
        />
      </section>
      {chosen !== null && m.concepts.has(chosen) && (
        <ConceptDetails key={chosen} model={m} name={chosen} choose={choose} focus={() => set({ focus: chosen })} close={() => set({ concept: null })} />
      )}
      {chosen === null && parameters.view !== undefined && <ViewDetails model={m} name={parameters.view} close={() => set({ view: null })} />}
    </div>
  );
}

/** The concept with the most relationships: a large model opens there. */
function firstOf(m: Model): string | null {
  let best: string | null = null;
  let most = -1;
  for (const c of m.detail.ontology) {
    if (c.relationships.length <= most) continue;
    most = c.relationships.length;
    best = c.concept;
  }
  return best;
}

function ConceptList({
  model: m,
  chosen,
  chooseConcept,
  chooseView,
}: {
  readonly model: Model;
  readonly chosen: string | null;
  chooseConcept(name: string): void;
  chooseView(name: string): void;
}) {
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const concepts = useMemo(() => m.detail.ontology.filter((c) => wanted === '' || matches(c, wanted)), [m, wanted]);
  const views = Object.keys(m.detail.views).filter((name) => name.toLowerCase().includes(wanted));
  return (
    <aside class="list">
      <label for="find" class="hidden">
        {texts.model.search}
      </label>
      <input id="find" type="search" placeholder={texts.model.find} value={search} onInput={(e) => setSearch(e.currentTarget.value)} />
      <h2>{texts.model.list}</h2>
      {concepts.length === 0 && (
        <p class="muted">
          {texts.model.nothing} {texts.restrictions.unnamed}
        </p>
      )}
      <ul>
        {concepts.slice(0, 400).map((c) => (
          <li key={c.concept}>
            <button type="button" class="item" aria-pressed={c.concept === chosen} onClick={() => chooseConcept(c.concept)} title={c.description ?? undefined}>
              {c.concept}
              {wanted !== '' && <span class="muted"> {foundIn(c, wanted).join(', ')}</span>}
            </button>
          </li>
        ))}
      </ul>
      {views.length > 0 && <h2>{texts.model.views}</h2>}
      <ul>
        {views.map((name) => (
          <li key={name}>
            <button type="button" class="item" onClick={() => chooseView(name)} title={m.detail.views[name]?.description ?? undefined}>
              {name}
            </button>
          </li>
        ))}
      </ul>
    </aside>
  );
}

/** The names of properties and relationships of a concept that contain a text. */
const foundIn = (c: Model['detail']['ontology'][number], wanted: string): readonly string[] =>
  [...c.properties, ...c.relationships.filter((r) => !r.is_inverse)].map((part) => part.name).filter((name) => name.toLowerCase().includes(wanted));

function matches(c: Model['detail']['ontology'][number], wanted: string): boolean {
  const has = (text: string | null | undefined): boolean => text?.toLowerCase().includes(wanted) === true;
  return has(c.concept) || has(c.description) || has(c.tags.synonyms) || foundIn(c, wanted).length > 0;
}
