/**
 * Folds flat rows into nested objects as they arrive (docs/design/nested-results.md#folding). It stores bytes: each distinct object of a level is stored
 * once, however many rows and parents it has.
 */
import { badRequest, type SvcError } from '../errors.ts';
import { CLOSE, CLOSE_OBJECT, COMMA, OPEN, OPEN_OBJECT } from './characters.ts';
import { Ints, Memory, Nodes } from './memory.ts';
import type { Level } from './presentation.ts';
import type { ByteRow } from './scan-bytes.ts';
import { Arena, Texts } from './texts.ts';
import { ByteWriter } from './writer.ts';

/** The size of the pieces that `pieces` yields, in bytes. */
const PIECE = 64 * 1024;

const NULL_START = 0x6e;

/** What was read of a level, or of a multi-value property, which has no inner levels. */
interface Seen {
  /** Positions of the root's entity_id columns in a row. */
  readonly ids: readonly number[];
  /** Positions of its own columns, and of all columns of its inner levels. */
  readonly positions: readonly number[];
  readonly texts: Texts;
  readonly nodes: Nodes;
  readonly inner: readonly Link[];
}

/** The arrays of one key, in all objects of a level. */
interface Link {
  /** `"key":` */
  readonly key: Uint8Array;
  /** Whether its members are objects. If not, they are values of a multi-value property. */
  readonly isLevel: boolean;
  readonly seen: Seen;
  /** The first and last member of each object's array; -1 if it is empty. */
  readonly head: Ints;
  readonly tail: Ints;
}

/** The most that a folder may use, in bytes. */
export interface FoldLimits {
  readonly memory: number;
  readonly answer: number;
}

export class Folder {
  readonly #memory = new Memory();
  #root: Seen;
  /** The root object of each text of the root level; -1: none that merges. */
  #rootOf: Ints;
  readonly #limits: FoldLimits;
  /** Bytes of the answer. */
  #answer = 2;

  constructor(level: Level, limits: FoldLimits) {
    this.#root = seenOf(level, new Arena(this.#memory), this.#memory);
    this.#rootOf = new Ints(this.#memory);
    this.#limits = limits;
  }

  /** Bytes that are kept. */
  get kept(): number {
    return this.#memory.used;
  }

  /** Forgets all rows. The folder takes no more, and gives no more pieces: also pieces that have begun end with an error. */
  clear(): void {
    const none = new Memory();
    this.#root = seenOf({ ids: [], positions: [], shown: [], inner: [] }, new Arena(none), none);
    this.#rootOf = new Ints(none);
    this.#isCleared = true;
  }
  #isCleared = false;

  /** Takes a row. @throws SvcError 400 `result_too_large` */
  add(row: ByteRow): void {
    const { texts, nodes, ids } = this.#root;
    const text = texts.find(row);
    // a root without an id never merges
    let merges = true;
    for (const p of ids) if (isNull(row, p)) merges = false;
    const rootOf = this.#rootOf;
    if (text === rootOf.length) rootOf.push(-1);
    let root = merges ? (rootOf.at[text] as number) : -1;
    if (root < 0) {
      root = nodes.add(0, text);
      if (merges) rootOf.at[text] = root;
      this.#begin(this.#root, text, 3);
    }
    this.#fill(this.#root, root, row);
    if (this.#memory.used > this.#limits.memory) throw tooLarge('takes', this.#limits.memory);
    if (this.#answer > this.#limits.answer) throw tooLarge('has', this.#limits.answer);
  }

  /** Adds an object with empty arrays. */
  #begin({ texts, inner }: Seen, text: number, signs: number): void {
    this.#answer += texts.size(text) + signs;
    for (const link of inner) {
      link.head.push(-1);
      link.tail.push(-1);
      this.#answer += link.key.length + 3;
    }
  }

  #fill({ inner }: Seen, thing: number, row: ByteRow): void {
    for (let i = 0; i < inner.length; i++) {
      const link = inner[i] as Link;
      const { seen, head, tail } = link;
      if (isAbsent(seen, row)) continue;
      const { texts, nodes } = seen;
      const text = texts.find(row);
      const last = tail.at[thing] as number;
      let node = last;
      if (last < 0) {
        // most arrays have one member: only further ones need a lookup
        node = nodes.add(thing, text);
        head.at[thing] = node;
        tail.at[thing] = node;
        this.#begin(seen, text, link.isLevel ? 3 : 1);
      } else if (nodes.text.at[last] !== text) {
        node = head.at[thing] as number;
        if (nodes.text.at[node] !== text) {
          node = nodes.take(thing, text);
          if (nodes.isNew) {
            nodes.next.at[last] = node;
            tail.at[thing] = node;
            this.#begin(seen, text, link.isLevel ? 3 : 1);
          }
        }
      }
      if (seen.inner.length > 0) this.#fill(seen, node, row);
    }
  }

