/** Everything about one view or cube. */
import { identifier, product } from '../api/http.ts';
import { memberOf } from '../api/names.ts';
import type { Model } from '../model/model.ts';
import { hashOf } from '../router.ts';
import { texts } from '../texts.ts';
import { Code } from './basics.tsx';

export function ViewDetails({ model, name, close }: { readonly model: Model; readonly name: string; close(): void }) {
  const view = memberOf(model.detail.views, name);
  if (view === undefined) return null;
  return (
    <aside class="details" aria-label={name}>
      <div class="head">
        <h2>{name}</h2>
        <button type="button" class="plain" onClick={close} aria-label={texts.close}>
          &times;
        </button>
      </div>
      {view.description !== null && <p>{view.description}</p>}
      <p class="actions">
        <a
          class="button"
          href={hashOf({ ontology: model.name, view: 'query', parameters: { sql: `SELECT *\nFROM v${product}.${identifier(name)}\nLIMIT 100` } })}
        >
          {texts.model.query}
        </a>
      </p>
      <h3>{texts.model.columns}</h3>
      <ul class="facts">
        {view.columns.map((c) => (
          <li key={c.name}>
            <b>{c.name}</b> <span class="type">{c.type}</span>
          </li>
        ))}
      </ul>
      {view.query !== null && (
        <>
          <h3>{texts.model.logic}</h3>
          <Code text={view.query} />
        </>
      )}
    </aside>
  );
}
