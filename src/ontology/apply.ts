/**
 * Modelling statements (docs/design/statements-and-versions.md#modelling-statements): applying a statement to a model returns a new model. A script is applied
 * statement by statement, each seeing the effects of the previous ones, and completed by `finish`. After an error the caller keeps the old model.
 */
import { STEPS_OF_A_MODELLING_CHARACTER, visited } from '../budget.ts';
import type { ModelStatement, RollbackOntology, Statement } from '../language/statements.ts';
import { createConcept } from './apply/concepts.ts';
import type { ApplyContext } from './apply/context.ts';
import { drop } from './apply/drop.ts';
import { alterOntology, alterTag, createMapping, createMeasure, createProperty, createView } from './apply/objects.ts';
import type { Model } from './model.ts';

export { type ApplyContext, neutralSchema, Places, type Reference, type RelationReference, type SqlPiece, type SqlReader } from './apply/context.ts';
export { type Finished, finish } from './apply/finish.ts';

/** The statements that change a model. ROLLBACK is not among them: the catalog provides the content of an old version. */
type Applicable = Exclude<ModelStatement, RollbackOntology>;

const APPLY: { readonly [K in Applicable['kind']]: (model: Model, statement: Applicable & { readonly kind: K }, context: ApplyContext) => Model } = {
  create_property: createProperty,
  create_measure: createMeasure,
  create_concept: createConcept,
  create_mapping: createMapping,
  create_view: createView,
  alter_tag: alterTag,
  alter_ontology: alterOntology,
  drop,
};

/** True for a statement that `applyStatement` can apply. */
export const isApplicable = (statement: Statement): statement is Applicable => Object.hasOwn(APPLY, statement.kind);

/**
 * Applies one statement. References to objects that a later statement may create are checked in `finish`; `context.places` has what
 * that needs.
 *
 * @throws SvcError 400 with the offset of the offending name in the whole script
 */
export function applyStatement<K extends Applicable['kind']>(model: Model, statement: Applicable & { readonly kind: K }, context: ApplyContext): Model {
  context.places.last = statement.source.offset;
  visited(STEPS_OF_A_MODELLING_CHARACTER * statement.source.text.length);
  return APPLY[statement.kind](model, statement, context);
}
