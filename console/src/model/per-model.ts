/** What is read once for each model: the answer is the same for all of its concepts. */
import { changes } from '../api/http.ts';
import type { Model } from './model.ts';

/** Keeps what a request answers until the model is another one or something was changed. A failure is not kept. */
export function perModel<T>(read: (model: Model) => Promise<T>): (model: Model) => Promise<T> {
  const kept = new WeakMap<Model, { readonly at: number; readonly answer: Promise<T> }>();
  return (model) => {
    const known = kept.get(model);
    if (known?.at === changes.value) return known.answer;
    const answer = read(model);
    kept.set(model, { at: changes.value, answer });
    answer.catch(() => kept.delete(model));
    return answer;
  };
}
