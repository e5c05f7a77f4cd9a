/** Model files, and errors in them. */
import { SvcError } from '../../errors.ts';

/** A model file: its name for messages, and its text. */
export interface ModelFile {
  readonly name: string;
  readonly text: string;
}

/** An error in a model file. Its message begins with the file's name, its offset counts in the file's text. */
export class FileError extends SvcError {
  /** The text in which the offset counts. */
  readonly text: string;

  constructor(error: SvcError, file: ModelFile, offset: number) {
    const { hint, headers, cause } = error;
    super(error.status, error.code, file.name === '' ? error.message : `${file.name}: ${error.message}`, {
      hint,
      headers,
      cause,
      offset: Math.min(offset, file.text.length),
    });
    this.text = file.text;
  }
}
