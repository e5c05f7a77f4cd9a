/**
 * A model without its hidden parts, built independently of lens.ts: by rewriting the declarations, naively. It supports models in which
 * hidden ancestors of visible concepts take part in no relationship (`seenParts` ensures this), because a relationship that is inherited from one could not be declared again.
 */
import { expressionReferences } from '../../src/language/expressions.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { ConceptDef, MeasureDef, Model, RelationshipDef } from '../../src/ontology/model.ts';
import { checkModel } from '../../src/planner/check.ts';

export interface Parts {
  readonly concepts: ReadonlySet<string>;
  readonly views: ReadonlySet<string>;
}

const by = (model: Model) => new Map(model.concepts.map((c) => [c.name, c]));
const namesIn = (parser: SqlParser, text: string): string[] => expressionReferences(parser, { text, offset: 0 }).map((r) => r.name);

/** Ancestors, nearest first. */
function above(model: Model, c: ConceptDef): ConceptDef[] {
  const concepts = by(model);
  const found = new Set(c.parents.map((p) => concepts.get(p)!));
  for (const a of found) for (const p of a.parents) found.add(concepts.get(p)!);
  return [...found];
}

const below = (model: Model, c: ConceptDef): ConceptDef[] => model.concepts.filter((d) => above(model, d).includes(c));

/** All properties of a concept, including inherited ones. */
const all = (model: Model, c: ConceptDef): Set<string> => new Set([c, ...above(model, c)].flatMap((x) => [...x.properties, ...x.multi]));

/** The model as if only the parts had ever been declared. */
export function twinOf(model: Model, parts: Parts, parser: SqlParser): Model {
  const concepts = by(model);
  const seen = (name: string): boolean => parts.concepts.has(name);
  const between = (c: ConceptDef, done: string[] = []): string[] => {
    for (const p of c.parents)
      if (!seen(p) && !done.includes(p)) {
        between(concepts.get(p)!, done);
        if (!done.includes(p)) done.push(p);
      }
    return done;
  };
  const nearest = (c: ConceptDef): string[] => [...new Set(c.parents.flatMap((p) => (seen(p) ? [p] : nearest(concepts.get(p)!))))];
  const measured = (c: ConceptDef, m: MeasureDef): boolean => {
    const own = all(model, c);
    const family = below(model, c);
    return [m.expression, m.filter ?? '1']
      .flatMap((sql) => namesIn(parser, sql))
      .every((name) => {
        const inner = model.measures.find((o) => o.name === name);
        if (own.has(name)) return true;
        if (family.some((d) => all(model, d).has(name))) return family.some((d) => seen(d.name) && all(model, d).has(name));
        return inner === undefined || measured(c, inner);
      });
  };
  const made = model.concepts
    .filter((c) => seen(c.name))
    .map((c): ConceptDef => {
      const lineage = [...between(c).map((n) => concepts.get(n)!), c];
      const own = (of: (d: ConceptDef) => readonly string[]): string[] => [...new Set(lineage.flatMap(of))];
      const first = (of: (d: ConceptDef) => readonly string[]): readonly string[] => {
        const holder = [c, ...above(model, c)].find((d) => of(d).length > 0);
        return holder && (holder === c || !seen(holder.name)) ? of(holder) : [];
      };
      const parents = nearest(c).filter(
        (p) => c.parents.includes(p) || !nearest(c).some((o) => o !== p && above(model, concepts.get(o)!).includes(concepts.get(p)!)),
      );
      return {
        ...c,
        parents,
        properties: own((d) => d.properties),
        multi: own((d) => d.multi),
        measures: own((d) => d.measures).filter((n) => measured(c, model.measures.find((m) => m.name === n)!)),
        primaryKey: first((d) => d.primaryKey),
        label: first((d) => d.label),
        relationships: c.relationships.filter((r) => seen(r.target)).map((r) => withSeenIncludes(model, c, r, seen)),
      };
    });
  const twin = { ...model, concepts: made };
  withoutLostPaths(twin, parser);
  const readsLost = (c: ConceptDef, name: string): boolean => {
    const m = model.measures.find((o) => o.name === name);
    const [whole, left] = [all(model, concepts.get(c.name)!), all(twin, c)];
    const isOfHeirs = (n: string): boolean => below(model, concepts.get(c.name)!).some((d) => all(model, d).has(n));
    const isLost = (n: string): boolean => {
      if (whole.has(n)) return !left.has(n);
      return isOfHeirs(n) ? !below(twin, c).some((d) => all(twin, d).has(n)) : readsLost(c, n);
    };
    return m !== undefined && [m.expression, m.filter ?? '1'].flatMap((sql) => namesIn(parser, sql)).some(isLost);
  };
  for (const c of made) Object.assign(c, { measures: c.measures.filter((name) => !readsLost(c, name)) });
  const has = (of: (d: ConceptDef) => readonly string[]): Set<string> => new Set(made.flatMap(of));
  const [properties, measures] = [has((d) => [...d.properties, ...d.multi]), has((d) => d.measures)];
  return {
    ...model,
    concepts: made,
    properties: model.properties.filter((p) => properties.has(p.name)),
    measures: model.measures.filter((m) => measures.has(m.name)),
    mappings: model.mappings.filter((m) =>
      m.link ? seen(m.link.forward.concept) && seen(m.link.back.concept) && linked(made, m.link.forward.relationship) : seen(m.concept!),
    ),
    views: model.views.filter((v) => parts.views.has(v.name)),
  };
}

/**
 * The model in which visible relationships include only what the parts contain: a caller who sees the parts has no other pairs. The concepts and their rows remain.
 */
