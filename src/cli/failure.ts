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
  printable(`${place}: error: ${message} (${code})${hint === undefined ? '' : `\n  hint: ${hint}`}`);

const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text of other people for a terminal: control characters, which could move its cursor or change the direction of text, as their codes. */
export const printable = (text: string): string => text.replace(CONTROLS, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);

/** A value of other people as JSON for a terminal; it stays JSON of the same value. @param indent as of `JSON.stringify` */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(CONTROLS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
