/** What applying a script needs from outside, and what it remembers until the script's end. */
import type { SqlText } from '../../language/statements.ts';
import type { ColumnDef } from '../model.ts';
import { fold } from '../names.ts';

/** A name that an expression uses, with its place in the caller's whole text. */
export interface Reference {
  readonly name: string;
  /** What stands before the name (`item` in `item.n`), or null. */
  readonly qualifier: string | null;
  /** Whether it stands in a sub-query, whose own relations may be meant. */
  readonly nested: boolean;
  readonly offset: number;
}

/** A relation that a SELECT reads; names of its CTEs are left out. */
export interface RelationReference {
  readonly schema: string | null;
  readonly name: string;
  readonly offset: number;
}

/** The SQL inside statements, read by PostgreSQL's grammar (language/expressions.ts has the implementation). All throw SvcError 400 with the offset in the whole text. */
export interface SqlReader {
  /** The columns of a mapping's or view's SELECT; null where the text alone does not tell (`SELECT *` from a table). */
  columnsOf(sql: SqlText): readonly ColumnDef[] | null;
  /** The names that an expression, or a whole SELECT, uses as columns. */
  referencesOf(sql: SqlText, kind: 'expression' | 'select'): readonly Reference[];
  /** The relations that a SELECT reads, also in its sub-queries. */
  relationsOf(sql: SqlText): readonly RelationReference[];
  /** The text to store: schemas and functions in their neutral names. */
  textOf(sql: SqlText, kind: 'expression' | 'select'): string;
}

export interface ApplyContext extends SqlReader {
  readonly ontology: string;
  /** Names of the attached datasources; null: not known, any name is taken (`kg validate`). */
  readonly datasources: readonly string[] | null;
  /** Where mappings without USING belong. */
  readonly activeDatasource: string | null;
  /** PRODUCT_NAME: schemas answer to it and to `svc`. */
  readonly product: string;
  /** One for each script. */
  readonly places: Places;
}

/** A piece of SQL in a model, for whoever plans it (planner/check.ts): `offset` is where its stored text begins in the script. */
export interface SqlPiece {
  readonly kind: 'view' | 'logic' | 'property' | 'measure' | 'mapping';
  readonly name: string;
  readonly offset: number;
}

/** Where the things of a script stand in its text: what a fault found at the script's end points at. */
export class Places {
  readonly #offsets = new Map<string, number>();
  /** Names used by the expressions that this script wrote, by the path of their object. */
  readonly references = new Map<string, readonly Reference[]>();
  /** Relations read by the views that this script wrote, by folded view name. */
  readonly relations = new Map<string, readonly RelationReference[]>();
  /** Types that concepts of this script give their measures, by `concept/measure`. */
  readonly measureTypes = new Map<string, string>();
  readonly #pieces = new Map<string, SqlPiece>();
  /** Where the last statement begins. */
  last = 0;

  /** Says where something stands, e.g. `set(12, 'concept', 'item', 'parent', 'thing')`. */
  set(offset: number, ...path: readonly string[]): void {
    this.#offsets.set(keyOf(path), offset);
  }

  get(...path: readonly string[]): number | undefined {
    return this.#offsets.get(keyOf(path));
  }

  /** Says where the SQL of an object stands; null: it has none any more. */
  sql(kind: SqlPiece['kind'], name: string, sql: SqlText | null): void {
    const key = keyOf([kind, name]);
    this.#pieces.delete(key);
    // Stored texts are trimmed.
    if (sql) this.#pieces.set(key, { kind, name, offset: sql.offset + sql.text.length - sql.text.trimStart().length });
  }

  /** The SQL that the script wrote, in order of writing. */
  get pieces(): readonly SqlPiece[] {
    return [...this.#pieces.values()];
  }

  /** The place of the longest beginning of the path (kind and name at least) that this script wrote. */
  near(...path: readonly string[]): number | undefined {
    for (let n = path.length; n >= 2; n--) {
      const offset = this.#offsets.get(keyOf(path.slice(0, n)));
      if (offset !== undefined) return offset;
    }
    return undefined;
  }
}

/** A path of names as one text without case. */
export const keyOf = (path: readonly string[]): string => JSON.stringify(path.map(fold));

/** The neutral name of a schema that is written neutrally or in the product's name; null: none of the virtual schemas. */
export function neutralSchema(written: string, product: string): 'svc' | 'esvc' | 'dsvc' | 'vsvc' | 'gsvc' | null {
  const name = fold(written);
  for (const prefix of ['', 'e', 'd', 'v', 'g'] as const) if (name === `${prefix}svc` || name === prefix + product) return `${prefix}svc`;
  return null;
}
