/** The model without the columns that an agent excludes (`exclude_properties`). Pure. */
import type { QuestionModel } from '../service.ts';

/**
 * Leaves columns of some names out of a model, for all that is made of it: the context, values, the ranking. The copy has cache keys of its own.
 * A statement may still read such a column: what a caller may read is decided by rights, not by an agent.
 */
export function withoutColumns(model: QuestionModel, names: readonly string[]): QuestionModel {
  const hidden = new Set(names.map((name) => name.toLowerCase()));
  if (hidden.size === 0) return model;
  const suffix = `\u0000without ${[...hidden].sort().join(',')}`;
  const subjects = model.subjects.map((s) => ({ ...s, columns: s.columns.filter((c) => !hidden.has(c.name.toLowerCase())) }));
  const byName = new Map([...subjects].reverse().map((s) => [s.name.toLowerCase(), s]));
  return {
    ...model,
    key: model.key + suffix,
    shape: model.shape + suffix,
    subjects,
    subject: (wanted) => byName.get(wanted.toLowerCase()),
  };
}
