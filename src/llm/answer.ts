/** Answers in words from the rows of a query. The rows are data: they are fenced, and the numbers of the answer are checked against them. */
import { z } from 'zod';
import { withoutForeignAddresses } from './addresses.ts';
import { modelFailed } from './failures.ts';
import { clean, cut, fenced, line } from './fence.ts';
import { unfoundNumbers } from './numbers.ts';
import type { Run } from './run.ts';
import type { Rows } from './statement.ts';
import { ANSWER_RULES } from './templates.ts';

/** About 6,000 tokens of rows. */
const MAX_CHARACTERS = 24_000;
const MAX_ANSWER = 20_000;

const ANSWER = z.object({ answer: z.string().describe('The answer, in plain words') });

export interface Answered {
  readonly answer: string;
  /** Possible errors: the answer is based on a part of the rows, or contains numbers that do not occur in them. */
  readonly warnings: readonly string[];
}

/**
 * Asks the model for the answer. `rows.rows` are the rows that the caller sees.
 * @throws SvcError of the model (`LanguageModels.ask`); 502 `llm_failed` if it gave no answer
 */
export async function answerFrom(
  run: Run,
  asked: { readonly question: string; readonly note: string; readonly sql: string; readonly rows: Rows },
): Promise<Answered> {
  const { question, note, sql, rows } = asked;
  const { text, shown } = rowLines(rows);
  const { value } = await run.ask({
    stage: 'answer',
    system: ANSWER_RULES,
    user: [
      `Question: ${fenced(question)}`,
      note === '' ? '' : `Rules of the operator or the caller: ${fenced(note)}`,
      `The query: ${fenced(sql)}`,
      `${rows.rows.length} rows${rows.truncated ? ', and more that were omitted' : ''}${shown < rows.rows.length ? `; the first ${shown} of them` : ''}: ${fenced(text)}`,
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
    schema: ANSWER,
  });
  const given = [question, note, ...rows.rows.map((row) => Object.values(row).map(textOf).join('\n'))];
  const { text: answer, hadForeign } = withoutForeignAddresses(cut(clean(value?.answer ?? '').trim(), MAX_ANSWER), given);
  if (answer === '') throw modelFailed();
  const unfound = unfoundNumbers(answer, rows.rows, [question, sql, note]);
  const warnings = [
    ...(rows.truncated ? [`The answer is based on the first ${rows.rows.length} rows; there are more`] : []),
    ...(shown < rows.rows.length ? [`The language model saw only the first ${shown} of ${rows.rows.length} rows`] : []),
    ...(hadForeign ? ['The answer contained addresses that occur in no row. They were removed'] : []),
    ...(unfound.length === 0
      ? []
      : [
          `These numbers of the answer occur in no row: ${unfound
            .slice(0, 20)
            .map((n) => line(n, 40))
            .join(', ')}`,
        ]),
  ];
  return { answer, warnings };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Rows as lines of JSON, as many as there is room for. */
function rowLines({ rows }: Rows): { readonly text: string; readonly shown: number } {
  const lines: string[] = [];
  let size = 0;
  for (const row of rows) {
    const json = JSON.stringify(row);
    size += json.length + 1;
    if (size > MAX_CHARACTERS && lines.length > 0) break;
    lines.push(cut(json, MAX_CHARACTERS));
  }
  return { text: lines.join('\n'), shown: lines.length };
}
