/**
 * The second opinion's own reading of an ontology (docs/design/paths-and-cardinality.md#rows-of-a-concept, docs/design/paths-and-cardinality.md#paths): who
 * inherits what, which things a concept has, where a hop leads. Written from the text of these rules; it shares nothing with src/.
 */
import type { Expr, Hop, Kind, Leaf, Scalar } from './expr.ts';
import type { ConceptSpec, LinkEndSpec, MappingSpec, PropSpec, RelSpec, World } from './world.ts';

/** A thing: one row of one concept mapping. */
export interface Thing {
  readonly id: number;
  readonly mapping: MappingSpec;
  /** The target of the row's mapping (T of docs/design/paths-and-cardinality.md#entity-columns). */
  readonly type: string;
  readonly values: ReadonlyMap<string, Scalar>;
}

/** What a hop (or a multi-value property) found: the far thing, the link row, the level of a walk, the value. */
export interface Match {
  readonly id: string;
  readonly thing: Thing | null;
  readonly link: ReadonlyMap<string, Scalar> | null;
  readonly level: number | null;
  readonly value: Scalar;
}

export const NO_MATCH: Match = { id: '-', thing: null, link: null, level: null, value: null };

export interface RelDir {
  readonly def: RelSpec;
  readonly inv: boolean;
  readonly from: string;
  readonly target: string;
}

/** Decides whether a thing meets a logic concept's condition; given by evaluate.ts, which knows expressions. */
export type Meets = (thing: Thing, schema: 'svc' | 'esvc' | 'dsvc', concept: string, cond: Expr) => boolean;
/** The value of a calculated property. */
export type Calculate = (thing: Thing, concept: string, expr: Expr) => Scalar;

/** What a caller sees otherwise than it is: things that are hidden, and values in the places of masked ones. */
export interface Change {
  readonly hides: (thing: Thing) => boolean;
  readonly value: (thing: Thing, prop: string, value: Scalar) => Scalar;
  /** Whether a link is hidden by the rows to which it refers at one of its ends. */
  readonly hidesLink: (end: LinkEndSpec, link: ReadonlyMap<string, Scalar>) => boolean;
}

export class Onto {
  readonly world: World;
  private readonly change: Change | null;
  private readonly byName = new Map<string, ConceptSpec>();
  private readonly propByName = new Map<string, PropSpec>();
  private readonly things = new Map<string, Thing[]>();
  private readonly linkRows = new Map<string, Map<string, Scalar>[]>();
  private readonly rowsMemo = new Map<string, readonly Thing[]>();
  private readonly topDownMemo = new Map<string, readonly string[]>();
  private readonly relatedMemo = new Map<string, readonly Match[]>();
  private readonly partsMemo = new Map<string, readonly RelDir[]>();
  private readonly meets: Meets;
  private readonly calculate: Calculate;

  constructor(world: World, meets: Meets, calculate: Calculate, change: Change | null = null) {
    this.world = world;
    this.change = change;
    this.meets = meets;
    this.calculate = calculate;
    for (const c of world.concepts) this.byName.set(c.name, c);
    for (const p of world.props) this.propByName.set(p.name, p);
    let id = 0;
    for (const m of world.mappings) {
      const rows = this.physical(m);
      if (m.kind === 'concept')
        this.things.set(
          m.name,
          rows.map((values) => ({ id: id++, mapping: m, type: m.concept as string, values })).filter((thing) => !change?.hides(thing)),
        );
      else this.linkRows.set(m.name, rows);
    }
  }

  private physical(m: MappingSpec): Map<string, Scalar>[] {
    const table = this.world.tables.find((t) => t.name === m.table)!;
    const at = (column: string) => table.columns.findIndex((c) => c.name === column);
    const { where } = m;
    const rows = table.rows.filter((r) => {
      if (!where) return true;
      const value = r[at(where.column)];
      return where.operator === '=' ? value === where.value : value !== null && value !== where.value;
    });
    return rows.map((r) => new Map(m.columns.map((c) => [c.as, r[at(c.column)] as Scalar])));
  }

  concept(name: string): ConceptSpec {
    const c = this.byName.get(name);
    if (!c) throw new Error(`no concept ${name}`);
    return c;
  }

  prop(name: string): PropSpec {
    const p = this.propByName.get(name);
    if (!p) throw new Error(`no property ${name}`);
    return p;
  }

