/** The pieces of SQL that a script has written, and what their checks at its end will cost at least: a script that cannot be checked is refused before its checks begin. */
import { type Budget, STEPS_OF_A_QUESTION, STEPS_OF_AN_ENTRY, stepsOfPiece, stepsOfStatement } from '../../budget.ts';
import type { ModelStatement, Statement } from '../../language/statements.ts';
import { find, stepsOfCopy } from '../../ontology/apply/lists.ts';
import { isRaw, type Model } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { type Piece, STEPS_OF_A_PLAN } from '../../planner/check.ts';
import { isRead, isService } from './classes.ts';

/** The largest syntax tree of a text costs this much for each of its characters. */
const MOST_STEPS_OF_A_CHARACTER = 20;

export class WrittenPieces {
  /** By kind and name. */
  readonly #pieces = new Map<string, Piece>();
  readonly #expected = new Map<string, number>();
  /** The units that the checks of all pieces will cost at least. */
  expected = 0;

  values(): readonly Piece[] {
    return [...this.#pieces.values()];
  }

  clear(): void {
    this.#pieces.clear();
    this.#expected.clear();
    this.expected = 0;
  }

  /**
   * Notes the SQL of a statement, with its offset. What it replaces or drops is not checked.
   * @param model the model with the statement; undefined if it is not applied yet
   * @param applied the units that its application cost, most of which is parsing the SQL
   */
  note(statement: ModelStatement, model: Model | undefined, applied: number): void {
    const kind = kindOf(statement);
    if (kind === undefined || !('name' in statement)) return;
    const key = `${kind} ${fold(statement.name.text)}`;
    this.expected -= this.#expected.get(key) ?? 0;
    this.#expected.delete(key);
    const piece = pieceOf(statement);
    if (piece === undefined) {
      this.#pieces.delete(key);
      return;
    }
    const { length } = statement.source.text;
    const parsing = Math.min(Math.max(0, applied - length), stepsOfPiece(length) + MOST_STEPS_OF_A_CHARACTER * length);
    const units = checksOf(piece, model, parsing);
    this.expected += units;
    this.#expected.set(key, units);
    this.#pieces.set(key, piece);
  }
}

/** The kind of SQL that the object of a statement may have; undefined for statements that neither create nor drop an object. */
function kindOf(statement: ModelStatement): Piece['kind'] | undefined {
  switch (statement.kind === 'drop' ? statement.object : statement.kind) {
    case 'create_view':
    case 'view':
    case 'cube':
      return 'view';
    case 'create_mapping':
    case 'mapping':
      return 'mapping';
    case 'create_property':
    case 'property':
      return 'property';
    case 'create_measure':
    case 'measure':
      return 'measure';
    case 'create_concept':
    case 'concept':
      return 'logic';
    default:
      return undefined;
  }
}

/** The SQL of a statement; undefined if it has none. */
function pieceOf(statement: ModelStatement): Piece | undefined {
  const piece = (kind: Piece['kind'], offset: number | undefined, filterOffset?: number): Piece | undefined =>
    'name' in statement && offset !== undefined ? { kind, name: statement.name.text, offset, filterOffset } : undefined;
  switch (statement.kind) {
    case 'create_view':
      return piece('view', statement.sql.offset);
    case 'create_mapping':
      return piece('mapping', statement.sql.offset);
    case 'create_property':
      return piece('property', statement.expression?.offset);
    case 'create_measure':
      return piece('measure', statement.expression.offset, statement.filter?.offset);
    case 'create_concept':
      return piece('logic', statement.logic?.condition.offset);
    default:
      return undefined;
  }
}

/** The least that the checks of a piece cost. @param parsing the cost of parsing it once */
function checksOf({ kind, name }: Piece, model: Model | undefined, parsing: number): number {
  // SQL over tables is parsed once more, and the verifier parses what is sent to the datasource
  const overTables = STEPS_OF_A_QUESTION + 2 * parsing;
  if (kind === 'mapping') return overTables;
  if (kind !== 'view') return STEPS_OF_A_PLAN + parsing;
  const view = model && find(model.views, name);
  // a view over concepts is planned twice: as a statement of its own, and for the question to the datasource
  return view === undefined || isRaw(view) ? overTables : overTables + 2 * STEPS_OF_A_PLAN;
}

/** What the objects that a script makes cost at least, besides their SQL: each lengthens a list that is copied, and the ancestors of all concepts are listed. */
class MadeObjects {
  readonly #lengths = new Map<Piece['kind'], number>();
  /** How many concepts of the script are above one of them, on one line. */
  readonly #above = new Map<string, number>();
  /** The sum of `#above`. */
  entries = 0;

  /** @returns the steps that a copy of the list takes */
  note(statement: ModelStatement): number {
    const kind = kindOf(statement);
    if (kind === undefined || !('name' in statement)) return 0;
    if (kind === 'logic') this.#place(statement, fold(statement.name.text));
    const length = this.#lengths.get(kind) ?? 0;
    const isNew = 'replace' in statement && !statement.replace;
    this.#lengths.set(kind, Math.max(0, length + (isNew ? 1 : statement.kind === 'drop' ? -1 : 0)));
    return isNew ? stepsOfCopy(length) : 0;
  }

  #place(statement: ModelStatement, name: string): void {
    // the concepts below it may have other ancestors from here on
    if (this.#above.has(name)) {
      this.#above.clear();
      this.entries = 0;
    }
    if (statement.kind !== 'create_concept') return;
    const above = statement.parents.reduce((most, p) => Math.max(most, 1 + (this.#above.get(fold(p.text)) ?? -1)), 0);
    this.#above.set(name, above);
    this.entries += above;
  }
}

/**
 * Refuses a script before its first statement is applied, if its statements and their checks will exceed the budget in any case.
 * @throws SvcError 400 `too_complex` at the statement that exceeds it
 */
export function foresee(statements: readonly Statement[], budget: Budget): void {
  const pieces = new WrittenPieces();
  let made = new MadeObjects();
  let applied = 0;
  try {
    for (const s of statements) {
      if (isRead(s)) continue;
      // another ontology, or another content
      if (s.kind === 'rollback' || s.kind === 'create_ontology' || s.kind === 'drop_ontology') made = new MadeObjects();
      if (isService(s)) continue;
      const { text, offset } = s.source;
      applied += stepsOfStatement(text.length);
      if (s.kind === 'rollback') pieces.clear();
      // an object that exists already is neither applied nor checked
      else if (!s.ifNotExists) {
        const parsing = s.kind === 'create_mapping' || s.kind === 'create_view' ? stepsOfPiece(s.sql.text.length) : 0;
        pieces.note(s, undefined, text.length + parsing);
        applied += parsing + made.note(s);
      }
      budget.expect(applied + pieces.expected, offset);
    }
    // only the concepts that are left have ancestors
    budget.expect(applied + pieces.expected + made.entries * (1 + STEPS_OF_AN_ENTRY), statements.at(-1)?.source.offset);
  } finally {
    budget.expect(0);
  }
}
