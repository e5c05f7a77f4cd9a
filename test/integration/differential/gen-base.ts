/** What the generators of worlds share: the world as far as it is made, and questions about it. */
import type { Kind, Scalar } from './expr.ts';
import type { Rng } from './rng.ts';
import type { ConceptSpec, MappingSpec, MeasureSpec, PropSpec } from './world.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };
export type Concept = Mutable<ConceptSpec>;

/** What a world may contain, with a switch for each feature. */
export interface WorldFeatures {
  readonly logic: boolean;
  readonly transitive: boolean;
  readonly mtm: boolean;
  /** Symmetric relationships, and those that include others. */
  readonly composed: boolean;
  readonly multi: boolean;
  readonly calculated: boolean;
  /** Calculated properties that follow paths. */
  readonly calculatedPaths: boolean;
  readonly measures: boolean;
  readonly views: boolean;
  readonly cubes: boolean;
}

export const ALL_FEATURES: WorldFeatures = {
  logic: true,
  transitive: true,
  mtm: true,
  composed: true,
  multi: true,
  calculated: true,
  calculatedPaths: true,
  measures: true,
  views: true,
  cubes: true,
};

const TEXTS = ['a', 'b', 'ab', 'B', 'x|y', '50%', 'é', "o'x", ''] as const;
const NUMS = [0, 0.25, 0.5, 1, 2.5, 10, -1.75] as const;
const DATES = ['2020-01-01', '2020-02-29', '2024-12-31'] as const;
export const TYPES: Readonly<Record<Kind, readonly string[]>> = {
  int: ['integer', 'bigint', 'smallint'],
  num: ['decimal(10,2)', 'double', 'decimal'],
  text: ['string'],
  bool: ['boolean'],
  date: ['date'],
};
const PHYSICAL: Readonly<Record<Kind, readonly string[]>> = {
  int: ['int2', 'int4', 'int8'],
  num: ['numeric', 'numeric(8,2)', 'float8'],
  text: ['text', 'varchar(20)', 'char(8)'],
  bool: ['bool'],
  date: ['date'],
};

/** A value of a kind, NULL now and then. */
export function genValue(r: Rng, kind: Kind, nulls = 15): Scalar {
  if (r.chance(nulls)) return null;
  switch (kind) {
    case 'int':
      return r.int(0, 5);
    case 'num':
      return r.pick(NUMS);
    case 'text':
      return r.pick(TEXTS);
    case 'bool':
      return r.chance(50);
    case 'date':
      return r.pick(DATES);
  }
}

export abstract class WorldBase {
  protected readonly r: Rng;
  protected readonly features: WorldFeatures;
  protected readonly concepts: Concept[] = [];
  protected readonly props = new Map<string, PropSpec>();
  protected readonly tables: { name: string; columns: { name: string; type: string }[]; rows: Scalar[][] }[] = [];
  protected readonly mappings: MappingSpec[] = [];
  protected readonly measures: MeasureSpec[] = [];
  protected readonly mapped = new Set<string>();
  /** Properties that are foreign keys, with what they refer to. */
  protected readonly foreign: { concept: string; source: readonly string[]; target: string; references: readonly string[] }[] = [];
  protected readonly families = new Map<string, string>();
  protected readonly keys = new Map<string, number>();
  protected names = 0;

  constructor(r: Rng, features: WorldFeatures) {
    this.r = r;
    this.features = features;
  }

  protected concept(name: string): Concept {
    return this.concepts.find((c) => c.name === name)!;
  }

  protected ancestors(name: string): string[] {
    return [...new Set(this.concept(name).parents.flatMap((p) => [...this.ancestors(p), p]))];
  }

  protected isA(name: string, other: string): boolean {
    return name === other || this.ancestors(name).includes(other);
  }

  protected all(c: Concept): PropSpec[] {
    return [...new Set([...this.ancestors(c.name), c.name].flatMap((a) => this.concept(a).props))].map((p) => this.props.get(p)!);
  }

  protected key(name: string): string[] {
    for (const c of [name, ...this.ancestors(name).reverse()]) if (this.concept(c).key.length) return this.concept(c).key;
    return [];
  }

  protected add(c: Concept, p: PropSpec): void {
    this.props.set(p.name, p);
    if (!c.props.includes(p.name)) c.props.push(p.name);
  }

  protected plain(name: string, kind: Kind, multi = false): PropSpec {
    return { name, type: this.r.pick(TYPES[kind]), kind, multi, expr: null };
  }

  protected physical(p: PropSpec): string {
    return this.r.pick(PHYSICAL[p.kind]);
  }
}
