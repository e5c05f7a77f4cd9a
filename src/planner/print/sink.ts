/** The output of the printing functions, and the check of nodes against their known fields. */
import { badRequest, type SvcError } from '../../errors.ts';

/**
 * The maximum depth of a tree. A level uses up to 0.7 kB of stack (measured in V8's interpreter, which needs the most), so 600 levels use less than half of the
 * 1 MB of an isolate. Chains that are nested on the left (`1 + 1 + ..`, unions, joins) are walked in loops and do not count.
 */
export const MAX_DEPTH = 600;

/** Called with the UTF-16 offset in the output at which the token of a node begins, and the node's location (byte offset in the source). */
export type Mark = (outputOffset: number, location: number) => void;

/** The text so far. V8 concatenates strings lazily, so appending is cheap and the length for the marks is known. */
export class Sink {
  text = '';
  /** The length of the text up to the end of the select list, if the query begins with it; else 0. */
  listLength = 0;
  private depth = 0;
  private readonly mark: Mark | undefined;
  private readonly longest: number;
  private readonly mostSets: number;
  private sets = 0;

  /** `longest` is the maximum length in UTF-16 units, `mostSets` the maximum number of sets. */
  constructor(mark?: Mark, longest = Number.POSITIVE_INFINITY, mostSets = Number.POSITIVE_INFINITY) {
    this.mark = mark;
    this.longest = longest;
    this.mostSets = mostSets;
  }

  /** Marks the next token as that of the node at `location`. Ignores -1 and undefined. */
  at(location: number | undefined): void {
    if (this.mark !== undefined && location !== undefined && location >= 0) this.mark(this.text.length, location);
  }

  /**
   * Enters a level of nesting.
   * @throws SvcError 400 `too_complex` if the tree is deeper than MAX_DEPTH or the text is too long
   */
  enter(): void {
    if (this.text.length > this.longest) {
      throw badRequest('too_complex', 'the statement is too long for the datasource', {
        hint: 'Use fewer or shorter paths in one statement. Policies with paths in their conditions add to the length of each path.',
      });
    }
    if (++this.depth > MAX_DEPTH) {
      throw badRequest('too_complex', 'the statement is nested too deeply', { hint: 'Split it, or write it with fewer levels of nesting.' });
    }
  }

  /**
   * Counts a hash table that PostgreSQL builds: for GROUP BY, DISTINCT, UNION (including that of a recursive common table expression), INTERSECT and EXCEPT.
   * PostgreSQL allocates these tables when the statement starts (ExecInitAgg, ExecInitSetOp and ExecInitRecursiveUnion in src/backend/executor), each up to
   * work_mem * hash_mem_multiplier, according to the estimated number of rows.
   * @throws SvcError 400 `too_complex` if there are more than the maximum
   */
  countSet(): void {
    if (++this.sets <= this.mostSets) return;
    throw badRequest('too_complex', 'the statement builds too many sets of rows in memory', {
      hint: 'Use fewer GROUP BY, DISTINCT, UNION, EXCEPT, INTERSECT and transitive paths in one statement. Policies with paths in their conditions add their own.',
    });
  }

  leave(): void {
    this.depth--;
  }

  /** Prints each of `items` with `print`, separated by `separator`. */
  list<T>(items: readonly T[] | undefined, print: (sink: Sink, item: T) => void, separator = ', '): void {
    if (items === undefined) return;
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.text += separator;
      print(this, items[i] as T);
    }
  }
}

/** Returns an SvcError 400 `unsupported_syntax`. */
export const unsupported = (what: string): SvcError => badRequest('unsupported_syntax', `${WORDS.get(what) ?? what} is not supported in a query`);

/** The names in SQL of the nodes and fields that are refused most often. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['SelectStmt with lockingClause', 'FOR UPDATE or FOR SHARE'],
  ['SelectStmt with intoClause', 'SELECT INTO'],
  ['SetToDefault', 'DEFAULT'],
  ['XmlExpr', 'XML syntax'],
  ['XmlSerialize', 'XML syntax'],
  ['RangeTableFunc', 'XMLTABLE'],
  ['JsonTable', 'JSON_TABLE'],
  ['InsertStmt', 'INSERT'],
  ['UpdateStmt', 'UPDATE'],
  ['DeleteStmt', 'DELETE'],
  ['MergeStmt', 'MERGE'],
  ['CurrentOfExpr', 'CURRENT OF'],
]);

/**
 * Returns `thing`.
 * @throws SvcError 400 `unsupported_syntax` if it is missing, which the grammar rules out
 */
export function must<T>(thing: T | undefined | null, what: string): T {
  if (thing === undefined || thing === null) throw unsupported(`an incomplete ${what}`);
  return thing;
}

/** The list of known fields for `check`. */
export const fields = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/**
 * Checks a node against its list of known fields. Any other field must have its default value, so that the text never omits a part of the tree, even if a later
 * grammar adds fields.
 * @throws SvcError 400 `unsupported_syntax`
 */
export function check(type: string, known: ReadonlySet<string>, body: object): void {
  for (const key in body) {
    if (!known.has(key) && !isDefault((body as Record<string, unknown>)[key])) throw unsupported(`${type} with ${key}`);
  }
}

/** True for the default values that protocol buffers omit. */
function isDefault(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The type of a node: `A_Const` for `{ A_Const: {..} }`. Undefined for an empty node, which means NULL in a list. */
export function typeOf(node: object): string | undefined {
  for (const type in node) return type;
  return undefined;
}
