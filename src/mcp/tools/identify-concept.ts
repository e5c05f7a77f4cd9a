/** identify_concept: finds the concept that a question is about. */
import { z } from 'zod';
import { identifyConcept as identify } from '../../llm/questions.ts';
import { askingOf, details, detailsIf, includeTags, prompt, shared, verbose } from './ai.ts';
import { tool } from './tool.ts';

export const identifyConcept = tool({
  name: 'identify_concept',
  title: 'Find the concept of a question',
  description: "The concept that fits a question best, chosen by the server's language model. Useful on graphs with many concepts.",
  input: z.object({ prompt, ...shared, include_tags: includeTags, verbose }),
  output: z.object({ concept: z.string(), schema: z.string(), ontology: z.string(), reason: z.string(), candidates: z.array(z.string()), details }),
  asksModel: true,
  async run(call, args) {
    const { details: made, ...identified } = await identify(askingOf(call, args));
    return { ...identified, ...detailsIf(args.verbose, made) };
  },
});
