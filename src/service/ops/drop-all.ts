/** Drops several objects of a model, in an order in which nothing uses what is dropped. */
import { SvcError } from '../../errors.ts';
import type { DropObject, ModelStatement } from '../../language/statements.ts';
import { EMPTY_CONCEPT } from './script-text.ts';

/**
 * Drops objects that may use each other: those first that nothing uses. Concepts in a circle, such as two that refer to each other, lose their content first.
 * @param apply applies a statement to the model
 * @throws SvcError 400 `in_use` if other objects use one; other errors of `apply`
 */
export async function dropAll(drops: readonly DropObject[], apply: (statement: ModelStatement) => Promise<void>): Promise<void> {
  let isCircle = false;
  for (let left = drops; left.length > 0; ) {
    const used: DropObject[] = [];
    let refusal: unknown;
    for (const statement of left) {
      try {
        await apply(statement);
      } catch (error) {
        if (!(error instanceof SvcError) || error.code !== 'in_use') throw error;
        used.push(statement);
        refusal ??= error;
      }
    }
    if (used.length === left.length) {
      const concepts = used.filter((s) => s.object === 'concept');
      if (isCircle || concepts.length === 0) throw refusal;
      isCircle = true;
      for (const { source, name } of concepts) await apply({ ...EMPTY_CONCEPT, source, name });
    }
    left = used;
  }
}
