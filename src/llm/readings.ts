/** Readings of a question that can be understood in several ways: each as a sentence, and the SQL for it. */
import { z } from 'zod';
import { remark } from './addresses.ts';
import { sameSql, statement } from './sql-text.ts';

export interface Reading {
  readonly reading: string;
  readonly sql: string;
}

/** What a caller may say about questions with several readings: be asked which one is meant, or get the most likely one. */
export type OnAmbiguity = 'ask' | 'first';

const MAX_READINGS = 5;
/** How many readings of an answer are looked at: the datasource checks each. */
const MAX_CHECKED = 10;
const READING = 300;

/** The member of a model's answer. */
export const READINGS = z
  .array(z.object({ reading: z.string().describe('What the question means, as one sentence'), sql: z.string().describe('The SELECT for it') }))
  .optional()
  .describe('The ways to understand the question, if it does not say which one is meant; otherwise empty');

export interface ClearReadings {
  readonly readings: readonly Reading[];
  /** The error of the last invalid statement; empty if all are valid. */
  readonly error: string;
}

/** The readings with valid and different statements, at most five. `check` returns the error of a statement. */
export async function clearReadings(all: readonly Reading[], check: (sql: string) => Promise<string | undefined>): Promise<ClearReadings> {
  const readings: Reading[] = [];
  let failed = '';
  for (const one of all.slice(0, MAX_CHECKED)) {
    if (readings.length === MAX_READINGS) break;
    const sql = statement(one.sql);
    const reading = remark(one.reading, READING);
    if (sql === '' || reading === '' || readings.some((r) => sameSql(r.sql, sql) || r.reading === reading)) continue;
    const error = await check(sql);
    if (error === undefined) readings.push({ reading, sql });
    else failed = error;
  }
  return { readings, error: failed };
}

/** The answer in words to a question with several readings. */
export const askBack = (readings: readonly Reading[]): string =>
  `The question can be understood in several ways. Which one is meant?\n${readings.map(({ reading }, i) => `${i + 1}. ${reading}`).join('\n')}`;
