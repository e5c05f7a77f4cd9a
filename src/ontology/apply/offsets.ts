/**
 * Offsets in a script by text keys. A script of 1 MiB has a hundred thousand of them, which are only read for errors. So the table does not keep the keys but 53 bits of a
 * hash, in 18 to 36 bytes for each offset. Two keys with the same hash would only exchange the positions of two errors.
 */
export class Offsets {
  #hashes = new Float64Array(64);
  #offsets = new Int32Array(64);
  #size = 0;
  readonly #seeds: readonly [number, number];

  /** @param seed a random number from 0 to 1: without it, the author of a script could choose keys for the same slot */
  constructor(seed: number) {
    this.#seeds = [seed * 2 ** 32, (seed * 2 ** 52) % 2 ** 32];
  }

  get(key: string): number | undefined {
    const slot = this.#slot(this.#hash(key));
    return this.#hashes[slot] === 0 ? undefined : this.#offsets[slot];
  }

  set(key: string, offset: number): void {
    if (3 * this.#size >= 2 * this.#hashes.length) this.#grow();
    this.#put(this.#hash(key), offset);
  }

  #put(hash: number, offset: number): void {
    const slot = this.#slot(hash);
    if (this.#hashes[slot] === 0) this.#size++;
    this.#hashes[slot] = hash;
    this.#offsets[slot] = offset;
  }

  /** The slot of a hash, or the free slot for it. */
  #slot(hash: number): number {
    const { length } = this.#hashes;
    let at = hash % length;
    while (this.#hashes[at] !== 0 && this.#hashes[at] !== hash) at = (at + 1) % length;
    return at;
  }

  #grow(): void {
    const [hashes, offsets] = [this.#hashes, this.#offsets];
    this.#hashes = new Float64Array(2 * hashes.length);
    this.#offsets = new Int32Array(2 * hashes.length);
    this.#size = 0;
    for (const [slot, hash] of hashes.entries()) if (hash !== 0) this.#put(hash, offsets[slot] as number);
  }

  /** Two multiplicative hashes, mixed into one number that is not 0. */
  #hash(key: string): number {
    let [a, b] = this.#seeds;
    for (let i = 0; i < key.length; i++) {
      const c = key.charCodeAt(i);
      a = Math.imul(a ^ c, 0x9e3779b1);
      b = Math.imul(b ^ c, 0x5f356495);
    }
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
    b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
    return 2 ** 32 * (b & 0x1fffff) + (a >>> 0) || 1;
  }
}
