/** The chosen entity: its values, and its links by relationship with their number, before anything is expanded. */
import { useState } from 'preact/hooks';
import { cellText } from '../api/exact.ts';
import type { Model } from '../model/model.ts';
import type { Relationship } from '../model/types.ts';
import { useAnswer, useAttempt } from '../parts/attempt.ts';
import { FailureBox } from '../parts/basics.tsx';
import { Hidden } from '../parts/restrictions.tsx';
import { texts } from '../texts.ts';
import { type DataGraph, type Entity, type Found, type Link, nameOf } from './graph.ts';
import { counts, expand, FARTHEST, PAGE, shortestPath, valuesOf, walkable } from './requests.ts';

interface Props {
  readonly model: Model;
  readonly graph: DataGraph;
  readonly entity: Entity;
  include(found: readonly Found[], links: readonly Link[], around: string): void;
  hide(): void;
  pin(): void;
}

export function EntityPanel({ model, graph, entity, include, hide, pin }: Props) {
  const { answer: values, failure: unread } = useAnswer(() => valuesOf(model.name, entity), [entity.id]);
  const { answer: numbers, failure: uncounted } = useAnswer(() => counts(model, entity.type, [entity]), [entity.id]);
  const failure = uncounted ?? unread;
  const linked = numbers === null ? [] : [...numbers].filter(([, n]) => n > 0);
  return (
    <section aria-label={nameOf(entity)}>
      <h2>{nameOf(entity)}</h2>
      <p class="muted">
        {entity.type} <code>{entity.id}</code>
      </p>
      <p class="actions">
        <button type="button" onClick={hide}>
          {texts.data.hide}
        </button>
        <button type="button" onClick={pin}>
          {entity.pinned ? texts.data.unpin : texts.data.pin}
        </button>
      </p>
      {failure !== null && <FailureBox failure={failure} />}
      <h3>{texts.data.links}</h3>
      {numbers === null && failure === null && <p class="muted">{texts.data.counting}</p>}
      {numbers !== null && linked.length === 0 && <p class="muted">{texts.data.noLinks}</p>}
      <ul class="links">
        {linked.map(([r, n]) => (
          <RelationshipLinks key={`${r.name} ${r.target}`} ontology={model.name} graph={graph} entity={entity} relationship={r} count={n} include={include} />
        ))}
      </ul>
      <ShortestPath model={model} graph={graph} entity={entity} include={include} />
      <h3>{texts.data.properties}</h3>
      <Hidden model={model} concepts={[entity.type]} />
      {values !== null && (
        <dl>
          {Object.entries(values)
            .filter(([name]) => !name.startsWith('entity_'))
            .map(([name, value]) => (
              <Value key={name} name={name} text={cellText(value)} />
            ))}
        </dl>
      )}
    </section>
  );
}

const Value = ({ name, text }: { readonly name: string; readonly text: string | null }) => (
  <>
    <dt>{name}</dt>
    <dd>{text === null ? <span class="null">{texts.query.null}</span> : text.slice(0, 2000)}</dd>
  </>
);

function RelationshipLinks({
  ontology,
  entity,
  relationship,
  count,
  graph,
  include,
}: {
  readonly ontology: string;
  readonly graph: DataGraph;
  readonly entity: Entity;
  readonly relationship: Relationship;
  readonly count: number;
  include: Props['include'];
}) {
  const [loaded, setLoaded] = useState<{ readonly offset: number; readonly ids: readonly string[] }>({ offset: 0, ids: [] });
  // entities that an undo or the user removed can be loaded again
  const offset = loaded.ids.every((id) => graph.entities.has(id)) ? loaded.offset : 0;
  const [filter, setFilter] = useState('');
  const { busy, failure, attempt, forget } = useAttempt();
  const next = (from: number): void =>
    void attempt(
      () => expand(ontology, entity, relationship, from, filter),
      ({ found, links }) => {
        include(found, links, entity.id);
        const before = from === 0 ? [] : loaded.ids;
        setLoaded({ offset: found.length < PAGE ? count : from + PAGE, ids: [...before, ...found.map((f) => f.id)] });
      },
    );
  const name = `${relationship.name}[${relationship.target}]`;
  return (
    <li>
      <button type="button" disabled={busy || offset >= count} title={relationship.description ?? undefined} onClick={() => next(offset)}>
        {texts.data.expand(name, count)}
        {offset > 0 && offset < count && ` \u2014 ${texts.data.more}`}
      </button>
      {count > PAGE && (
        <input
          type="search"
          aria-label={`${name}: ${texts.data.filter}`}
          placeholder={texts.data.filter}
          value={filter}
          onInput={(e) => {
            forget();
            setFilter(e.currentTarget.value);
            setLoaded({ offset: 0, ids: [] });
          }}
        />
      )}
      {failure !== null && <FailureBox failure={failure} />}
    </li>
  );
}

function ShortestPath({ model, graph, entity, include }: Pick<Props, 'model' | 'graph' | 'entity' | 'include'>) {
  const walks = walkable(model, entity.type);
  const others = [...graph.entities.values()].filter((e) => e.id !== entity.id && walks.some((r) => model.isOfKind(e.type, r.target)));
  const [target, setTarget] = useState('');
  const [message, setMessage] = useState<string | null>(null);
  const { failure, attempt } = useAttempt();
  if (walks.length === 0 || others.length === 0) return null;
  const find = (): void => {
    const to = graph.entities.get(target) ?? others[0];
    if (to === undefined) return;
    setMessage(null);
    void attempt(
      () => shortestPath(model, entity, to),
      (path) => (path === null ? setMessage(texts.data.noPath(FARTHEST)) : include(path.found, path.links, entity.id)),
    );
  };
  return (
    <>
      <h3>{texts.data.path}</h3>
      <p class="actions">
        <select aria-label={texts.data.path} value={target || others[0]?.id} onChange={(e) => setTarget(e.currentTarget.value)}>
          {others.map((e) => (
            <option key={e.id} value={e.id}>
              {nameOf(e)}
            </option>
          ))}
        </select>
        <button type="button" onClick={find}>
          {texts.data.findPath}
        </button>
      </p>
      {message !== null && <p role="status">{message}</p>}
      {failure !== null && <FailureBox failure={failure} />}
    </>
  );
}
