/** Array types: by the type's OID, its element's OID and the delimiter of elements. */
export type ArrayTypes = ReadonlyMap<number, { element: number; delimiter: string }>;

const [BOOL, INT2, INT4, JSON_TYPE, FLOAT4, FLOAT8, JSONB] = [16, 21, 23, 114, 700, 701, 3802];

/**
 * A value in PostgreSQL's text form as JSON text, as in Neon's proxy: bool, int2, int4 and finite floats as JSON
 * values, json and jsonb with their bytes unchanged, arrays as arrays, everything else as text.
 */
export function toJson(text: string, type: number, arrays: ArrayTypes): string {
  const array = arrays.get(type);
  if (array) return new ArrayText(text, array.element, array.delimiter, arrays).toJson();
  switch (type) {
    case BOOL:
      return text === 't' ? 'true' : 'false';
    case INT2:
    case INT4:
      return text;
    case FLOAT4:
    case FLOAT8:
      // NaN and the infinities are not JSON numbers; -0 is.
      return /^-?[\d.]+(e[+-]?\d+)?$/.test(text) ? text : JSON.stringify(text);
    case JSON_TYPE:
    case JSONB:
      return text;
    default:
      return JSON.stringify(text);
  }
}

/** The text form of an array (PostgreSQL manual, 8.15.6), parsed into JSON. Bounds such as `[2:3]=` are skipped. */
class ArrayText {
  #text: string;
  #at: number;
  #element: number;
  #delimiter: string;
  #arrays: ArrayTypes;

  constructor(text: string, element: number, delimiter: string, arrays: ArrayTypes) {
    this.#text = text;
    this.#at = text.startsWith('[') ? text.indexOf('=') + 1 : 0;
    this.#element = element;
    this.#delimiter = delimiter;
    this.#arrays = arrays;
  }

  toJson(): string {
    const items: string[] = [];
    this.#at++; // {
    while (this.#text[this.#at] !== '}') {
      if (this.#at >= this.#text.length) throw new Error('an array without its end');
      if (this.#text[this.#at] === this.#delimiter) this.#at++;
      items.push(this.#item());
    }
    this.#at++;
    return `[${items.join(',')}]`;
  }

  #item(): string {
    const first = this.#text[this.#at];
    if (first === '{') return this.toJson();
    if (first === '"') return toJson(this.#quoted(), this.#element, this.#arrays);
    const start = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== this.#delimiter && this.#text[this.#at] !== '}') this.#at++;
    const word = this.#text.slice(start, this.#at);
    return word === 'NULL' ? 'null' : toJson(word, this.#element, this.#arrays);
  }

  #quoted(): string {
    let value = '';
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at]!;
      if (sign === '"') {
        this.#at++;
        return value;
      }
      value += sign === '\\' ? this.#text[++this.#at] : sign;
    }
    throw new Error('a quoted text without its end');
  }
}
