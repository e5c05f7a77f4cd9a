/** Amazon Bedrock: the Converse API, with an API key or a pair of access keys. */
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { merged } from './fetch.ts';
import type { Open } from './open.ts';
import type { OpenedModel } from './sdk.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, connection, headers, params }, { fetch }) => {
  const { region, accessKeyId, secretAccessKey, sessionToken } = connection;
  const bedrock = createAmazonBedrock({
    apiKey: apiKey ?? '',
    headers,
    fetch,
    ...(region === undefined ? {} : { region }),
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
    ...(accessKeyId === undefined ? {} : { accessKeyId }),
    ...(secretAccessKey === undefined ? {} : { secretAccessKey }),
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  // the body is signed, so the SDK itself must add the parameters: it copies unknown members of its options into the body, over its own ones
  const body = params.inferenceConfig === undefined || temperature === null ? params : merged({ inferenceConfig: { temperature } }, params);
  return { model: bedrock(model), temperature, providerOptions: { amazonBedrock: body } as NonNullable<OpenedModel['providerOptions']> };
};
