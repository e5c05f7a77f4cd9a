/** One concept of the drawing: how its entities look, and its relationships, which can be expanded for all of them. */
import { useState } from 'preact/hooks';
import type { Model } from '../model/model.ts';
import type { Relationship } from '../model/types.ts';
import { useAnswer, useAttempt } from '../parts/attempt.ts';
import { FailureBox } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import type { Entity, Found, Link } from './graph.ts';
import { counts, expandAll, MOST_LINKS } from './requests.ts';
import { PLAIN, type Style } from './style.ts';

interface Props {
  readonly model: Model;
  readonly type: string;
  readonly entities: readonly Entity[];
  readonly style: Style;
  /** The colour that the entities have now. */
  readonly colour: string;
  restyle(part: Partial<Style>): void;
  include(found: readonly Found[], links: readonly Link[]): void;
  close(): void;
}

export function TypePanel({ model, type, entities, style, colour, restyle, include, close }: Props) {
  const properties = (model.concepts.get(type)?.properties ?? []).filter((p) => !p.is_measure && !p.is_multi);
  const names = properties.map((p) => p.name);
  const numbers = properties.filter((p) => /^(small|big)?int|^(integer|decimal|numeric|real|float|double)/i.test(p.type)).map((p) => p.name);
  return (
    <section aria-label={texts.data.styleOf(type)}>
      <div class="head">
        <h2>{texts.data.allOf(type, entities.length)}</h2>
        <button type="button" class="plain" onClick={close} aria-label={texts.close}>
          &times;
        </button>
      </div>
      <div class="fields">
        <label>
          {texts.data.colour}
          <input type="color" value={colour} disabled={style.colourBy !== null} onChange={(e) => restyle({ colour: e.currentTarget.value })} />
        </label>
        <By label={texts.data.colourBy} none={texts.data.oneColour} value={style.colourBy} names={names} set={(colourBy) => restyle({ colourBy })} />
        <By label={texts.data.sizeBy} none={texts.data.oneSize} value={style.sizeBy} names={numbers} set={(sizeBy) => restyle({ sizeBy })} />
        <By label={texts.data.labelBy} none={texts.data.ownLabel} value={style.labelBy} names={names} set={(labelBy) => restyle({ labelBy })} />
      </div>
      {Object.values(style).some((v) => v !== null) && (
        <button type="button" onClick={() => restyle(PLAIN)}>
          {texts.data.resetStyle}
        </button>
      )}
      <Neighbours model={model} type={type} entities={entities} include={include} />
    </section>
  );
}

function By({
  label,
  none,
  value,
  names,
  set,
}: {
  readonly label: string;
  readonly none: string;
  readonly value: string | null;
  readonly names: readonly string[];
  set(name: string | null): void;
}) {
  return (
    <label>
      {label}
      <select value={value ?? ''} onChange={(e) => set(e.currentTarget.value === '' ? null : e.currentTarget.value)}>
        <option value="">{none}</option>
        {names.map((n) => (
          <option key={n}>{n}</option>
        ))}
      </select>
    </label>
  );
}

/** The relationships of all entities of the concept together. */
function Neighbours({ model, type, entities, include }: Pick<Props, 'model' | 'type' | 'entities' | 'include'>) {
  const ids = entities.map((e) => e.id).join('\n');
  const { answer: numbers, failure: uncounted } = useAnswer(() => counts(model, type, entities), [type], [ids]);
  const { busy, failure: refused, attempt } = useAttempt();
  const [message, setMessage] = useState('');
  const failure = refused ?? uncounted;
  const start = (r: Relationship): void =>
    void attempt(
      () => expandAll(model.name, type, entities, r),
      ({ found, links }) => {
        setMessage(links.length < MOST_LINKS ? '' : texts.data.firstLinks(MOST_LINKS));
        include(found, links);
      },
    );
  const linked = [...(numbers ?? [])].filter(([, n]) => n > 0);
  return (
    <>
      <h3>{texts.data.expandAll}</h3>
      {failure !== null && <FailureBox failure={failure} />}
      {numbers === null && failure === null && <p class="muted">{texts.data.counting}</p>}
      {numbers !== null && linked.length === 0 && <p class="muted">{texts.data.noLinks}</p>}
      <ul class="links">
        {linked.map(([r, n]) => (
          <li key={`${r.name} ${r.target}`}>
            <button type="button" disabled={busy} title={r.description ?? undefined} onClick={() => start(r)}>
              {texts.data.expand(`${r.name}[${r.target}]`, n)}
            </button>
          </li>
        ))}
      </ul>
      {message !== '' && <p role="status">{message}</p>}
    </>
  );
}
