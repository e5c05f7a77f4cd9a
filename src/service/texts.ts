/**
 * SQL of a model as a caller may see it: a definition is shown to callers who see all that it reads (docs/design/rights-and-visibility.md#definitions-as-text).
 */
import { can, type Holder } from '../auth/grants.ts';
import { SvcError } from '../errors.ts';
import { expressionReferences, productText } from '../language/expressions.ts';
import type { SqlParser } from '../language/parser.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import type { ConceptDef, MeasureDef, PropertyDef, ViewDef } from '../ontology/model.ts';
import { checkModel } from '../planner/check.ts';
import { toldTo } from './sight.ts';

/** Definitions with their SQL in the product's names; null: it reads what is hidden from the caller. Views on raw tables are none of its business. */
export class Texts {
  readonly #parser: SqlParser;
  readonly #product: string;
  readonly #whole: Graph;
  readonly #seen: Graph;
  readonly #holder: Holder;
  readonly #allowedFunctions: ReadonlySet<string>;

  /** `graph`: the model as the holder sees it; `allowedFunctions`: functions of the datasource's own that its texts may call. */
  constructor(parser: SqlParser, product: string, holder: Holder, { whole }: Graph, allowedFunctions: ReadonlySet<string> = new Set()) {
    this.#holder = holder;
    this.#allowedFunctions = allowedFunctions;
    this.#parser = parser;
    this.#product = product;
    this.#whole = whole;
    this.#seen = toldTo(holder, whole, parser);
  }

  /** Whether things of a datasource may be told in its own terms: EDIT on the ontology, or QUERY on the datasource. */
  tells(datasource: string): boolean {
    return can(this.#holder, 'edit', ['ontology', this.#whole.ontology]) || can(this.#holder, 'query', ['datasource', datasource]);
  }

  /** A piece of stored SQL as it is printed, whoever asks. */
  print(sql: string, kind: 'expression' | 'select'): string {
    return productText(this.#parser, sql, kind, this.#product);
  }

  /** The expression of a calculated property. */
  property({ expression }: PropertyDef): string | null {
    return expression !== null && this.#names(expression) ? this.print(expression, 'expression') : null;
  }

  /** A measure's expression and condition. */
  measure({ expression, filter }: MeasureDef): { readonly expression: string; readonly filter: string | null } | null {
    if (!this.#names(expression) || (filter !== null && !this.#names(filter))) return null;
    return { expression: this.print(expression, 'expression'), filter: filter === null ? null : this.print(filter, 'expression') };
  }

  /** The condition of a logic concept. */
  condition({ name, def }: Concept): string | null {
    return def ? this.conditionOf(name, def) : null;
  }

  conditionOf(name: string, { logic }: Pick<ConceptDef, 'logic'>): string | null {
    return logic !== null && this.#holds('logic', name) ? this.print(logic.condition, 'expression') : null;
  }

  /** The SELECT of a view over concepts and views. */
  view({ name, sql }: ViewDef): string | null {
    return this.#holds('view', name) ? this.print(sql, 'select') : null;
  }

  /** Whether all names of an expression are those of properties and measures that are seen. */
  #names(expression: string): boolean {
    if (this.#seen === this.#whole) return true;
    return expressionReferences(this.#parser, { text: expression, offset: 0 }).every(
      ({ name }) => this.#seen.property(name) !== undefined || this.#seen.measure(name) !== undefined,
    );
  }

  /** Whether a definition would hold if its reader had written it. */
  #holds(kind: 'view' | 'logic', name: string): boolean {
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
