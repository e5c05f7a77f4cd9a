/** What all printing functions write into, and the allow-list that they check each node against. */
import { badRequest, type SvcError } from '../../errors.ts';

/**
 * How deep a tree may be nested. A level costs the stack up to 0.7 kB (measured in V8's interpreter, which needs the most), so
 * that 600 take less than half of the 1 MB of an isolate;
 * chains that lean to the left (`1 + 1 + ..`, unions, joins) are walked in loops and do not count.
 */
export const MAX_DEPTH = 600;

/** Told where in the output (UTF-16 offset) the token of a node with this location (byte offset of the source) begins. */
export type Mark = (outputOffset: number, location: number) => void;

/** The text so far. V8 joins strings lazily, so that appending is cheap and the length is at hand for the marks. */
export class Sink {
  text = '';
  private depth = 0;
  private readonly mark: Mark | undefined;
  private readonly longest: number;
  private readonly mostSets: number;
  private sets = 0;

  /** `longest`: of the text, in UTF-16 units; `mostSets`: how many sets it may build. */
  constructor(mark?: Mark, longest = Number.POSITIVE_INFINITY, mostSets = Number.POSITIVE_INFINITY) {
    this.mark = mark;
    this.longest = longest;
    this.mostSets = mostSets;
  }

  /** The next token stands for the node at `location`; -1 and undefined are nowhere. */
  at(location: number | undefined): void {
    if (this.mark !== undefined && location !== undefined && location >= 0) this.mark(this.text.length, location);
  }

  /** One level down. @throws SvcError 400 `too_complex` below MAX_DEPTH, and where the text is too long */
  enter(): void {
    if (this.text.length > this.longest) {
      throw badRequest('too_complex', 'the statement becomes too long for the datasource', {
        hint: 'Walk fewer or shorter paths in one statement; policies whose conditions walk paths make each of them longer',
      });
    }
    if (++this.depth > MAX_DEPTH) {
      throw badRequest('too_complex', 'the statement is nested too deeply', { hint: 'Split it, or write it with fewer levels of nesting.' });
    }
  }

  /**
   * Counts what PostgreSQL builds a hash table for: GROUP BY, DISTINCT, UNION (also that of a recursive common table expression), INTERSECT and EXCEPT. It allocates these tables
   * when the statement starts (ExecInitAgg, ExecInitSetOp and ExecInitRecursiveUnion of src/backend/executor), each up to work_mem * hash_mem_multiplier,
   * by the number of rows that it expects.
   * @throws SvcError 400 `too_complex`
   */
  set(): void {
    if (++this.sets <= this.mostSets) return;
    throw badRequest('too_complex', 'the statement builds too many sets of rows in memory', {
      hint: 'Use fewer GROUP BY, DISTINCT, UNION, EXCEPT, INTERSECT and transitive paths in one statement; policies whose conditions walk paths add theirs',
    });
  }

  leave(): void {
    this.depth--;
  }

  /** `items` by `print`, with `separator` between them. */
  list<T>(items: readonly T[] | undefined, print: (sink: Sink, item: T) => void, separator = ', '): void {
    if (items === undefined) return;
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.text += separator;
      print(this, items[i] as T);
    }
  }
}

/** SvcError 400 `unsupported_syntax`. */
export const unsupported = (what: string): SvcError => badRequest('unsupported_syntax', `${WORDS.get(what) ?? what} is not supported in a query`);

/** What users call the nodes and fields that are refused most often. */
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

/** `thing`, which the grammar promises to be there. */
export function must<T>(thing: T | undefined | null, what: string): T {
  if (thing === undefined || thing === null) throw unsupported(`an incomplete ${what}`);
  return thing;
}

/** A list of known fields for `check`. */
export const fields = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/**
 * The allow-list: each field of `body` is one of `known` or has its default value, so that nothing is ever left out of the
 * text in silence, whatever a later grammar adds. Throws `unsupported_syntax`.
 */
export function check(type: string, known: ReadonlySet<string>, body: object): void {
  for (const key in body) {
    if (!known.has(key) && !isDefault((body as Record<string, unknown>)[key])) throw unsupported(`${type} with ${key}`);
  }
}

/** Protocol buffers leave out such values: they carry nothing. */
function isDefault(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The type of a node and its body: `{ A_Const: {..} }` is `A_Const`. Undefined for an empty node, which stands for NULL in a list. */
export function typeOf(node: object): string | undefined {
  for (const type in node) return type;
  return undefined;
}