export function withSeenPairs(model: Model, { concepts }: Parts): Model {
  const seen = (name: string): boolean => concepts.has(name);
  const reduced = (c: ConceptDef): ConceptDef => ({ ...c, relationships: c.relationships.map((r) => withSeenIncludes(model, c, r, seen)) });
  return { ...model, concepts: model.concepts.map((c) => (seen(c.name) ? reduced(c) : c)) };
}

/** A declaration without the included relationships that have hidden ends. */
function withSeenIncludes(model: Model, c: ConceptDef, r: RelationshipDef, seen: (name: string) => boolean): RelationshipDef {
  const { includes, ...rest } = r;
  if (includes === undefined) return r;
  const isBelow = (name: string, end: string): boolean => name === end || above(model, by(model).get(name)!).some((a) => a.name === end);
  const kin = (from: string): boolean => isBelow(from, c.name) || isBelow(c.name, from);
  const left = includes.filter((name) =>
    model.concepts.some((d) =>
      d.relationships.some((o) => {
        const [from, to] = o.name === name ? [d.name, o.target] : (o.inverse ?? `~${o.name}`) === name ? [o.target, d.name] : [undefined, undefined];
        return from !== undefined && seen(from) && seen(to) && kin(from) && isBelow(to, r.target);
      }),
    ),
  );
  return left.length === 0 ? rest : { ...rest, includes: left };
}

/** Removes calculated properties with a path that leads nowhere, and those that read them, until all properties are valid. */
function withoutLostPaths(model: Model, parser: SqlParser): void {
  const concepts = by(model);
  const hop = /([^.[\]]+)\[([^\]*]+)(?:\*\d+)?\]\.?/g;
  const lineage = (c: ConceptDef): ConceptDef[] => [c, ...above(model, c)];
  const leads = (c: ConceptDef, name: string, to: string): boolean =>
    lineage(c).some(
      (a) =>
        a.relationships.some((r) => r.name === name && reaches(r.target, to)) ||
        model.concepts.some((d) => reaches(d.name, to) && d.relationships.some((r) => r.target === a.name && (r.inverse ?? `~${r.name}`) === name)),
    );
  const reaches = (target: string, to: string): boolean => concepts.has(to) && lineage(concepts.get(to)!).some((a) => a.name === target);
  const exists = (c: ConceptDef, path: string): boolean => {
    let at = c;
    for (const [, name = '', to = ''] of path.matchAll(hop)) {
      if (!leads(at, name, to)) return false;
      at = concepts.get(to)!;
    }
    const last = path.replace(hop, '');
    return last.startsWith('entity_') || [at, ...below(model, at)].some((d) => all(model, d).has(last));
  };
  const expressions = new Map(model.properties.flatMap((p) => (p.expression === null ? [] : [[p.name, namesIn(parser, p.expression)] as const])));
  for (let changed = true; changed; ) {
    changed = false;
    for (const c of model.concepts) {
      const own = all(model, c);
      const keeps = (name: string): boolean =>
        (expressions.get(name) ?? []).every((read) => (read.includes('[') ? exists(c, read) : !expressions.has(read) || own.has(read)));
      const properties = c.properties.filter(keeps);
      if (properties.length === c.properties.length) continue;
      changed = true;
      Object.assign(c, { properties, label: c.label.filter((name) => !c.properties.includes(name) || properties.includes(name)) });
    }
  }
}

const linked = (concepts: readonly ConceptDef[], name: string): boolean => concepts.some((c) => c.relationships.some((r) => r.name === name));

/** Parts, from randomly chosen concepts, with which the model can be declared: see above. */
export function seenParts(model: Model, chosen: ReadonlySet<string>, views: ReadonlySet<string>, parser: SqlParser): Parts | undefined {
  const concepts = new Set(chosen);
  for (let changed = true; changed; ) {
    changed = false;
    const add = (name: string): void => {
      if (!concepts.has(name)) changed = true;
      concepts.add(name);
    };
    for (const c of model.concepts.filter((d) => concepts.has(d.name))) {
      const hidden = above(model, c).filter((a) => !concepts.has(a.name));
      for (const h of hidden)
        if (
          h.relationships.some((r) => concepts.has(r.target)) ||
          model.concepts.some((d) => concepts.has(d.name) && d.relationships.some((r) => r.target === h.name))
        )
          add(h.name);
      if (c.logic && c.logic.concept !== 'thing') add(c.logic.concept);
      for (const name of all(model, c)) {
        const expression = model.properties.find((p) => p.name === name)?.expression;
        for (const read of expression ? namesIn(parser, expression) : []) {
          const owners = model.concepts.filter((d) => d.properties.includes(read) || d.multi.includes(read));
          if (owners.length > 0 && !owners.some((d) => [d, ...below(model, d)].some((x) => concepts.has(x.name)))) add(owners[0]!.name);
        }
      }
    }
  }
  let parts: Parts = { concepts, views: new Set() };
  const isValid = (made: Parts, kind: 'view' | 'logic' | 'measure', name: string): boolean => {
    try {
      checkModel(compile(twinOf(model, made, parser), 'world'), parser, [{ kind, name, offset: 0 }]);
      return true;
    } catch {
      return false;
    }
  };
  for (const c of model.concepts) if (concepts.has(c.name) && c.logic && !isValid(parts, 'logic', c.name)) return undefined;
  for (const v of model.views) {
    const more = { concepts, views: new Set([...parts.views, v.name]) };
    if (views.has(v.name) && isValid(more, 'view', v.name)) parts = more;
  }
  return parts;
}
