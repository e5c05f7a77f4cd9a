/** Asks datasources whether stored texts are still valid after a script gave properties or measures other types. */
import type { Caller } from '../../auth/authenticate.ts';
import { httpEngine } from '../../engine/engine.ts';
import { badRequest, quoted, SvcError } from '../../errors.ts';
import { quoteDouble } from '../../language/quote.ts';
import { mentions } from '../../ontology/apply/drop.ts';
import type { Places } from '../../ontology/apply.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import { isRaw, type Model } from '../../ontology/model.ts';
import { byName, fold } from '../../ontology/names.ts';
import { findType } from '../../ontology/types.ts';
import { type Plan, type PlanContext, planSelect } from '../../planner/index.ts';
import { datasourceOf } from '../caller/datasource.ts';
import { verified } from '../read/verified.ts';
import type { Runtime } from '../runtime.ts';

/** The maximum number of concurrent requests. */
const CONCURRENCY = 6;
/** The maximum number of texts in one request. */
const TEXTS_PER_REQUEST = 20;

/** A property or measure with another type than before. */
interface Retyped {
  readonly kind: 'property' | 'measure';
  readonly name: string;
  readonly was: string;
  readonly type: string;
}

/** A part of the model that reads what has another type, and a SELECT that fails if the part is not valid. */
interface Reader {
  readonly what: string;
  readonly sql: string;
  readonly of: Retyped;
}

/** The model before and after a script, and the places of what the script wrote. */
export interface Change {
  readonly before: Graph;
  readonly after: Graph;
  readonly places: Pick<Places, 'get'>;
}

/**
 * Checks that what reads a retyped property or measure is valid on its datasource. PostgreSQL decides this, because types of expressions are its rules. What was not valid
 * before the script is accepted.
 * @param within runs a plan within the budget of the request
 * @throws SvcError 400 `type_mismatch` with the offset of the property or measure; 502, 504 if a datasource cannot be reached
 */
export async function requireValidTypes(
  runtime: Runtime,
  caller: Caller,
  { before, after, places }: Change,
  context: Omit<PlanContext, 'graph'>,
  within: Within,
): Promise<void> {
  const retyped = retypedIn(before.model, after.model);
  if (retyped.length === 0) return;
  const checker = new Checker(runtime, caller, context, within);
  /** The error about the first reader that is not valid any more. */
  const errorIn = async (part: readonly Reader[]): Promise<SvcError | undefined> => {
    if (await checker.areValid(after, part)) return undefined;
    for (const reader of part) {
      const fault = await checker.faultIn(after, reader);
      if (fault !== undefined && (await checker.faultIn(before, reader)) === undefined)
        return refused(reader, fault, places.get(reader.of.kind, reader.of.name));
    }
    return undefined;
  };
  const readers = readersOf(after, retyped);
  const parts = Array.from({ length: Math.ceil(readers.length / TEXTS_PER_REQUEST) }, (_, n) =>
    readers.slice(n * TEXTS_PER_REQUEST, (n + 1) * TEXTS_PER_REQUEST),
  );
  const errors: (SvcError | undefined)[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < parts.length; n = next++) errors[n] = await errorIn(parts[n] as Reader[]);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, parts.length) }, work));
  const first = errors.find((error) => error !== undefined);
  if (first !== undefined) throw first;
}

type Within = <T>(make: () => T) => T;

/** Asks datasources whether readers are valid. */
class Checker {
  readonly #runtime: Runtime;
  readonly #caller: Caller;
  readonly #context: Omit<PlanContext, 'graph'>;
  readonly #within: Within;

  constructor(runtime: Runtime, caller: Caller, context: Omit<PlanContext, 'graph'>, within: Within) {
    this.#runtime = runtime;
    this.#caller = caller;
    this.#context = context;
    this.#within = within;
  }