  parents(name: string): readonly string[] {
    return name === 'thing' ? [] : this.concept(name).parents;
  }

  /** All ancestors, top first, in INHERITS order, each once; `thing` left out. */
  topDown(name: string): readonly string[] {
    let out = this.topDownMemo.get(name);
    if (!out) {
      const seen = new Set<string>();
      for (const p of this.parents(name)) {
        for (const a of this.topDown(p)) seen.add(a);
        seen.add(p);
      }
      out = [...seen];
      this.topDownMemo.set(name, out);
    }
    return out;
  }

  isA(name: string, other: string): boolean {
    return other === 'thing' || name === other || this.topDown(name).includes(other);
  }

  descendants(name: string): readonly string[] {
    return this.world.concepts.filter((c) => c.name !== name && this.isA(c.name, name)).map((c) => c.name);
  }

  /** Single-valued properties in the order of SELECT *. */
  props(name: string): readonly string[] {
    if (name === 'thing') return [];
    return [...new Set([...this.topDown(name), name].flatMap((a) => this.concept(a).props))];
  }

  /** The properties that only descendants have, inherited from elsewhere too, in order of declaration. */
  derivedProps(name: string): readonly string[] {
    const own = new Set(this.props(name));
    const below = this.descendants(name);
    const declaring = this.world.concepts.filter((c) => below.some((d) => this.isA(d, c.name)));
    return [...new Set(declaring.flatMap((c) => c.props))].filter((p) => !own.has(p));
  }

  multi(name: string): readonly string[] {
    if (name === 'thing') return [];
    return [...new Set([...this.topDown(name), name].flatMap((a) => this.concept(a).multi))];
  }

  /** Own and inherited measures. */
  measures(name: string): readonly string[] {
    if (name === 'thing') return [];
    return [...new Set([...this.topDown(name), name].flatMap((a) => this.concept(a).measures ?? []))];
  }

  key(name: string): readonly string[] {
    if (name === 'thing') return [];
    const own = this.concept(name).key;
    if (own.length) return own;
    for (const p of this.parents(name)) {
      const k = this.key(p);
      if (k.length) return k;
    }
    return [];
  }

  /** The topmost ancestor of T that has that same key. */
  keyHolder(name: string): string {
    const k = this.key(name).join('\n');
    return [...this.topDown(name), name].find((a) => this.key(a).join('\n') === k)!;
  }

  label(name: string): readonly string[] {
    let level: readonly string[] = [name];
    while (level.length) {
      for (const c of level) if (c !== 'thing' && this.concept(c).label.length) return this.concept(c).label;
      level = level.flatMap((c) => this.parents(c));
    }
    return [];
  }

  /** Relationships in both directions that a concept has: its own and inherited ones. */
  relationships(name: string): readonly RelDir[] {
    const out: RelDir[] = [];
    for (const c of this.world.concepts)
      for (const def of c.rels) {
        if (this.isA(name, c.name)) out.push({ def, inv: false, from: c.name, target: def.target });
        if (this.isA(name, def.target)) out.push({ def, inv: true, from: def.target, target: c.name });
      }
    return out;
  }

  relDir(name: string, inv: boolean): RelDir {
    for (const c of this.world.concepts)
      for (const def of c.rels)
        if (def.name === name) return inv ? { def, inv, from: def.target, target: c.name } : { def, inv, from: c.name, target: def.target };
    throw new Error(`no relationship ${name}`);
  }

  isMapped(name: string): boolean {
    return this.world.mappings.some((m) => m.kind === 'concept' && m.concept === name);
  }

  /**
   * A to-one hop references the target's whole key, or is the inverse of a foreign key that is the source's whole key
   * (docs/design/paths-and-cardinality.md#cardinality).
   */
  isToOne(hop: Hop): boolean {
    const { def } = this.relDir(hop.rel, hop.inv);
    if (hop.star !== null || def.kind !== 'fk' || isComposed(def)) return false;
    const declarer = this.relDir(hop.rel, false).from;
    const same = (a: readonly string[], b: readonly string[]) => b.length > 0 && a.length === b.length && b.every((x) => a.includes(x));
    return hop.inv ? same(def.source, this.key(declarer)) : same(def.references, this.key(def.target));
  }

