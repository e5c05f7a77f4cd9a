/** The parts of the guard that the rest of the planner uses. */
export { afterSteps, type Composite, compositeOf, refusedField, stepName } from './fields.ts';
export { ALLOWED_FUNCTIONS, FOLDING, isAggregate, isVolatileFunction, isWindow, SET_RETURNING, usesClock } from './functions.ts';
export { type Fail, type GuardFacts, type GuardOptions, guardSelect, MAX_DEPTH } from './guard.ts';
export { isPlainType } from './types.ts';
