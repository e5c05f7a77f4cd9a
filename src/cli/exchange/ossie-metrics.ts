/** The metrics of a core document as measures. */

import { significant, tokenize } from '../../language/lexer.ts';
import { sameName } from '../../ontology/names.ts';
import type { Draft } from './draft.ts';
import { dotted, fromDotted } from './expressions.ts';
import type { Datasets } from './ossie-datasets.ts';
import type { Documents } from './ossie-read.ts';
import type { Metric, MetricExtension } from './ossie-types.ts';
import { contextAsTags, extensionOf, ownType, sqlOf } from './ossie-values.ts';

/** A dataset that cannot be reached, or in several ways. */
class Unreachable extends Error {}

/** Adds a measure for each metric to the concept from which all its fields can be reached. */
export function importMetrics(documents: Documents, draft: Draft, datasets: Datasets): void {
  for (const metric of documents.model?.metrics ?? []) {
    const why = importMetric(metric, draft, datasets);
    if (why !== undefined) draft.losses.push(`metric ${metric.name}: ${why}`);
  }
}

/** @returns the reason why a metric cannot be a measure, or undefined if it was added */
function importMetric(metric: Metric, draft: Draft, datasets: Datasets): string | undefined {
  const text = sqlOf(metric.expression);
  if (text === undefined) return 'it has no expression in SQL';
  const sql = qualified(text, datasets);
  const used = [...new Set(namesIn(sql).flatMap((names) => (names.length > 1 ? (datasets.conceptOf(names[0] ?? '') ?? []) : [])))];
  const [first] = used;
  if (first === undefined) return 'its expression names no dataset';
  const extras = extensionOf<MetricExtension>(metric.custom_extensions) ?? {};
  const { expression, filter } =
    extras.filtered === false || (extras.filtered === undefined && extensionOf(metric.custom_extensions) !== undefined)
      ? { expression: sql, filter: null }
      : splitFilter(sql);
  const faults: string[] = [];
  for (const owner of used) {
    try {
      const convert = (text: string): string => fromDotted(text, (names) => resolved(names, owner, draft, datasets));
      const name = extras.measure ?? metric.name;
      const made = convert(expression);
      numeric(expression, draft, datasets);
      draft.measures.push({
        name,
        type: extras.type ?? (metric.datatype === undefined ? undefined : ownType(metric.datatype)) ?? typeOf(expression),
        description: metric.description ?? null,
        tags: { ...contextAsTags(metric.ai_context), ...extras.tags },
        expression: made,
        filter: filter === null ? null : convert(filter),
      });
      draft.concept(owner)?.measures.push(name);
      return undefined;
    } catch (e) {
      if (!(e instanceof Unreachable)) throw e;
      faults.push(e.message);
    }
  }
  return faults[0];
}

/**
 * The expression of a field over fields of other datasets: a calculated property over paths.
 * @returns the expression, or the reason why the field has no equivalent
 */
export function crossDataset(sql: string, owner: string, draft: Draft, datasets: Datasets): { readonly expression: string } | { readonly why: string } {
  try {
    const isAggregate = /\b(sum|count|avg|min|max|median|stddev\w*|var\w*|percentile_\w+|bool_\w+|every|\w+_agg)\s*\(/i.test(sql);
    return {
      expression: fromDotted(sql, (names) => {
        const concept = names.length > 1 ? datasets.conceptOf(names[0] ?? '') : undefined;
        if (concept !== undefined && !sameName(concept, owner) && !isAggregate && !isToOne(owner, concept, draft))
          throw new Unreachable(`it reads ${names.join('.')} of several rows without an aggregate`);
        return resolved(names, owner, draft, datasets);
      }),
    };
  } catch (e) {
    if (!(e instanceof Unreachable)) throw e;
    return { why: e.message };
  }
}

/** Whether the way between two concepts follows foreign keys only. */
function isToOne(from: string, to: string, draft: Draft): boolean {
  let at = from;
  for (const name of waysTo(from, to, draft)[0] ?? []) {
    const next = draft
      .lineage(at)
      .flatMap((c) => c.relationships)
      .find((r) => sameName(r.name, name) && r.kind === 'fk');
    if (next === undefined) return false;
    at = next.target;
  }
  return true;
}

/** An expression with the dataset before each name of a field that only one dataset has. */
function qualified(sql: string, datasets: Datasets): string {
  return fromDotted(sql, (names) => {
    const [name = '', ...rest] = names;
    const [only, ...more] = rest.length > 0 ? [] : datasets.all.filter((d) => d.fields?.some((f) => sameName(f.name, name)));
    return only === undefined || more.length > 0 ? undefined : dotted(only.name, name);
  });
}

/** The dotted names in an expression. */
export function namesIn(sql: string): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  fromDotted(sql, (names) => {
    found.push(names);
    return undefined;
  });
  return found;
}