  /** Whether a hop is the inverse of a foreign key to the whole key of the concept where it starts, so that each row is found from one row at most. */
  isOfOne(hop: Hop): boolean {
    const { def, from } = this.relDir(hop.rel, hop.inv);
    const key = this.key(from);
    return hop.inv && hop.star === null && def.kind === 'fk' && !isComposed(def) && key.length > 0 && key.every((k) => def.references.includes(k));
  }

  /** The things of a concept, each once. */
  rows(name: string): readonly Thing[] {
    let out = this.rowsMemo.get(name);
    if (!out) {
      out = this.computeRows(name);
      this.rowsMemo.set(name, out);
    }
    return out;
  }

  private computeRows(name: string): readonly Thing[] {
    const own = (c: string) => this.world.mappings.filter((m) => m.kind === 'concept' && m.concept === c).flatMap((m) => this.things.get(m.name)!);
    if (name !== 'thing') {
      const { logic } = this.concept(name);
      if (logic) return this.rows(logic.concept).filter((t) => this.meets(t, logic.schema, logic.concept, logic.cond));
    }
    return this.sources(name).flatMap(own);
  }

  /** The concepts whose mappings give a concept (no logic concept) its rows: itself and its descendants, else the nearest mapped ancestors. */
  private sources(name: string): readonly string[] {
    const below = (name === 'thing' ? this.world.concepts.map((c) => c.name) : [name, ...this.descendants(name)]).filter((c) => this.isMapped(c));
    if (name === 'thing' || below.length) return below;
    const found = new Set<string>();
    const up = (c: string) => {
      for (const p of this.parents(c)) {
        if (p === 'thing') continue;
        if (this.isMapped(p)) found.add(p);
        else up(p);
      }
    };
    up(name);
    return [...found];
  }

  /** The concepts whose mappings give a concept its rows, or those of a logic concept from which its condition selects. */
  mappedFor(name: string): readonly string[] {
    const logic = name === 'thing' ? null : this.concept(name).logic;
    return logic ? this.mappedFor(logic.concept) : this.sources(name);
  }

  /** Whether a concept and all concepts of its rows have a key, by the model: it may show rows of an ancestor without a key. */
  isKeyed(name: string): boolean {
    return this.key(name).length > 0 && this.mappedFor(name).every((c) => this.key(c).length > 0);
  }

  /** Whether each mapping of a concept's rows has all columns of its key, or lacks one that a logic concept requires not to be NULL. */
  isKeyProvided(name: string): boolean {
    const sources = this.mappedFor(name);
    const mappings = this.world.mappings.filter((m) => m.kind === 'concept' && sources.includes(m.concept!));
    const required = new Set<string>();
    const require = (e: Expr): void => {
      if (e.k !== 'op') return;
      const [arg] = e.args;
      if (e.op === 'and') e.args.forEach(require);
      if (e.op === 'notnull' && arg?.k === 'col' && arg.path.length === 0 && arg.leaf.k === 'prop') required.add(arg.leaf.name);
    };
    for (let at = name; at !== 'thing'; ) {
      const { logic } = this.concept(at);
      if (!logic) break;
      require(logic.cond);
      at = logic.concept;
    }
    return mappings.every((m) => {
      const lacking = this.key(name).filter((k) => !m.columns.some((c) => c.as === k));
      return lacking.length === 0 || lacking.some((k) => required.has(k));
    });
  }

  /** Whether a measure has an aggregate whose value depends on how often a thing is counted, also in the measures that it reads. */
  countsDuplicates(name: string): boolean {
    const counts = (e: Expr): boolean => {
      if (e.k === 'mref') return this.countsDuplicates(e.name);
      if (e.k === 'op') return e.args.some(counts);
      if (e.k !== 'agg') return false;
      return e.arg?.k === 'mref' ? counts(e.arg) : !e.distinct && !['min', 'max', 'bool_or', 'bool_and'].includes(e.fn);
    };
    return counts(this.world.measures!.find((m) => m.name === name)!.expr);
  }

  has(name: string, prop: string): boolean {
    return this.props(name).includes(prop);
  }

  /** A property of a thing as it is read through a concept. */
  value(thing: Thing, through: string, prop: string): Scalar {
    const def = this.prop(prop);
    const shown = (value: Scalar): Scalar => (this.change ? this.change.value(thing, prop, value) : value);
    if (!def.expr) return this.has(thing.type, prop) ? shown(thing.values.get(prop) ?? null) : (thing.values.get(prop) ?? null);
    if (!this.has(thing.type, prop) && !(through !== 'thing' && this.has(through, prop))) return null;
    return shown(this.calculate(thing, through !== 'thing' && this.has(through, prop) ? through : thing.type, def.expr));
  }

