/** Definitions of concepts for tests that build models without a script. */
import type { ConceptDef } from '../../src/ontology/model.ts';

/** A concept without a key, relationships and ancestors, unless `more` has them. */
export const conceptOf = (name: string, properties: readonly string[], more: Partial<ConceptDef> = {}): ConceptDef => ({
  name,
  parents: [],
  properties,
  multi: [],
  measures: [],
  primaryKey: [],
  label: [],
  relationships: [],
  description: null,
  tags: {},
  logic: null,
  ...more,
});