/** A call with FILTER (WHERE ...) at its end as the call and the condition. */
function splitFilter(sql: string): { readonly expression: string; readonly filter: string | null } {
  const tokens = significant(tokenize(sql));
  const at = tokens.findIndex(
    (t, i) => /^filter$/i.test(t.value) && t.kind === 'word' && tokens[i + 1]?.value === '(' && /^where$/i.test(tokens[i + 2]?.value ?? ''),
  );
  if (at <= 0 || tokens.some((t, i) => i > at && /^filter$/i.test(t.value))) return { expression: sql, filter: null };
  let depth = 0;
  for (let i = at + 1; i < tokens.length; i++) {
    if (tokens[i]?.value === '(') depth++;
    if (tokens[i]?.value === ')' && --depth === 0) {
      const isLast = i === tokens.length - 1;
      return isLast
        ? { expression: sql.slice(0, tokens[at]?.start).trim(), filter: sql.slice(tokens[at + 2]?.end, tokens[i]?.start).trim() }
        : { expression: sql, filter: null };
    }
  }
  return { expression: sql, filter: null };
}

/** A name of a dataset as a property of the owner or a path. @throws Unreachable */
function resolved(names: readonly string[], owner: string, draft: Draft, datasets: Datasets): string | undefined {
  if (names.length === 1) return draft.path(owner, names);
  const concept = datasets.conceptOf(names[0] ?? '');
  const dataset = datasets.named(names[0] ?? '');
  if (concept === undefined) return undefined;
  const property = (dataset && datasets.propertyOfField(concept, dataset, names.at(-1) ?? '')) ?? names.at(-1) ?? '';
  if (sameName(concept, owner)) {
    const found = draft.path(owner, [...names.slice(1, -1), property]);
    if (found === undefined) throw new Unreachable(`${concept} has no field ${names.at(-1)}`);
    return found;
  }
  const ways = waysTo(owner, concept, draft);
  const [way, ...more] = ways;
  if (way === undefined) throw new Unreachable(`no relationship leads from ${owner} to ${concept}`);
  if (more.length > 0) throw new Unreachable(`several relationships lead from ${owner} to ${concept}: ${ways.map((w) => w.join('.')).join(', ')}`);
  const found = draft.path(owner, [...way, property]);
  if (found === undefined) throw new Unreachable(`${concept} has no field ${names.at(-1)}`);
  return found;
}

/** The shortest paths of relationships between two concepts. */
function waysTo(from: string, to: string, draft: Draft): readonly (readonly string[])[] {
  let ways: { readonly at: string; readonly names: readonly string[] }[] = [{ at: from, names: [] }];
  const seen = new Set([from]);
  for (let depth = 0; depth < 6; depth++) {
    const next = ways.flatMap(({ at, names }) => steps(at, draft).map((s) => ({ at: s.target, names: [...names, s.name] })));
    const found = next.filter((w) => sameName(w.at, to));
    if (found.length > 0) return found.map((w) => w.names);
    ways = next.filter((w) => !seen.has(w.at));
    for (const w of ways) seen.add(w.at);
  }
  return [];
}

const steps = (at: string, draft: Draft): readonly { readonly name: string; readonly target: string }[] => [
  ...draft.lineage(at).flatMap((c) => c.relationships.map((r) => ({ name: r.name, target: r.target }))),
  ...draft.concepts.flatMap((c) =>
    c.relationships.filter((r) => draft.lineage(at).some((a) => sameName(a.name, r.target))).map((r) => ({ name: r.inverse ?? `~${r.name}`, target: c.name })),
  ),
];

/** Fields without a type are numbers if a metric adds them. */
function numeric(sql: string, draft: Draft, datasets: Datasets): void {
  for (const [, name = '', field = ''] of sql.matchAll(/\b(?:sum|avg|median|stddev\w*|var\w*)\s*\(\s*"?(\w+)"?\s*\.\s*"?(\w+)"?\s*\)/gi)) {
    const [concept, dataset] = [datasets.conceptOf(name), datasets.named(name)];
    const property = concept !== undefined && dataset !== undefined ? datasets.propertyOfField(concept, dataset, field) : undefined;
    if (property !== undefined) draft.typed(property, 'decimal');
  }
}

/** The type of a measure, from its expression: metrics have no type. */
const typeOf = (sql: string): string => (/^\s*count\s*\(/i.test(sql) ? 'bigint' : /^\s*(min|max)\s*\(/i.test(sql) ? 'string' : 'decimal');
