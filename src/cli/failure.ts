/** What went wrong, told in one or two lines; the command ends with `exitCode`. */
export class Failure extends Error {
  readonly exitCode: number;

  /** @param exitCode 1: it failed; 2: it was called wrongly */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** A fault in a script as lines for the caller. */
export const faultText = (place: string, code: string, message: string, hint: string | undefined): string =>
  `${place}: error: ${message} (${code})${hint === undefined ? '' : `\n  hint: ${hint}`}`;
