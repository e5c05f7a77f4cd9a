/** Errors of the datasource as errors of the caller's statement: with a position in it, and with hints for those who do not know PostgreSQL. */
import { DatasourceFault } from '../../engine/errors.ts';
import { badRequest, SvcError } from '../../errors.ts';
import { nameAt } from '../../language/hints.ts';
import type { Source } from '../../language/statements.ts';
import { type Plan, placeOf } from '../../planner/index.ts';

const NUMBER = '(smallint|integer|bigint|numeric|real|double precision)';

/** Hints for PostgreSQL's errors, by the code and the message. */
const HINTS: readonly (readonly [code: string, message: RegExp, hint: string])[] = [
  ['grouping_error', /^aggregate functions are not allowed in WHERE/, 'Filter groups with HAVING, after GROUP BY.'],
  ['grouping_error', /^aggregate function calls cannot be nested/, 'Compute the inner aggregate in a sub-query in FROM.'],
  ['windowing_error', /^window functions are not allowed in WHERE/, 'Put the window function into a sub-query in FROM, and filter in the outer query.'],
  ['undefined_function', /^operator does not exist: .* !?~~?\*{0,2} /, "LIKE and patterns need a text. Cast the value, for example value::text LIKE '1%'."],
  [
    'undefined_function',
    new RegExp(`^operator does not exist: (text \\S+ ${NUMBER}|${NUMBER} \\S+ text)$`),
    "One side is a text and the other a number. Write the number as a text, for example '7', or cast the text, for example value::numeric.",
  ],
  [
    'undefined_function',
    new RegExp(`^operator does not exist: (date|timestamp.*) \\S+ ${NUMBER}$`),
    "A date is compared with a number. Write dates as '2026-01-31', or compare extract(year FROM value).",
  ],
  ['undefined_function', /^operator does not exist: /, 'PostgreSQL has no such operator for these types. Cast one of the values, for example value::date.'],
  ['undefined_function', /^function trunc\((date|timestamp)/, "Write date_trunc('month', value)."],
  ['undefined_function', /^function (sum|avg)\(text\) /, 'Only numbers can be added. Cast the text, for example sum(value::numeric).'],
  ['undefined_function', /^function /, 'The function does not take arguments of these types. Cast them, for example value::numeric or value::date.'],
  [
    'ambiguous_function',
    /\(unknown\) is not unique/,
    'Single quotes are for texts. Write a name or a path in double quotes, for example "relationship[concept].property".',
  ],
];

const UNGROUPED = /^(column .*) must appear in the GROUP BY clause or be used in an aggregate function/;

/**
 * Maps the position of a datasource's error to the caller's text.
 * @param before number of characters that were sent before the plan's SQL
 * @returns the error to throw; the same one if nothing is known about it
 */
export function withPosition(error: unknown, plan: Plan, source: Source, before = 0): unknown {
  if (!(error instanceof SvcError)) return error;
  if (error.code === 'division_by_zero') return divisionByZero(error, plan);
  if (!(error.cause instanceof DatasourceFault) || error.cause.position === undefined) return error;
  const place = placeOf(plan, error.cause.position - before);
  const offset = place === undefined ? error.offset : source.offset + place;
  const { code, message, cause } = error;
  const known = HINTS.find(([of, form]) => of === code && form.test(message))?.[2];
  if (known !== undefined) {
    const hint = place === undefined ? `${known} If the query has no such expression, a calculated property or a measure that it reads has it.` : known;
    return badRequest(code, message, { hint, offset, cause });
  }
  if (place === undefined) return error;
  if (code !== 'grouping_error' || !UNGROUPED.test(message)) return error.at(offset as number);
  // PostgreSQL names the column of the finished SQL
  const name = nameAt(source.text, place);
  const isStar = source.text.startsWith('*', place) || (name !== undefined && source.text.startsWith(`${name}.*`, place));
  const column = isStar ? (/^column "([^"~]*)"/.exec(message)?.[1] ?? '*') : name;
  if (column === undefined) return error.at(offset as number);
  const hint = isStar ? 'Write the columns of GROUP BY instead of *.' : 'Add it to GROUP BY, or aggregate it.';
  return badRequest(code, `the column ${column} must appear in GROUP BY or in an aggregate function`, { hint, offset, cause });
}

/** A division by zero with the measures and calculated properties that divide. PostgreSQL does not say which division it was. */
function divisionByZero(error: SvcError, { dividing }: Plan): SvcError {
  const names = dividing.slice(0, MAX_NAMED);
  const more = dividing.length - names.length;
  const which = names.length === 0 ? '' : `; ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${dividing.length === 1 ? 'divides' : 'divide'}`;
  const where = names.length === 0 ? '' : ' there';
  const hint = `Write x / NULLIF(y, 0)${where}: it is NULL where y is 0.`;
  return badRequest(error.code, error.message + which, { hint, offset: error.offset, cause: error.cause });
}

/** The maximum number of names in the error of a division by zero. */
const MAX_NAMED = 5;
