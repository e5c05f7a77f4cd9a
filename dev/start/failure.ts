/** Why the service cannot start: one line for the one who starts it. */
export class StartFailure extends Error {}
