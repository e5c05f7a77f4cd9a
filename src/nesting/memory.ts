/** Growing arrays of integers, and hash tables over them, with a count of the memory that they use. */

/** Memory in use, in bytes. */
export class Memory {
  used = 0;
}

/** A growing array of 32-bit integers. */
export class Ints {
  readonly #memory: Memory;
  at = new Int32Array(16);
  length = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
    memory.used += 64;
  }

  push(value: number): void {
    if (this.length === this.at.length) this.#grow();
    this.at[this.length++] = value;
  }

  #grow(): void {
    const larger = new Int32Array(this.at.length + (this.at.length >> 1));
    larger.set(this.at);
    this.#memory.used += 4 * (larger.length - this.at.length);
    this.at = larger;
  }
}

/** A hash table of numbers from 0 up. The caller stores their hashes. Open addressing, at most two thirds full. */
export class Slots {
  readonly #memory: Memory;
  /** The number + 1; 0 means that the slot is free. */
  at = new Int32Array(32);
  mask = 31;
  #count = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
    memory.used += 128;
  }

  /** Puts a number into a free slot. `hashOf` returns the hash of a number that is already in the table. */
  put(slot: number, number: number, hashOf: (number: number) => number): void {
    this.at[slot] = number + 1;
    if (++this.#count * 3 > this.at.length * 2) this.#grow(hashOf);
  }

  #grow(hashOf: (number: number) => number): void {
    const old = this.at;
    const slots = new Int32Array(old.length * 2);
    const mask = slots.length - 1;
    for (const entry of old) {
      if (entry === 0) continue;
      let slot = hashOf(entry - 1) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry;
    }
    this.#memory.used += 4 * old.length;
    this.at = slots;
    this.mask = mask;
  }
}

/** The members of all arrays of a key, as linked lists: each member's text, its parent and the next member. */
export class Nodes {
  readonly text: Ints;
  readonly parent: Ints;
  readonly next: Ints;
  readonly #slots: Slots;

  constructor(memory: Memory) {
    this.text = new Ints(memory);
    this.parent = new Ints(memory);
    this.next = new Ints(memory);
    this.#slots = new Slots(memory);
  }

  get length(): number {
    return this.text.length;
  }

  /** Returns a parent's member with a text, and adds it if it is missing. Sets `isNew`. */
  take(parent: number, text: number): number {
    const slots = this.#slots;
    const texts = this.text.at;
    const parents = this.parent.at;
    let slot = mixed(parent, text) & slots.mask;
    for (;;) {
      const node = (slots.at[slot] as number) - 1;
      if (node < 0) break;
      if (texts[node] === text && parents[node] === parent) {
        this.isNew = false;
        return node;
      }
      slot = (slot + 1) & slots.mask;
    }
    const node = this.add(parent, text);
    slots.put(slot, node, this.#hashOf);
    return node;
  }
  isNew = false;

  /** Adds a member that never merges with another one. */
  add(parent: number, text: number): number {
    this.isNew = true;
    this.text.push(text);
    this.parent.push(parent);
    this.next.push(-1);
    return this.text.length - 1;
  }

  readonly #hashOf = (node: number): number => mixed(this.parent.at[node] as number, this.text.at[node] as number);
}

function mixed(a: number, b: number): number {
  const h = Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b);
  return h ^ (h >>> 15);
}