  private keyText(thing: Thing): string | null {
    const key = this.key(thing.type);
    if (!key.length) return null;
    const parts = key.map((p) => text(this.value(thing, thing.type, p)));
    if (parts.some((p) => p === null)) return null;
    return parts.length === 1 ? parts[0]! : parts.map((p) => p!.replaceAll('%', '%25').replaceAll('|', '%7C')).join('|');
  }

  entity(thing: Thing, name: 'entity_id' | 'entity_type' | 'entity_label'): Scalar {
    if (name === 'entity_type') return thing.type;
    const key = this.keyText(thing);
    if (name === 'entity_id') return key === null ? null : `${this.keyHolder(thing.type)}:${key}`;
    const label = this.label(thing.type);
    if (!label.length) return key;
    const parts = label.map((p) => text(this.value(thing, thing.type, p))).filter((p) => p !== null);
    return parts.length ? parts.join(' ') : null;
  }

  /** The related rows of a hop: link rows without a target do not count; a walk returns each node once with its shortest length. */
  related(thing: Thing, hop: Hop): readonly Match[] {
    const key = `${thing.id} ${hop.rel} ${hop.inv} ${hop.bracket} ${hop.star}`;
    let out = this.relatedMemo.get(key);
    if (!out) {
      out = this.computeRelated(thing, hop);
      this.relatedMemo.set(key, out);
    }
    return out;
  }

  private computeRelated(thing: Thing, hop: Hop): readonly Match[] {
    const dir = this.relDir(hop.rel, hop.inv);
    // An ancestor in the bracket: the rows stay the declared target's; a descendant: its rows join.
    const ends = this.isA(dir.target, hop.bracket) ? this.rows(dir.target) : this.rows(hop.bracket);
    if (hop.star === null) return this.step(thing, dir, ends);
    const declared = dir.def.transitive;
    const depth = hop.star !== 'default' ? hop.star : typeof declared === 'number' ? declared : (this.world.defaultTransitivity ?? 3);
    const reached = new Map<number, Match>();
    const from = new Set(this.rows(dir.from).map((t) => t.id));
    let edge: Thing[] = [thing];
    for (let level = 1; level <= depth && edge.length; level++) {
      const next: Thing[] = [];
      for (const t of edge) {
        // The start has the relationship. A walk goes on only from things of the concept that declares it.
        if (level > 1 && !from.has(t.id)) continue;
        for (const m of this.step(t, dir, this.rows(dir.target))) {
          if (reached.has(m.thing!.id)) continue;
          reached.set(m.thing!.id, { id: `w${m.thing!.id}`, thing: m.thing, link: null, level, value: null });
          next.push(m.thing!);
        }
      }
      edge = next;
    }
    return [...reached.values()].filter((m) => ends.some((t) => t.id === m.thing!.id));
  }

  /** One step. A composed relationship leads to each thing whose key is in a pair with the key of `thing`, in any of its parts. */
  private step(thing: Thing, dir: RelDir, ends: readonly Thing[]): Match[] {
    if (!isComposed(dir.def)) return this.declared(thing, dir, ends);
    const key = this.keyIn(thing, dir.from);
    if (key === null) return [];
    const far = new Set<string | null>();
    for (const part of this.parts(dir)) {
      // a thing has the relationships of the concept that it is read through, so it and what it may lead to count where the concepts have the part
      const from = this.rows(part.from).filter((t) => this.keyIn(t, dir.from) === key);
      const starts = this.isA(dir.from, part.from) ? [thing, ...from] : from;
      const to = this.isA(dir.target, part.target) ? [...this.rows(part.target), ...ends] : this.rows(part.target);
      for (const t of starts) for (const m of this.declared(t, part, to)) far.add(this.keyIn(m.thing!, dir.target));
    }
    far.delete(null);
    return ends.flatMap((t) => (far.has(this.keyIn(t, dir.target)) ? [{ id: `t${t.id}`, thing: t, link: null, level: null, value: null }] : []));
  }

