/** The columns of functions in FROM. */
import type { RangeFunction } from '@pgsql/types';
import { SET_RETURNING } from '../guard/index.ts';
import { stepsOfTypes } from './casts.ts';
import type { Expressions } from './expressions.ts';
import { paddingIn } from './results.ts';
import { type Columns, columnsOfFunctions, rowOfSystemTable, rowsOfFunction, type Scope } from './scope.ts';
import { ONE, ofBytes, SMALL, sum } from './sizes.ts';
import type { Spent } from './spent.ts';
import { callIn, functionNames, itemOf } from './steps.ts';

/** Measures functions in FROM, and multiplies the rows of the scope. @returns the name of the relation, and its columns */
export function functionsInFrom(
  range: RangeFunction,
  scope: Scope,
  expressions: Expressions,
  spent: Spent,
  longestRows: ReadonlyMap<number, number>,
): readonly [string, Columns] {
  const { functions = [], alias } = range;
  const { texts } = spent;
  const read = functions.map((f) => expressions.constantIn(itemOf(f), scope, () => expressions.size(itemOf(f), scope)));
  const sizes = read.map(({ size }) => size);
  const documents = sum(functions.map((f, i) => expressions.document(f, sizes[i] ?? SMALL, scope)));
  spent.steps(stepsOfTypes(range, documents), functions.flatMap(functionNames)[0] ?? 'FROM', undefined);
  // PostgreSQL puts a constant in the place of the references
  const { isConstant, number } = read.length === 1 && read[0] ? read[0] : { isConstant: false };
  const isSet = functions.some((f) => SET_RETURNING.has(functionNames(f)[0] ?? ''));
  const copies = { ...ONE, texts: isSet ? 0 : spent.texts - texts, isConstant, number };
  scope.rows *= Math.max(...functions.map((f, i) => rowsOfFunction(callIn(f), sizes[i] ?? SMALL)));
  const [first = SMALL] = sizes;
  const isOne = sizes.length === 1 && first.fixed && !range.ordinality && !range.coldeflist;
  const value = isOne ? first : sum([...sizes, ofBytes(paddingIn(range))]);
  const columns = columnsOfFunctions(range, rowOfSystemTable(functions, longestRows) ?? { ...value, copies });
  return [alias?.aliasname ?? functions.flatMap(functionNames)[0] ?? '', columns];
}
