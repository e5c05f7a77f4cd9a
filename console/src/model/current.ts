/** The model of the current ontology, loaded once. */
import { effect, signal } from '@preact/signals';
import { change, changes, data, eyes, type Failure } from '../api/http.ts';
import { Latest } from '../api/latest.ts';
import { credential } from '../api/session.ts';
import { place } from '../router.ts';
import { Model } from './model.ts';
import type { Detail } from './types.ts';

/** The current model; null while it loads, and in the list of ontologies. */
export const model = signal<Model | null>(null);
/** Why the current model cannot be shown. */
export const modelFailure = signal<Failure | null>(null);

const loading = new Latest();

/** Loads the model again, for example after a change. */
export async function reloadModel(): Promise<void> {
  const name = place.peek().ontology;
  if (name === null) return;
  await loading.ask(
    () => data<Detail>(`/get_ontology/${encodeURIComponent(name)}`),
    (detail) => {
      model.value = new Model(name, detail);
      modelFailure.value = null;
    },
    (failure) => (modelFailure.value = failure),
  );
}

/** Changes a right, a policy or a datasource: the user may see another model afterwards. @throws as `change` */
export async function changeAndReload<T>(ontology: string | null, sql: string): Promise<readonly T[]> {
  const rows = await change<T>(ontology, sql);
  await reloadModel();
  return rows;
}

/** Called after statements that may have changed anything. */
export function changed(): Promise<void> {
  changes.value++;
  return reloadModel();
}

/** Whose model of which ontology is shown. */
let current = '';
effect(() => {
  const { ontology } = place.value;
  const key = credential.value === null || ontology === null ? '' : `${ontology} ${eyes.value}`;
  if (key === current) return;
  current = key;
  loading.forget();
  model.value = null;
  modelFailure.value = null;
  if (key !== '') void reloadModel();
});
