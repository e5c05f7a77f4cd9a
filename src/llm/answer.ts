/** An answer in words from the rows of a query. The rows are data: what stands in them is fenced, and numbers of the answer are looked up in them. */
import { z } from 'zod';
import { modelFailed } from './failures.ts';
import { clean, cut, fenced, line } from './fence.ts';
import { unfoundNumbers } from './numbers.ts';
import type { Run } from './run.ts';
import type { Rows } from './statement.ts';
import { ANSWER_RULES } from './templates.ts';

/** About 6,000 tokens of rows. */
const MOST_CHARACTERS = 24_000;
const MOST_ANSWER = 20_000;

const ANSWER = z.object({ answer: z.string().describe('The answer, in plain words') });

export interface Answered {
  readonly answer: string;
  /** What of it may be wrong: it is made from a part of the rows, or has numbers that stand nowhere in them. */
  readonly warnings: readonly string[];
}

/**
 * Asks for the answer. `rows.rows` are those that the caller sees.
 * @throws SvcError of the model (`LanguageModels.ask`); 502 `llm_failed` where it gave no answer
 */
export async function answerFrom(
  run: Run,
  asked: { readonly question: string; readonly note: string; readonly sql: string; readonly rows: Rows },
): Promise<Answered> {
  const { question, note, sql, rows } = asked;
  const { text, shown } = told(rows);
  const { value } = await run.ask({
    stage: 'answer',
    system: ANSWER_RULES,
    user: [
      `Question: ${fenced(question)}`,
      note === '' ? '' : `Rules of the one who runs this service or asks: ${fenced(note)}`,
      `The query: ${fenced(sql)}`,
      `${rows.rows.length} rows${rows.truncated ? ', and more that were left out' : ''}${shown < rows.rows.length ? `; the first ${shown} of them` : ''}: ${fenced(text)}`,
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
    schema: ANSWER,
  });
  const answer = cut(clean(value?.answer ?? '').trim(), MOST_ANSWER);
  if (answer === '') throw modelFailed();
  const unfound = unfoundNumbers(answer, rows.rows, [question, sql, note]);
  const warnings = [
    ...(rows.truncated ? [`The answer is made from the first ${rows.rows.length} rows: there are more`] : []),
    ...(shown < rows.rows.length ? [`The language model was told the first ${shown} of ${rows.rows.length} rows`] : []),
    ...(unfound.length === 0
      ? []
      : [
          `No row has what the answer says: ${unfound
            .slice(0, 20)
            .map((n) => line(n, 40))
            .join(', ')}`,
        ]),
  ];
  return { answer, warnings };
}

/** Rows as lines of JSON, as many as there is room for. */
function told({ rows }: Rows): { readonly text: string; readonly shown: number } {
  const lines: string[] = [];
  let size = 0;
  for (const row of rows) {
    const json = JSON.stringify(row);
    size += json.length + 1;
    if (size > MOST_CHARACTERS && lines.length > 0) break;
    lines.push(cut(json, MOST_CHARACTERS));
  }
  return { text: lines.join('\n'), shown: lines.length };
}
