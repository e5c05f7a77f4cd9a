/**
 * Modelling statements (docs/design/statements-and-versions.md#modelling-statements): applying a statement to a model returns a new model. A script is applied
 * statement by statement, each seeing the effects of the previous ones, and completed by `finish`. After an error the caller keeps the old model.
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
 * Applies one statement. References to objects that a later statement may create are checked in `finish`; `context.places` has what
 * that needs. ROLLBACK is not handled here: the catalog provides the content of an old version.
 *
 * @throws SvcError 400 with the offset of the offending name in the whole script
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
