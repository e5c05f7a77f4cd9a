/**
 * Replaces `@ai-sdk/openai/internal` in the Worker (wrangler.toml): the two models that this service calls. The Azure provider also refers to models of other
 * kinds and to tools that OpenAI runs, which would be most of the package.
 */
export { OpenAIChatLanguageModel, OpenAIResponsesLanguageModel } from '../../node_modules/@ai-sdk/openai/dist/internal/index.js';

class NoModel {
  constructor() {
    throw new Error('the service has only language models');
  }
}

export {
  NoModel as OpenAICompletionLanguageModel,
  NoModel as OpenAIEmbeddingModel,
  NoModel as OpenAIImageModel,
  NoModel as OpenAISpeechModel,
  NoModel as OpenAITranscriptionModel,
};

/** Tools that OpenAI runs. The service offers none to a model. */
const noTool = undefined;

export { noTool as codeInterpreter, noTool as fileSearch, noTool as imageGeneration, noTool as webSearch, noTool as webSearchPreview };
