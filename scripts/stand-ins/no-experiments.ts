/**
 * Replaces the experimental kinds of models (extraction, decision) of the AI SDK in the Worker (wrangler.toml): the providers create them on request, which
 * this service never does.
 */
class NoModel {
  constructor() {
    throw new Error('there are no experimental models');
  }
}

export { NoModel as Experimental_DecisionLanguageModel, NoModel as Experimental_ExtractionLanguageModel };
