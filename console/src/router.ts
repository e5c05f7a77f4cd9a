/** The place in the console: `#/<ontology>/<view>?<parameters>`. Everything that a link shares is in the fragment, which browsers do not send. */
import { signal } from '@preact/signals';
import { keepOver } from './api/session.ts';

export const VIEWS = ['model', 'data', 'query', 'ask', 'edit', 'access', 'connect'] as const;
export type View = (typeof VIEWS)[number];

export interface Place {
  /** Null: the list of ontologies. */
  readonly ontology: string | null;
  readonly view: View;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Reads a fragment. Anything unknown leads to the list of ontologies. */
export function placeOf(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [ontology = '', view = ''] = path.split('/').map(decoded);
  return {
    ontology: ontology === '' ? null : ontology,
    view: (VIEWS as readonly string[]).includes(view) ? (view as View) : 'model',
    parameters: Object.fromEntries(new URLSearchParams(search)),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The fragment of a place. */
export function hashOf({ ontology, view, parameters = {} }: { ontology: string | null; view?: View; parameters?: Readonly<Record<string, string>> }): string {
  if (ontology === null) return '#/';
  const search = new URLSearchParams(parameters).toString();
  return `#/${encodeURIComponent(ontology)}/${view ?? 'model'}${search ? `?${search}` : ''}`;
}

export const place = signal<Place>(placeOf(location.hash));
addEventListener('hashchange', () => (place.value = placeOf(location.hash)));

/** Goes to a place. @param replace without an entry in the browser's history */
export function go(to: Parameters<typeof hashOf>[0], replace = false): void {
  const hash = hashOf(to);
  if (hash === location.hash) return;
  if (!replace) location.hash = hash;
  else {
    history.replaceState(null, '', hash);
    place.value = placeOf(hash);
  }
}

keepOver('place', {
  keep: () => location.hash,
  restore: (hash) => {
    if (typeof hash !== 'string') return;
    history.replaceState(null, '', hash === '' ? '#/' : hash);
    place.value = placeOf(hash);
  },
});
