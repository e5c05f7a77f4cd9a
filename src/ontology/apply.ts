/**
 * Modelling statements (docs/design/statements-and-versions.md#modelling-statements): a model and a statement give a new model. A script is applied statement
 * by statement, each seeing the ones before, and ended by `finish`; a caller who gets an error keeps the model that was there before.
 */
import { STEPS_OF_A_MODELLING_CHARACTER, visited } from '../budget.ts';
import type { ModelStatement, RollbackOntology } from '../language/statements.ts';
import { createConcept } from './apply/concepts.ts';
import type { ApplyContext } from './apply/context.ts';
import { drop } from './apply/drop.ts';
import { alterOntology, alterTag, createMapping, createMeasure, createProperty, createView } from './apply/objects.ts';
import type { Model } from './model.ts';

export { type ApplyContext, neutralSchema, Places, type Reference, type RelationReference, type SqlPiece, type SqlReader } from './apply/context.ts';
export { type Finished, finish } from './apply/finish.ts';

/**
 * Applies one statement. References to what may still come are looked at in `finish`; what it needs for that is kept in
 * `context.places`. ROLLBACK is not among them: the content of an old version comes from the catalog.
 *
 * @throws SvcError 400 with the offset of the offending name in the whole script; the model is unchanged then
 */
export function applyStatement(model: Model, statement: Exclude<ModelStatement, RollbackOntology>, context: ApplyContext): Model {
  context.places.last = statement.source.offset;
  visited(STEPS_OF_A_MODELLING_CHARACTER * statement.source.text.length);
  switch (statement.kind) {
    case 'create_property':
      return createProperty(model, statement, context);
    case 'create_measure':
      return createMeasure(model, statement, context);
    case 'create_concept':
      return createConcept(model, statement, context);
    case 'create_mapping':
      return createMapping(model, statement, context);
    case 'create_view':
      return createView(model, statement, context);
    case 'alter_tag':
      return alterTag(model, statement);
    case 'alter_ontology':
      return alterOntology(model, statement);
    case 'drop':
      return drop(model, statement, context);
  }
}
