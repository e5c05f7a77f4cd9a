/**
 * SQL of definitions. A definition is shown only to callers who see everything that it reads (docs/design/rights-and-visibility.md#definitions-as-text).
 */
import { can, type Holder } from '../../auth/grants.ts';
import { stepsOfPrinting, visited } from '../../budget.ts';
import { SvcError } from '../../errors.ts';
import { expressionReferences, productText } from '../../language/expressions.ts';
import type { SqlParser } from '../../language/parser.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { ConceptDef, MeasureDef, PropertyDef, ViewDef } from '../../ontology/model.ts';
import { isPath } from '../../ontology/paths.ts';
import { checkModel } from '../../planner/check.ts';
import { definitionsSeenBy } from './sight.ts';

/** Prints a stored piece of SQL: schemas and functions get the product's names. */
export type Printed = (sql: string, kind: 'expression' | 'select') => string;

/** Prints definitions with the product's names; null if the definition reads something that is hidden from the caller. Does not handle views over tables. */
export class Texts {
  readonly #parser: SqlParser;
  readonly #product: string;
  readonly #whole: Graph;
  readonly #seen: Graph;
  readonly #holder: Holder;
  readonly #allowedFunctions: ReadonlySet<string>;

  /**
   * @param graph the model as the holder sees it
   * @param allowedFunctions functions of the datasource that its texts may call
   */
  constructor(parser: SqlParser, product: string, holder: Holder, { whole }: Graph, allowedFunctions: ReadonlySet<string> = new Set()) {
    this.#holder = holder;
    this.#allowedFunctions = allowedFunctions;
    this.#parser = parser;
    this.#product = product;
    this.#whole = whole;
    this.#seen = definitionsSeenBy(holder, whole, parser);
  }

  /** True if the caller may see names and SQL of a datasource: with EDIT on the ontology or QUERY on the datasource. */
  showsTables(datasource: string): boolean {
    return can(this.#holder, 'edit', ['ontology', this.#whole.ontology]) || can(this.#holder, 'query', ['datasource', datasource]);
  }

  /** Prints a piece of stored SQL, without checking what the caller sees. */
  print(sql: string, kind: 'expression' | 'select'): string {
    visited(stepsOfPrinting(sql.length));
    return productText(this.#parser, sql, kind, this.#product);
  }

  /** The expression of a calculated property. */
  property({ expression }: PropertyDef): string | null {
    return expression !== null && this.#seesNames(expression) ? this.print(expression, 'expression') : null;
  }

  /** A measure's expression and condition. */
  measure({ expression, filter }: MeasureDef): { readonly expression: string; readonly filter: string | null } | null {
    if (!this.#seesNames(expression) || (filter !== null && !this.#seesNames(filter))) return null;
    return { expression: this.print(expression, 'expression'), filter: filter === null ? null : this.print(filter, 'expression') };
  }

  /** The condition of a logic concept. */
  condition({ name, def }: Concept): string | null {
    return def ? this.conditionOf(name, def) : null;
  }

  conditionOf(name: string, { logic }: Pick<ConceptDef, 'logic'>): string | null {
    return logic !== null && this.#isValidForCaller('logic', name) ? this.print(logic.condition, 'expression') : null;
  }

  /** The SELECT of a view over concepts and views. */
  view({ name, sql }: ViewDef): string | null {
    return this.#isValidForCaller('view', name) ? this.print(sql, 'select') : null;
  }

  /** True if the caller sees all properties and measures of an expression. */
  #seesNames(expression: string): boolean {
    if (this.#seen === this.#whole) return true;
    return expressionReferences(this.#parser, { text: expression, offset: 0 }).every(({ name }) => {
      // a property is visible only to callers who see what its paths name
      if (isPath(name)) return true;
      return this.#seen.property(name) !== undefined || this.#seen.measure(name) !== undefined;
    });
  }

  /** True if the definition would be valid if the caller had written it. */
  #isValidForCaller(kind: 'view' | 'logic', name: string): boolean {
    if (this.#seen === this.#whole) return true;
    try {
      const options = { graph: this.#seen, product: this.#product, allowedFunctions: this.#allowedFunctions };
      checkModel(this.#whole, this.#parser, [{ kind, name, offset: 0 }], options);
      return true;
    } catch (error) {
      if (error instanceof SvcError) return false;
      throw error;
    }
  }
}