  /** True if all of them are valid. It needs one request for each datasource. */
  async areValid(graph: Graph, readers: readonly Reader[]): Promise<boolean> {
    const plans = readers.flatMap((reader) => this.#planIn(graph, reader) ?? []);
    const asked = [...Map.groupBy(plans, ({ datasource }) => datasource).values()].map((of) => faultOf(() => this.#check(of)));
    return (await Promise.all(asked)).every((fault) => fault === undefined);
  }

  /** Why a reader is not valid; undefined if it is. */
  async faultIn(graph: Graph, reader: Reader): Promise<SvcError | undefined> {
    const plan = this.#planIn(graph, reader);
    return plan && faultOf(() => this.#check([plan]));
  }

  #planIn(graph: Graph, { sql }: Reader): Plan | undefined {
    return this.#within(() => planned({ ...this.#context, graph }, sql));
  }

  /** @throws SvcError 400 if one of the plans is not valid */
  async #check(plans: readonly Plan[]): Promise<void> {
    const { config } = this.#runtime;
    const texts = plans.map(({ sql, declared }) => this.#within(() => verified(this.#runtime, sql, declared)));
    const datasource = datasourceOf(this.#runtime, this.#caller, plans[0]?.datasource ?? '');
    await httpEngine.check(datasource, texts, { timeoutMs: config.statementTimeoutMs, ownText: true });
  }
}

async function faultOf(check: () => Promise<void>): Promise<SvcError | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof SvcError && error.status === 400) return error;
    throw error;
  }
}

function refused({ what, of }: Reader, fault: SvcError, offset: number | undefined): SvcError {
  return badRequest('type_mismatch', `the ${of.kind} ${quoted(of.name)} cannot be of type ${of.type}: ${what} is not valid with it: ${fault.message}`, {
    offset,
    hint: `Change what reads it in the same script, or keep the type ${of.was}`,
    cause: fault,
  });
}

const sqlType = (type: string): string => findType(type)?.sql ?? fold(type);

function retypedIn(before: Model, after: Model): readonly Retyped[] {
  const compared = (kind: Retyped['kind'], old: readonly { name: string; type: string }[], now: readonly { name: string; type: string }[]): Retyped[] => {
    if (old === now) return [];
    const known = byName(old);
    return now.flatMap(({ name, type }) => {
      const was = known.get(fold(name))?.type ?? type;
      return sqlType(was) === sqlType(type) ? [] : [{ kind, name, was, type }];
    });
  };
  return [...compared('property', before.properties, after.properties), ...compared('measure', before.measures, after.measures)];
}

/** What reads a retyped property or measure, also through calculated properties and measures. A text that only contains the name counts. */
function readersOf(graph: Graph, retyped: readonly Retyped[]): readonly Reader[] {
  const { properties, measures, views } = graph.model;
  const causes = new Map(retyped.map((r) => [fold(r.name), r]));
  const causeOf = (texts: readonly (string | null)[]): Retyped | undefined =>
    [...causes].find(([name]) => texts.some((text) => text !== null && mentions(text, name)))?.[1];
  const expressions = [
    ...properties.flatMap((p) => (p.expression === null ? [] : [{ name: p.name, texts: [p.expression] }])),
    ...measures.map((m) => ({ name: m.name, texts: [m.expression, m.filter] })),
  ];
  for (let size = 0; size < causes.size; ) {
    size = causes.size;
    for (const { name, texts } of expressions) {
      const cause = causes.has(fold(name)) ? undefined : causeOf(texts);
      if (cause !== undefined) causes.set(fold(name), cause);
    }
  }
  return [
    ...graph.concepts.flatMap((concept) => readersIn(concept, causes, causeOf)),
    ...views.flatMap((view): Reader[] => {
      const of = isRaw(view) ? undefined : causeOf([view.sql]);
      return of ? [{ what: `the ${view.cube ? 'cube' : 'view'} ${quoted(view.name)}`, sql: `SELECT * FROM vsvc.${quoteDouble(view.name)}`, of }] : [];
    }),
  ];
}

/** The values of a concept's properties and measures, and the condition of a logic concept. */
function readersIn(
  { name, def }: Concept,
  causes: ReadonlyMap<string, Retyped>,
  causeOf: (texts: readonly string[]) => Retyped | undefined,
): readonly Reader[] {
  if (!def) return [];
  const reader = (kind: string, listed: string, sql: string): Reader[] => {
    const of = causes.get(fold(listed));
    if (of === undefined) return [];
    const what = of.kind === kind && fold(of.name) === fold(listed) && kind === 'property' ? 'a mapping' : `the ${kind} ${quoted(listed)}`;
    return [{ what: `${what} of concept ${quoted(name)}`, sql: `SELECT ${sql} AS x FROM dsvc.${quoteDouble(name)}`, of }];
  };
  const condition = def.logic ? causeOf([def.logic.condition]) : undefined;
  return [
    ...[...def.properties, ...def.multi].flatMap((p) => reader('property', p, quoteDouble(p))),
    ...def.measures.flatMap((m) => reader('measure', m, `SUM(${quoteDouble(`measure.${m}`)})`)),
    ...(condition ? [{ what: `the condition of concept ${quoted(name)}`, sql: `SELECT count(*) AS x FROM svc.${quoteDouble(name)}`, of: condition }] : []),
  ];
}

/** Undefined if the SELECT cannot be planned: other checks of the script report that, or it needs several datasources. */
function planned(context: PlanContext, text: string): Plan | undefined {
  try {
    const plan = planSelect(context, { text, offset: 0 });
    return plan.params.length === 0 ? plan : undefined;
  } catch (error) {
    if (error instanceof SvcError && error.code !== 'too_complex') return undefined;
    throw error;
  }
}
