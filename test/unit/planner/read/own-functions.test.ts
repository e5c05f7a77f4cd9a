/** The setting allowed_functions. */
import { describe, expect, it } from 'vitest';
import { allowedFunctionsOf, functionsIn } from '../../../../src/planner/read/own-functions.ts';

describe('allowed_functions', () => {
  it('lists names in lower case, each once', () => expect([...functionsIn(' Shop.Tax, shop.tax,,shop.net ')]).toEqual(['shop.tax', 'shop.net']));
  it('lists no name if it is not set', () => {
    for (const setting of ['', ' , ', null, undefined]) expect([...functionsIn(setting)]).toEqual([]);
    expect([...allowedFunctionsOf(undefined)]).toEqual([]);
    expect([...allowedFunctionsOf({ allowedFunctions: null })]).toEqual([]);
  });
});
