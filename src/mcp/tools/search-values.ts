/** search_values: finds the values of a property that contain a text. */
import { z } from 'zod';
import { budgetOf, cutRows } from '../../nesting/cut.ts';
import { searchValues as search } from '../../service/ops/questions.ts';
import { maxResults, maxRows, ontologyArgument, ontologyFor, requestOf, tool, truncatedOutput } from './tool.ts';

const DEFAULT_VALUES = 100;

export const searchValues = tool({
  name: 'search_values',
  title: 'Search values of a property',
  description:
    'Distinct values of a property of a concept, sorted, optionally only those containing a text (any case). Use it before filtering, to find the exact spelling of a name, code or status.',
  input: z.object({
    concept: z.string().min(1),
    property: z.string().min(1).describe('Property or path, as in SQL'),
    text: z.string().optional().describe('Literal text to find; no wildcards'),
    ontology: ontologyArgument,
    max_results: maxResults,
  }),
  output: z.object({ values: z.array(z.unknown()), truncated: truncatedOutput }),
  async run(call, { concept, property, text, ontology, max_results }) {
    const limit = maxRows(call, max_results ?? DEFAULT_VALUES);
    const wanted = { ontology: ontologyFor(call, ontology), concept, property, text: text ?? '', limit: limit + 1 };
    const { rows, truncated } = await cutRows(await search(requestOf(call), wanted), limit, budgetOf(call));
    call.note({ rows: rows.length });
    return { values: rows.map((row) => row.value), truncated };
  },
});
