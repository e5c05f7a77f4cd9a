/** An error to print in one or two lines. The command ends with `exitCode`. */
export class Failure extends Error {
  readonly exitCode: number;

  /** @param exitCode 1: the command failed; 2: its arguments are wrong */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** An error in a script, as lines to print. */
export const faultText = (place: string, code: string, message: string, hint: string | undefined): string =>
  `${place}: error: ${message} (${code})${hint === undefined ? '' : `\n  hint: ${hint}`}`;
