/**
 * A SELECT in the ontology's own terms: what it reads, which paths it walks, how it groups and sorts. For EXPLAIN of a caller who may not know the tables
 * behind it; without estimates (docs/design/statements-and-versions.md#explain).
 */
import type { SelectStmt } from '@pgsql/types';
import { SvcError } from '../errors.ts';
import type { Source } from '../language/statements.ts';
import { neutralSchema } from '../ontology/apply.ts';
import type { Concept } from '../ontology/graph.ts';
import { isAggregateCall } from './aggregate/calls.ts';
import { isPath, isToMany, type PathEnd, parsePath } from './path.ts';
import { fieldsOf, type Node, walk } from './tree.ts';
import { type Parsed, type PlanContext, Work } from './work.ts';

/** A line of the plan and what stands below it. */
interface Step {
  readonly text: string;
  readonly below: readonly Step[];
}

/** What FROM of a block names. */
interface Item {
  readonly alias: string;
  readonly text: string;
  readonly concept: Concept | undefined;
  readonly below: readonly Step[];
}

/**
 * The plan as text, a step a line, indented. The statement has to be one that `planSelect` takes.
 * @throws SvcError 400 as `planSelect` does, for faults in the text
 */
export function explainLogical(context: PlanContext, source: Source): string {
  const parsed = new Work(context).parse(source.text, source.offset);
  const lines: string[] = [];
  const write = (step: Step, depth: number): void => {
    lines.push(`${'  '.repeat(depth)}${depth === 0 ? '' : '-> '}${step.text}`);
    for (const s of step.below) write(s, depth + 1);
  };
  for (const step of new Explainer(context, parsed).query(parsed.stmt, new Set())) write(step, 0);
  return lines.join('\n');
}

class Explainer {
  readonly #context: PlanContext;
  readonly #parsed: Parsed;

  constructor(context: PlanContext, parsed: Parsed) {
    this.#context = context;
    this.#parsed = parsed;
  }

  query(stmt: SelectStmt, outer: ReadonlySet<string>): Step[] {
    const known = new Set(outer);
    const steps: Step[] = [];
    for (const cte of stmt.withClause?.ctes ?? []) {
      if (!('CommonTableExpr' in cte)) continue;
      const { ctename = '', ctequery } = cte.CommonTableExpr;
      if (stmt.withClause?.recursive) known.add(ctename.toLowerCase());
      const below = ctequery && 'SelectStmt' in ctequery ? this.query(ctequery.SelectStmt, known) : [];
      known.add(ctename.toLowerCase());
      steps.push({ text: `With ${this.#written(ctename)}`, below });
    }
    const block = stmt.op && stmt.op !== 'SETOP_NONE' && stmt.larg && stmt.rarg ? this.#setOperation(stmt, known) : this.#block(stmt, known);
    return [...steps, wrapped(stmt, block)];
  }

