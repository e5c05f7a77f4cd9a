/** What the rest of the planner uses of the guard. */
export { afterSteps, type Composite, compositeOf, stepName } from './fields.ts';
export { ALLOWED_FUNCTIONS, isAggregate, isVolatileFunction, isWindow, usesClock } from './functions.ts';
export { type Fail, type GuardFacts, type GuardOptions, guardSelect, MAX_DEPTH, refusedField } from './guard.ts';
export { isPlainType } from './types.ts';
