/** Sets of questions: JSON files of questions with the SQL that answers them (docs/ai.md, "Measuring the quality"). */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const QUESTION = z.strictObject({
  id: z.string().min(1),
  question: z.string().min(1),
  /** The same question in other words. */
  also: z.array(z.string().min(1)).optional(),
  /** The concept or view of the question, or null if the ontology has no answer. */
  concept: z.string().min(1).nullable(),
  /** SQL on the ontology that answers it; null: it cannot be answered, and an error is expected. */
  gold: z.string().min(1).nullable(),
  /** The caller of the question; undefined: the owner of the token. */
  caller: z.string().min(1).optional(),
  /** SQL on the tables with the same rows, written without the ontology. */
  by_hand: z.string().min(1).optional(),
  /** Whether the question asks for an order. */
  ordered: z.boolean().optional(),
  tags: z.array(z.string()),
});

export type Question = Readonly<z.infer<typeof QUESTION>>;

/** Reads a set. @throws Error that names the file and the problem */
export async function readSet(file: string): Promise<readonly Question[]> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  return parseSet(json, file);
}

/** Each question, and its other wordings (`id+1`, `id+2`). */
export const inAllWords = (questions: readonly Question[]): readonly Question[] =>
  questions.flatMap((q) => [q, ...(q.also ?? []).map((question, i) => ({ ...q, id: `${q.id}+${i + 1}`, question }))]);

/** The questions of a set's JSON. @throws Error as `readSet` */
export function parseSet(json: unknown, file: string): readonly Question[] {
  const read = z.array(QUESTION).safeParse(json);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a set of questions'}`);
  }
  const ids = read.data.map((q) => q.id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) throw new Error(`${file}: the question ${twice} occurs twice`);
  return read.data;
}
