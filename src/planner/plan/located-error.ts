/** Errors of lowering with their location in the statement. */
import { type ErrorDetails, SvcError } from '../../errors.ts';
import { locationIn } from './tree.ts';

/** A 400 error at a node. `lowerBlocks` converts the location to an offset in the request. */
export class LocatedError extends SvcError {
  /** A UTF-8 byte offset in the parsed text; undefined for a node without a location, as in stored texts. */
  readonly location: number | undefined;

  constructor(code: string, message: string, node: unknown, details?: ErrorDetails) {
    super(400, code, message, details);
    this.location = locationIn(node);
  }
}