  #setOperation(stmt: SelectStmt, known: ReadonlySet<string>): Step {
    const words = { SETOP_UNION: 'Union', SETOP_INTERSECT: 'Intersect', SETOP_EXCEPT: 'Except' } as const;
    const text = `${words[stmt.op as keyof typeof words]}${stmt.all ? ' all' : ''}`;
    return { text, below: [...this.query(stmt.larg as SelectStmt, known), ...this.query(stmt.rarg as SelectStmt, known)] };
  }

  #block(stmt: SelectStmt, known: ReadonlySet<string>): Step {
    if (stmt.valuesLists) return { text: `Values: ${count(stmt.valuesLists.length, 'row')}`, below: [] };
    const items = (stmt.fromClause ?? []).map((node) => this.#from(node, known));
    const concepts = items.flat();
    const { targetList, whereClause, groupClause, havingClause, sortClause, windowClause, fromClause } = stmt;
    const paths = this.#paths([targetList, whereClause, groupClause, havingClause, sortClause, windowClause, fromClause], concepts);
    const reads = concepts.map((item) => ({ text: item.text, below: [...item.below, ...(paths.get(item) ?? [])] }));
    const subqueries = this.#subqueries([targetList, whereClause, groupClause, havingClause, sortClause], known);
    let step: Step = reads.length === 1 && reads[0] ? reads[0] : { text: reads.length === 0 ? 'Result' : `Join of ${reads.length}`, below: reads };
    if (subqueries.length > 0) step = { text: 'With sub-queries', below: [step, ...subqueries] };
    if (whereClause) step = { text: 'Filter', below: [step] };
    if (groupClause || havingClause || hasAggregates([targetList, sortClause])) {
      const by = groupClause ? `Group by ${count(groupClause.length, 'expression')}` : 'Aggregate';
      step = { text: havingClause ? `${by}, with a condition on groups` : by, below: [step] };
    }
    if (windowClause || hasWindows([targetList, sortClause])) step = { text: 'Window', below: [step] };
    return stmt.distinctClause ? { text: 'Distinct', below: [step] } : step;
  }

  /** The relations of a FROM item. */
  #from(node: Node, known: ReadonlySet<string>): Item[] {
    if ('JoinExpr' in node) {
      const { larg, rarg } = node.JoinExpr;
      return [...(larg ? this.#from(larg, known) : []), ...(rarg ? this.#from(rarg, known) : [])];
    }
    if ('RangeSubselect' in node) {
      const { subquery, alias } = node.RangeSubselect;
      const below = subquery && 'SelectStmt' in subquery ? this.query(subquery.SelectStmt, known) : [];
      return [{ alias: alias?.aliasname ?? '', text: `Sub-query${alias?.aliasname ? ` ${this.#written(alias.aliasname)}` : ''}`, concept: undefined, below }];
    }
    if ('RangeVar' in node) return [this.#relation(node.RangeVar, known)];
    return [{ alias: '', text: 'Function', concept: undefined, below: [] }];
  }

  #relation(
    range: { readonly schemaname?: string; readonly relname?: string; readonly alias?: { readonly aliasname?: string } },
    known: ReadonlySet<string>,
  ): Item {
    const { graph, product } = this.#context;
    const name = this.#written(range.relname ?? '');
    const alias = range.alias?.aliasname ?? range.relname ?? '';
    const as = range.alias?.aliasname && range.alias.aliasname !== range.relname ? ` as ${this.#written(range.alias.aliasname)}` : '';
    const made = (text: string, concept?: Concept): Item => ({ alias, text: text + as, concept, below: [] });
    if (!range.schemaname && known.has((range.relname ?? '').toLowerCase())) return made(`Read ${name}`);
    const schema = range.schemaname ? neutralSchema(range.schemaname, product) : null;
    const concept = schema === 'vsvc' ? undefined : graph.concept(name);
    const shown = (prefix: string): string => `${prefix}${product}`;
    if (concept) return made(`Read concept ${shown((schema ?? 'dsvc').replace('svc', ''))}.${concept.name}`, concept);
    const view = graph.view(name);
    if (view) {
      const read = made(`Read ${view.cube ? 'cube' : 'view'} ${shown('v')}.${view.name}`);
      return read;
    }
    return made(`Read system table ${name.toUpperCase()}`);
  }

  /** The paths that clauses walk, below the relation from which they start; hops that paths share stand once. */
  #paths(clauses: readonly unknown[], items: readonly Item[]): ReadonlyMap<Item, Step[]> {
    interface Hops extends Map<string, { readonly text: string; readonly next: Hops }> {}
    const found = new Map<Item, Hops>();
    const add = (item: Item, end: PathEnd): void => {
      let level: Hops = found.get(item) ?? (new Map() as Hops);
      found.set(item, level);
      for (const hop of end.hops) {
        const known = level.get(hop.label) ?? {
          text: `Path ${hop.label} (${hop.depth !== null ? `walk of up to ${count(hop.depth, 'step')}` : isToMany(hop) ? 'to many' : 'to one'})`,
          next: new Map() as Hops,
        };
        level.set(hop.label, known);
        level = known.next;
      }
    };
    walk(clauses, (node) => {
      if ('SelectStmt' in node) return false;
      if (!('ColumnRef' in node)) return undefined;
      const fields = fieldsOf(node.ColumnRef).map((f) => this.#written(f));
      const path = (fields.at(-1) ?? '').replace(/^measure\./i, '');
      if (!isPath(path)) return undefined;
      const qualifier = fields.at(-2)?.toLowerCase();
      for (const item of items) {
        if (!item.concept || (qualifier !== undefined && this.#written(item.alias).toLowerCase() !== qualifier)) continue;
        const end = this.#read(item.concept, path);
        if (end) {
          add(item, end);
          break;
        }
      }
      return undefined;
    });
    const steps = (hops: Hops): Step[] => [...hops.values()].map((h) => ({ text: h.text, below: steps(h.next) }));
    return new Map([...found].map(([item, hops]) => [item, steps(hops)]));
  }

  #read(concept: Concept, path: string): PathEnd | undefined {
    try {
      return parsePath(concept, path);
    } catch (e) {
      // a path of another relation of the block
      if (e instanceof SvcError) return undefined;
      throw e;
    }
  }

  #subqueries(clauses: readonly unknown[], known: ReadonlySet<string>): Step[] {
    const steps: Step[] = [];
    walk(clauses, (node) => {
      if (!('SelectStmt' in node)) return undefined;
      steps.push(...this.query(node.SelectStmt, known));
      return false;
    });
    return steps;
  }

  /** A name as the caller wrote it: stand-ins undone. */
  #written(name: string): string {
    return this.#parsed.standIns.get(name) ?? name;
  }
}

/** ORDER BY and LIMIT round a query. */
function wrapped(stmt: SelectStmt, step: Step): Step {
  const sorted = stmt.sortClause ? { text: `Sort by ${count(stmt.sortClause.length, 'expression')}`, below: [step] } : step;
  return stmt.limitCount || stmt.limitOffset ? { text: 'Limit', below: [sorted] } : sorted;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

function hasCall(clauses: readonly unknown[], test: (node: Node) => boolean): boolean {
  let found = false;
  walk(clauses, (node) => {
    if ('SelectStmt' in node) return false;
    found ||= test(node);
    return !found;
  });
  return found;
}

const hasAggregates = (clauses: readonly unknown[]): boolean => hasCall(clauses, isAggregateCall);
const hasWindows = (clauses: readonly unknown[]): boolean => hasCall(clauses, (node) => 'FuncCall' in node && node.FuncCall.over !== undefined);
