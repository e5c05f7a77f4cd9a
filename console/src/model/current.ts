/** The model of the current ontology, loaded once. */
import { effect, signal } from '@preact/signals';
import { data, type Failure, failureOf, seenAs } from '../api/http.ts';
import { credential } from '../api/session.ts';
import { place } from '../router.ts';
import { Model } from './model.ts';
import type { Detail } from './types.ts';

/** The current model; null while it loads, and in the list of ontologies. */
export const model = signal<Model | null>(null);
/** Why the current model cannot be shown. */
export const modelFailure = signal<Failure | null>(null);

/** Loads the model again, for example after a change. */
export async function reloadModel(): Promise<void> {
  const name = place.peek().ontology;
  if (name === null) return;
  try {
    const loaded = new Model(name, await data<Detail>(`/get_ontology/${encodeURIComponent(name)}`));
    if (place.peek().ontology === name) model.value = loaded;
    modelFailure.value = null;
  } catch (error) {
    modelFailure.value = failureOf(error);
  }
}

let loaded = '';
effect(() => {
  const { ontology } = place.value;
  const who = `${credential.value?.user ?? credential.value?.value ?? ''} ${seenAs.value ?? ''}`;
  const key = credential.value === null || ontology === null ? '' : `${ontology} ${who}`;
  if (key === loaded) return;
  loaded = key;
  model.value = null;
  modelFailure.value = null;
  if (key !== '') void reloadModel();
});
