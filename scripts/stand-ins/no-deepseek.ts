/** Replaces the DeepSeek model of the Azure provider in the Worker (wrangler.toml): `azure.deepseek()`, which this service never calls. */
export class DeepSeekChatLanguageModel {
  constructor() {
    throw new Error('there is no DeepSeek model');
  }
}
