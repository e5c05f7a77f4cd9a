/** What the rest of the planner uses of the guard. */
export { ALLOWED_FUNCTIONS, isAggregate, isVolatileFunction, isWindow, usesClock } from './functions.ts';
export { type Fail, type GuardFacts, type GuardOptions, guardSelect, MAX_DEPTH } from './guard.ts';