  /** The key of a thing by a concept's key; null if a part of it is NULL. */
  private keyIn(thing: Thing, concept: string): string | null {
    const parts = this.key(concept).map((p) => this.value(thing, concept, p));
    return parts.some((p) => p === null) ? null : JSON.stringify(parts);
  }

  /** The directions whose own declarations give the pairs of a direction: itself, the other one if it is symmetric, and those of what it includes. */
  private parts(dir: RelDir): readonly RelDir[] {
    const memo = `${dir.def.name} ${dir.inv}`;
    const known = this.partsMemo.get(memo);
    if (known) return known;
    const found = new Map<string, RelDir>([[memo, dir]]);
    for (const { def, inv } of found.values()) {
      const more = (def.includes ?? []).map((name) => this.directionNamed(name)).map((part) => (inv ? this.relDir(part.def.name, !part.inv) : part));
      if (def.symmetric) more.push(this.relDir(def.name, !inv));
      for (const part of more) found.set(`${part.def.name} ${part.inv}`, part);
    }
    const parts = [...found.values()];
    this.partsMemo.set(memo, parts);
    return parts;
  }

  private directionNamed(name: string): RelDir {
    for (const def of this.world.concepts.flatMap((c) => c.rels)) {
      if (def.name === name) return this.relDir(name, false);
      if ((def.inverse ?? `~${def.name}`) === name) return this.relDir(def.name, true);
    }
    throw new Error(`no relationship ${name}`);
  }

  /** The matches of a relationship's own declaration. */
  private declared(thing: Thing, dir: RelDir, ends: readonly Thing[]): Match[] {
    const out: Match[] = [];
    if (dir.def.kind === 'fk') {
      const [here, there] = dir.inv ? [dir.def.references, dir.def.source] : [dir.def.source, dir.def.references];
      const wanted = here.map((p) => this.value(thing, dir.from, p));
      if (wanted.some((v) => v === null)) return out;
      for (const t of ends)
        if (there.every((p, i) => this.value(t, dir.target, p) === wanted[i])) out.push({ id: `t${t.id}`, thing: t, link: null, level: null, value: null });
      return out;
    }
    for (const m of this.world.mappings) {
      if (m.kind !== 'link' || m.rel !== dir.def.name) continue;
      const [near, far] = dir.inv ? [m.far!, m.near!] : [m.near!, m.far!];
      const wanted = near.references.map((p) => this.value(thing, dir.from, p));
      if (wanted.some((v) => v === null)) continue;
      this.linkRows.get(m.name)!.forEach((link, i) => {
        if (!near.columns.every((c, k) => link.get(c) === wanted[k])) return;
        if (this.change?.hidesLink(near, link) || this.change?.hidesLink(far, link)) return;
        for (const t of ends)
          if (far.columns.every((c, k) => link.get(c) !== null && this.value(t, dir.target, far.references[k]!) === link.get(c)))
            out.push({ id: `${m.name}.${i}.${t.id}`, thing: t, link, level: null, value: null });
      });
    }
    return out;
  }

  /** The values of a multi-value property: those of mappings into a concept that the thing is one of, by its key. */
  values(thing: Thing, prop: string): readonly Match[] {
    const out: Match[] = [];
    for (const m of this.world.mappings) {
      if (m.kind !== 'multi' || m.property !== prop || !this.isA(thing.type, m.concept!)) continue;
      const key = this.key(m.concept!);
      this.linkRows.get(m.name)!.forEach((row, i) => {
        if (key.every((p) => row.get(p) !== null && this.value(thing, thing.type, p) === row.get(p)))
          out.push({ id: `${m.name}.${i}`, thing: null, link: null, level: null, value: row.get(prop) ?? null });
      });
    }
    return out;
  }

  /** The kind of a column. */
  kindOf(leaf: Leaf, linkKind: Kind = 'int'): Kind {
    if (leaf.k === 'prop' || leaf.k === 'multi') return this.prop(leaf.name).kind;
    if (leaf.k === 'level') return 'int';
    if (leaf.k === 'typeof') return 'bool';
    return leaf.k === 'link' ? linkKind : 'text';
  }
}

const isComposed = (def: RelSpec): boolean => def.symmetric === true || def.includes !== undefined;

/** A value as text, as PostgreSQL casts it (keys and labels are never booleans or decimals here). */
const text = (v: Scalar): string | null => (v === null ? null : String(v));
