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

/** Whose model of which ontology is shown: an answer that arrives after either changed is not used. */
let current = '';

/** Loads the model again, for example after a change. */
export async function reloadModel(): Promise<void> {
  const name = place.peek().ontology;
  if (name === null) return;
  const asked = current;
  try {
    const loaded = new Model(name, await data<Detail>(`/get_ontology/${encodeURIComponent(name)}`));
    if (current !== asked) return;
    model.value = loaded;
    modelFailure.value = null;
  } catch (error) {
    if (current === asked) modelFailure.value = failureOf(error);
  }
}

effect(() => {
  const { ontology } = place.value;
  const who = `${credential.value?.user ?? credential.value?.value ?? ''} ${seenAs.value ?? ''}`;
  const key = credential.value === null || ontology === null ? '' : `${ontology} ${who}`;
  if (key === current) return;
  current = key;
  model.value = null;
  modelFailure.value = null;
  if (key !== '') void reloadModel();
});
