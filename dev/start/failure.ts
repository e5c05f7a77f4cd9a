/** The reason why the service cannot start: one line for the user. */
export class StartFailure extends Error {}
