/** Workers AI through the binding AI, optionally through an AI Gateway (`gateway`). */
import { createWorkersAI } from 'workers-ai-provider';
import { misconfigured } from './errors.ts';
import { merged } from './fetch.ts';
import type { AiBinding, Open } from './open.ts';

/** By default Workers AI returns at most 256 tokens, which would truncate statements. */
const MAX_OUTPUT_TOKENS = 4096;

export const open: Open = ({ model, temperature, connection, headers, params }, { ai }) => {
  if (ai === undefined) throw misconfigured();
  const binding: AiBinding = {
    run: (name, inputs, options) => ai.run(name, merged(inputs, params), Object.keys(headers).length === 0 ? options : { ...options, extraHeaders: headers }),
  };
  const { gateway } = connection;
  const workersAi = createWorkersAI({ binding: binding as unknown as Ai, ...(gateway === undefined ? {} : { gateway: { id: gateway } }) });
  return { model: workersAi(model), temperature, maxOutputTokens: MAX_OUTPUT_TOKENS };
};
