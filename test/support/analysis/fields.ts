/** Random queries that select fields from all values that may have fields, with names that are also functions: if a value has no such field, PostgreSQL calls the function. */
import fc from 'fast-check';

/** Names of columns and aliases; no query calls any of these functions as a call. */
export const CALLED = ['upper', 'md5', 'current_setting', 'pg_column_size', 'row_to_json', 'text', 'reverse'] as const;
/** Columns of s.u have names of functions; no text of a model names `md5` and `text`. */
export const TABLES =
  'CREATE SCHEMA s; CREATE TABLE s.t (a text, b text, c text); CREATE TABLE s.u (a text, upper text, md5 text, key text, text text, value text)';
export const COLUMNS: ReadonlySet<string> = new Set(['a', 'b', 'c', 'upper', 'key', 'value']);

const NAMES = [...CALLED, 'a', 'b', 'c', 'key', 'value', 'f1', 'f2', 'lexeme', 'ordinality', 'column1'] as const;

class Queries {
  readonly #random: fc.Random;
  #ctes: string[] = [];

  constructor(random: fc.Random) {
    this.#random = random;
  }

  #int(max: number): number {
    return this.#random.nextInt(0, max);
  }
  #chance(percent: number): boolean {
    return this.#int(99) < percent;
  }
  #pick<T>(of: readonly T[]): T {
    return of[this.#int(of.length - 1)] as T;
  }
  #name(): string {
    return this.#pick(NAMES);
  }
  #names(most: number): string {
    return Array.from({ length: 1 + this.#int(most - 1) }, () => this.#name()).join(', ');
  }

  query(depth: number, aliases: readonly string[] = []): string {
    const before = this.#ctes;
    let head = '';
    if (depth > 1 && this.#chance(25)) {
      const name = this.#name();
      const columns = this.#chance(40) ? ` (${this.#names(2)})` : '';
      head = `WITH ${name}${columns} AS (${this.query(depth - 1)}) `;
      this.#ctes = [name, ...before];
    }
    if (depth > 1 && this.#chance(8)) {
      const [name, alias] = [this.#name(), this.#name()];
      this.#ctes = [name, ...this.#ctes];
      const values = [0, 1].map(() => this.#value(1, [alias]));
      const own = `SELECT ${values.join(', ')} FROM ${name} AS ${alias}${this.#chance(40) ? ` (${this.#names(2)})` : ''}`;
      const columns = this.#chance(60) ? ` (${this.#names(2)})` : '';
      const search = this.#chance(40) ? ` SEARCH DEPTH FIRST BY ${this.#name()} SET ${this.#name()}` : '';
      head = `WITH RECURSIVE ${name}${columns} AS (SELECT 'x'::text AS a, 'y'::text AS key UNION ALL ${own})${search} `;
    }
    let body = this.#block(depth, aliases);
    if (depth > 1 && this.#chance(10)) body = `(${body}) UNION ALL (${this.#block(depth - 1, aliases)})`;
    this.#ctes = before;
    return head + body;
  }

  #block(depth: number, outer: readonly string[]): string {
    const from: string[] = [];
    const aliases = [...outer];
    for (let n = this.#pick([1, 1, 1, 2]); n > 0; n--) from.push(this.#item(depth, aliases));
    const items = Array.from({ length: 1 + this.#int(2) }, () => this.#target(depth, aliases));
    return `SELECT ${items.join(', ')} FROM ${from.join(', ')}`;
  }

  #target(depth: number, aliases: readonly string[]): string {
    if (this.#chance(12)) return '*';
    if (this.#chance(12)) return `${this.#alias(aliases)}.*`;
    if (this.#chance(6)) return `(${this.#row(depth, aliases)}).*`;
    const value = this.#value(depth, aliases);
    return this.#chance(65) ? `${value} AS ${this.#name()}` : value;
  }

  #alias(aliases: readonly string[]): string {
    return aliases.length > 0 && this.#chance(92) ? this.#pick(aliases) : this.#name();
  }

  #row(depth: number, aliases: readonly string[]): string {
    switch (this.#int(6)) {
      case 0:
        return `ROW(${this.#value(depth - 1, aliases)}, ${this.#alias(aliases)}.*)`;
      case 1:
        return `ROW('x', ${this.#value(depth - 1, aliases)})`;
      case 2:
        return "jsonb_each('{}')";
      case 3:
        return `${this.#alias(aliases)}.*`;
      case 4:
        return `${this.#alias(aliases)}.${this.#name()}`;
      default:
        return this.#alias(aliases);
    }
  }

  #value(depth: number, aliases: readonly string[]): string {
    if (depth <= 0) return this.#chance(50) ? "'x'::text" : this.#name();
    switch (this.#int(11)) {
      case 0:
        return "'x'::text";
      case 1:
      case 2:
        return this.#name();
      case 3:
      case 4:
      case 5:
        return `${this.#alias(aliases)}.${this.#name()}`;
      case 6:
      case 7:
        return `(${this.#row(depth, aliases)}).${this.#name()}`;
      case 8:
        return `((${this.#row(depth, aliases)}).${this.#name()}).${this.#name()}`;
      case 9:
        return this.#row(depth, aliases);
      case 10:
        return depth > 1 ? `(SELECT ${this.#value(depth - 1, aliases)})` : this.#alias(aliases);
      default:
        return this.#alias(aliases);
    }
  }

  /** An item of FROM; its alias is one of `aliases` from here on. */
  #item(depth: number, aliases: string[]): string {
    if (depth > 1 && this.#chance(22)) return this.#join(depth, aliases);
    const alias = this.#name();
    const own = this.#relation(depth, alias, aliases);
    aliases.push(alias);
    return own;
  }

  #relation(depth: number, alias: string, aliases: readonly string[]): string {
    const columns = (most: number): string => (this.#chance(45) ? ` (${this.#names(most)})` : '');
    if (depth > 1 && this.#chance(40)) {
      if (this.#chance(25)) return `LATERAL (${this.query(depth - 1, aliases)}) AS ${alias}${columns(2)}`;
      return `(${this.query(depth - 1)}) AS ${alias}${columns(2)}`;
    }
    if (this.#ctes.length > 0 && this.#chance(35)) return `${this.#pick(this.#ctes)} AS ${alias}${columns(2)}`;
    switch (this.#int(9)) {
      case 0:
      case 1:
        return `s.${this.#chance(60) ? 't' : 'u'} AS ${alias}${columns(3)}`;
      case 2:
        return `(VALUES ('x'::text, ROW(1, 'y'::text))) AS ${alias}${columns(2)}`;
      case 3:
        return `unnest(ARRAY['x'::text]) AS ${alias}${columns(1)}`;
      case 4:
        return `jsonb_each('{}') AS ${alias}${columns(2)}`;
      case 5:
        return `jsonb_array_elements_text('[]') AS ${alias}${columns(1)}`;
      case 6:
        return `json_to_record('{}') AS ${alias} (${this.#name()} text)`;
      case 7:
        return `ROWS FROM (generate_series(1, 2), jsonb_each('{}')) WITH ORDINALITY AS ${alias}${columns(3)}`;
      case 8:
        return `unnest(ARRAY['x'::text]) WITH ORDINALITY AS ${alias}${columns(2)}`;
      default:
        return `CAST('x' AS text) AS ${alias}${columns(1)}`;
    }
  }

  #join(depth: number, aliases: string[]): string {
    const inner: string[] = [];
    const left = this.#item(depth - 1, inner);
    const right = this.#item(depth - 1, inner);
    const kind = this.#int(3);
    const joined =
      kind === 0
        ? `${left} CROSS JOIN ${right}`
        : kind === 1
          ? `${left} NATURAL JOIN ${right}`
          : `${left} JOIN ${right} USING (${this.#pick(['a', 'key', 'value', 'upper', 'f1'])})`;
    if (kind === 2 && this.#chance(40)) {
      const using = this.#name();
      aliases.push(...inner, using);
      return `${joined} AS ${using}`;
    }
    if (this.#chance(35)) {
      const alias = this.#name();
      aliases.push(alias);
      return `(${joined}) AS ${alias}${this.#chance(40) ? ` (${this.#names(3)})` : ''}`;
    }
    aliases.push(...inner);
    return joined;
  }
}

/** Such queries over the tables of TABLES. */
export class FieldQueries extends fc.Arbitrary<string> {
  generate(random: fc.Random): fc.Value<string> {
    return new fc.Value(new Queries(random).query(3), undefined);
  }

  canShrinkWithoutContext(_value: unknown): _value is string {
    return false;
  }

  shrink(): fc.Stream<fc.Value<string>> {
    return fc.Stream.nil();
  }
}
