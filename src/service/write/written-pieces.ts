/** The pieces of SQL that a script has written, and what their checks at its end will cost at least: a script that cannot be checked is refused before its checks begin. */
import { type Budget, STEPS_OF_A_QUESTION, stepsOfPiece, stepsOfStatement } from '../../budget.ts';
import type { ModelStatement, Statement } from '../../language/statements.ts';
import { find } from '../../ontology/apply/lists.ts';
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

/**
 * Refuses a script before its first statement is applied, if its statements and their checks will exceed the budget in any case.
 * @throws SvcError 400 `too_complex` at the statement that exceeds it
 */
export function foresee(statements: readonly Statement[], budget: Budget): void {
  const pieces = new WrittenPieces();
  let applied = 0;
  try {
    for (const s of statements) {
      if (isRead(s) || isService(s)) continue;
      const { text, offset } = s.source;
      applied += stepsOfStatement(text.length);
      if (s.kind === 'rollback') pieces.clear();
      // an object that exists already is neither applied nor checked
      else if (!s.ifNotExists) {
        const parsing = s.kind === 'create_mapping' || s.kind === 'create_view' ? stepsOfPiece(s.sql.text.length) : 0;
        pieces.note(s, undefined, text.length + parsing);
        applied += parsing;
      }
      budget.expect(applied + pieces.expected, offset);
    }
  } finally {
    budget.expect(0);
  }
}
