/** Sets the definers of views and concepts (docs/design/rights-and-visibility.md#views-and-their-definers). */
import type { Principal } from '../../auth/authenticate.ts';
import type { ModelStatement } from '../../language/statements.ts';
import type { ConceptDef, Model } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';

/** Sets the writer of a statement as the definer of what it created. A concept that an administrator writes has no definer. */
export function withDefiner(model: Model, statement: ModelStatement, { userId: definer, isAdmin }: Principal): Model {
  if (statement.kind === 'create_view') {
    return { ...model, views: model.views.map((v) => (sameName(v.name, statement.name.text) ? { ...v, definer } : v)) };
  }
  if (statement.kind !== 'create_concept' || isAdmin) return model;
  const defined = (c: ConceptDef): ConceptDef => ({ ...c, logic: c.logic && { ...c.logic, definer }, definer });
  return { ...model, concepts: model.concepts.map((c) => (sameName(c.name, statement.name.text) ? defined(c) : c)) };
}
