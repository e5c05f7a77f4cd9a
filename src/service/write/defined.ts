/** What a statement makes, and the definers of views and concepts (docs/design/rights-and-visibility.md#views-and-their-definers). */
import type { Principal } from '../../auth/authenticate.ts';
import type { ModelStatement } from '../../language/statements.ts';
import { find, put } from '../../ontology/apply/lists.ts';
import type { Model } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';

/** Sets the writer of a statement as the definer of what it created. A concept that an administrator writes has no definer. */
export function withDefiner(model: Model, statement: ModelStatement, { userId: definer, isAdmin }: Principal): Model {
  if (statement.kind === 'create_view') {
    const view = find(model.views, statement.name.text);
    return view === undefined ? model : { ...model, views: put(model.views, { ...view, definer }) };
  }
  const concept = statement.kind === 'create_concept' && !isAdmin ? find(model.concepts, statement.name.text) : undefined;
  if (concept === undefined) return model;
  return { ...model, concepts: put(model.concepts, { ...concept, logic: concept.logic && { ...concept.logic, definer }, definer }) };
}

/** The concept or view that a statement adds to a model, with its folded name; undefined if it adds none. Its writer may use it. */
export function addedBy(statement: ModelStatement, model: Model): { readonly kind: 'concept' | 'view'; readonly name: string } | undefined {
  if (statement.kind !== 'create_concept' && statement.kind !== 'create_view') return undefined;
  const kind = statement.kind === 'create_concept' ? 'concept' : 'view';
  const known = find<{ readonly name: string }>(kind === 'concept' ? model.concepts : model.views, statement.name.text);
  return known === undefined ? { kind, name: fold(statement.name.text) } : undefined;
}