  /** Yields the root objects in pieces, as a JSON array or, with `lines`, one object a line. */
  *pieces(lines: boolean): Generator<Uint8Array<ArrayBuffer>> {
    const out = new ByteWriter(PIECE * 2);
    if (!lines) out.byte(OPEN);
    const count = this.#root.nodes.length;
    for (let root = 0; root < count; root++) {
      if (this.#isCleared) throw new Error('the rows of a folder can be read only once');
      if (root > 0 && !lines) out.byte(COMMA);
      const begun = out.at;
      write(out, this.#root, root);
      if (lines) {
        out.oneLine(begun);
        out.byte(0x0a);
      }
      if (out.at >= PIECE) yield out.take();
    }
    if (!lines) out.byte(CLOSE);
    yield out.take();
  }
}

const tooLarge = (verb: string, bytes: number): SvcError =>
  badRequest('result_too_large', `the nested result ${verb} more than ${Math.floor(bytes / 1_000_000)} MB${verb === 'takes' ? ' of memory' : ''}`, {
    hint: 'Ask for fewer rows or columns (LIMIT, results-limit), or without nested.',
  });

const encoder = new TextEncoder();

function seenOf(level: Level, arena: Arena, memory: Memory): Seen {
  const inner = level.inner.map((part): Link => {
    const seen =
      part.kind === 'level'
        ? seenOf(part.level, arena, memory)
        : { ids: [], positions: [part.position], texts: new Texts(arena, part.position, [part.shown], true), nodes: new Nodes(memory), inner: [] };
    return { key: encoder.encode(part.key), isLevel: part.kind === 'level', seen, head: new Ints(memory), tail: new Ints(memory) };
  });
  const { positions, shown, ids } = level;
  const [first = 0] = positions;
  if (positions.some((p, i) => p !== first + i)) throw new Error('the columns of a level are not adjacent');
  return {
    ids,
    positions: [...positions, ...inner.flatMap((link) => link.seen.positions)],
    texts: new Texts(arena, first, shown),
    nodes: new Nodes(memory),
    inner,
  };
}

/** Whether a value is NULL. No other JSON value starts with `n`. */
const isNull = ({ bytes, starts }: ByteRow, position: number): boolean => bytes[starts[position] as number] === NULL_START;

/** Whether a row has no object of a level: all columns of the level and of its inner levels are NULL. */
function isAbsent({ positions }: Seen, row: ByteRow): boolean {
  for (let i = 0; i < positions.length; i++) if (!isNull(row, positions[i] as number)) return false;
  return true;
}

function write(out: ByteWriter, { texts, nodes, inner }: Seen, thing: number): void {
  const text = nodes.text.at[thing] as number;
  out.byte(OPEN_OBJECT);
  texts.write(text, out);
  let comma = texts.size(text) > 0;
  for (let i = 0; i < inner.length; i++) {
    const { key, isLevel, seen, head } = inner[i] as Link;
    if (comma) out.byte(COMMA);
    comma = true;
    out.bytes(key);
    out.byte(OPEN);
    for (let node = head.at[thing] as number, first = true; node >= 0; node = seen.nodes.next.at[node] as number) {
      if (!first) out.byte(COMMA);
      first = false;
      if (isLevel) write(out, seen, node);
      else seen.texts.write(seen.nodes.text.at[node] as number, out);
    }
    out.byte(CLOSE);
  }
  out.byte(CLOSE_OBJECT);
}
