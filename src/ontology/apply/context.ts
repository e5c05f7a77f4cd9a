/** What applying a script needs from its caller, and what it records for the checks at the script's end. */
import type { SqlText, Translation } from '../../language/statements.ts';
import type { ColumnDef, Model } from '../model.ts';
import { fold } from '../names.ts';
import { Offsets } from './offsets.ts';

/** A name in an expression, with its position in the caller's whole text. */
export interface Reference {
  readonly name: string;
  /** The qualifier of the name (`item` in `item.n`), or null. */
  readonly qualifier: string | null;
  /** Whether it is inside a sub-query, where it may refer to the sub-query's own relations. */
  readonly nested: boolean;
  readonly offset: number;
}

/** A relation that a SELECT reads, other than its own CTEs. */
export interface RelationReference {
  readonly schema: string | null;
  readonly name: string;
  readonly offset: number;
}

/** Reads the SQL inside statements with PostgreSQL's grammar (implemented in language/expressions.ts). All functions throw SvcError 400 with the offset in the whole text. */
export interface SqlReader {
  /** The columns of a mapping's or view's SELECT; null if the text does not determine them (`SELECT *` from a table). */
  columnsOf(sql: SqlText): readonly ColumnDef[] | null;
  /** The column names in an expression, or in a whole SELECT. */
  referencesOf(sql: SqlText, kind: 'expression' | 'select'): readonly Reference[];
  /** The relations that a SELECT reads, including its sub-queries. */
  relationsOf(sql: SqlText): readonly RelationReference[];
  /** The text to store, with schemas and functions under their neutral names. */
  textOf(sql: SqlText, kind: 'expression' | 'select'): string;
}

export interface ApplyContext extends SqlReader {
  readonly ontology: string;
  /** Names of the attached datasources. null if they are unknown and any name is accepted (`kg validate`). */
  readonly datasources: readonly string[] | null;
  /** The datasource for mappings without USING. */
  readonly activeDatasource: string | null;
  /** The setting PRODUCT_NAME. Schemas have names with this prefix and with `svc`. */
  readonly product: string;
  /** One instance for each script. */
  readonly places: Places;
  /** The model before the change, if statements are applied to another one. Its names may be used again. */
  readonly before?: Model;
}

/** A piece of SQL in a model, for the planner's checks (planner/check.ts). `offset` is where its stored text starts in the script. */
export interface SqlPiece {
  readonly kind: 'view' | 'logic' | 'property' | 'measure' | 'mapping';
  readonly name: string;
  readonly offset: number;
}

/** Records the positions of a script's objects in its text, for errors that are found at the script's end. */
export class Places {
  readonly #offsets: Offsets;
  /** Names in the expressions that this script wrote, by the path of their object. */
  readonly references = new Map<string, readonly Reference[]>();
  /** Relations that the views of this script read, by folded view name. */
  readonly relations = new Map<string, readonly RelationReference[]>();
  /** Types that concepts of this script declare for their measures, by `concept/measure`. */
  readonly measureTypes = new Map<string, string>();
  readonly #pieces = new Map<string, SqlPiece>();
  readonly #translations = new Map<string, readonly Translation[]>();
  /** The offset of the last statement. */
  last = 0;

  /** @param seed a random number from 0 to 1; omit it for scripts of no other user */
  constructor(seed = 0) {
    this.#offsets = new Offsets(seed);
  }

  /** Records a position, e.g. `set(12, 'concept', 'item', 'parent', 'thing')`. */
  set(offset: number, ...path: readonly string[]): void {
    this.#offsets.set(keyOf(path), offset);
  }

  get(...path: readonly string[]): number | undefined {
    return this.#offsets.get(keyOf(path));
  }

  /** Records the SQL of an object, and a measure's condition; null if it no longer has any. */
  sql(kind: SqlPiece['kind'], name: string, sql: SqlText | null, condition?: SqlText | null): void {
    const key = keyOf([kind, name]);
    this.#pieces.delete(key);
    this.#translations.set(key, [...(sql?.translations ?? []), ...(condition?.translations ?? [])]);
    // stored texts are trimmed
    if (sql) this.#pieces.set(key, { kind, name, offset: sql.offset + sql.text.length - sql.text.trimStart().length });
  }

  /** The SQL that the script wrote, in order of writing. */
  get pieces(): readonly SqlPiece[] {
    return [...this.#pieces.values()];
  }

  /** What was translated from other dialects in an object that this script wrote. */
  translations({ kind, name }: SqlPiece): readonly Translation[] {
    return this.#translations.get(keyOf([kind, name])) ?? [];
  }

  /** The position of the longest prefix of the path (at least kind and name) that this script wrote. */
  near(...path: readonly string[]): number | undefined {
    for (let n = path.length; n >= 2; n--) {
      const offset = this.#offsets.get(keyOf(path.slice(0, n)));
      if (offset !== undefined) return offset;
    }
    return undefined;
  }
}

/** A path of names as a folded key. */
export const keyOf = (path: readonly string[]): string => JSON.stringify(path.map(fold));

/** The neutral name of a virtual schema, given its neutral name or the product's name for it; null for any other schema. */
export function neutralSchema(written: string, product: string): 'svc' | 'esvc' | 'dsvc' | 'vsvc' | 'gsvc' | null {
  const name = fold(written);
  for (const prefix of ['', 'e', 'd', 'v', 'g'] as const) if (name === `${prefix}svc` || name === prefix + product) return `${prefix}svc`;
  return null;
}
