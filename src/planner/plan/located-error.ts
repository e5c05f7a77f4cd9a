/** Errors of lowering with their location in the statement. */
import { type ErrorDetails, SvcError } from '../../errors.ts';
import { locationIn } from './tree.ts';

/** A 400 error at a node. `lowerBlocks` converts the location to an offset in the request. */
export class LocatedError extends SvcError {
  /** A UTF-8 byte offset in the parsed text; undefined for a node without a location, as in stored texts. */
  readonly location: number | undefined;

  constructor(code: string, message: string, node: unknown, details?: ErrorDetails, status = 400) {
    super(status, code, message, details);
    this.location = locationIn(node);
  }
}

/** Runs `make`. An error without a position gets the location of the node. */
export function locating<T>(node: unknown, make: () => T): T {
  try {
    return make();
  } catch (e) {
    if (!(e instanceof SvcError) || e.offset !== undefined || (e instanceof LocatedError && e.location !== undefined)) throw e;
    const { status, code, message, hint, headers, cause } = e;
    throw new LocatedError(code, message, node, { hint, headers, cause }, status);
  }
}
