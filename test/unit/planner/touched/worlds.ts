/** Random models with everything that SQL can read, changes of them, and conditions of policies over them. */
import { SvcError } from '../../../../src/errors.ts';
import { EMPTY_MODEL, type Model } from '../../../../src/ontology/model.ts';
import type { Rng } from '../../../integration/differential/rng.ts';
import { run } from '../../ontology/script.ts';

interface Rel {
  readonly name: string;
  readonly target: string;
  /** The rest of the declaration. */
  readonly text: string;
}

interface Concept {
  readonly name: string;
  readonly parents: readonly string[];
  readonly properties: readonly string[];
  readonly measures: readonly string[];
  readonly isMulti: boolean;
  readonly key: string | null;
  readonly label: string | null;
  readonly rels: readonly Rel[];
  readonly logic: string | null;
}

interface Mapping {
  readonly name: string;
  /** The text after the name. */
  readonly text: string;
}

interface World {
  readonly concepts: readonly Concept[];
  readonly mappings: readonly Mapping[];
}

const q = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** Names that are no words in a text, that end in a letter with two lower-case forms, or that are a part of another name. */
const LONG = `${'long'.repeat(16)}`;
const NAMES = ['c0', 'c1', 'd-e', 'f', 'ΑΣ', 'g h', 'c00', LONG, `${LONG} 2`, 'type_of_f', '-e', '%', 'i"j'];
const PLAIN = ['id', 'a', 'b', 'aa', 'x y', 'id2', 'type_of_f', '1a', 'a 2'];
const FIRST = `CREATE PROPERTY calc0 bigint AS SELECT id + 1; CREATE PROPERTY calc1 bigint AS SELECT a + 1; CREATE PROPERTY many MULTIVALUE bigint;
CREATE MEASURE m0 bigint AS SELECT sum(id); CREATE MEASURE m1 bigint AS SELECT count(id) WHERE id > 1; CREATE CONCEPT k (id bigint, a bigint, PRIMARY KEY (id))`;
const RELS = ['r', 'to', 'c0', 'r-2', 'back0', 'back1'];

const conceptText = (c: Concept, verb: string): string => {
  const elements = [
    ...c.properties.map((p) => `${q(p)} ${p.startsWith('calc') ? 'bigint' : p === 'x y' ? 'string' : p === 'b' ? 'float' : 'bigint'}`),
    ...c.measures.map((m) => `${m} MEASURE bigint`),
    ...(c.isMulti ? ['CONSTRAINT many MULTIVALUE bigint'] : []),
    ...(c.key === null ? [] : [`PRIMARY KEY (${q(c.key)})`]),
    ...(c.label === null ? [] : [`LABEL (${q(c.label)})`]),
    ...c.rels.map((r) => `CONSTRAINT ${q(r.name)} ${r.text}`),
  ];
  const list = elements.length === 0 ? '' : ` (${elements.join(', ')})`;
  return `${verb} CONCEPT ${q(c.name)}${list}${c.parents.length === 0 ? '' : ` INHERITS (${c.parents.map(q).join(', ')})`}${c.logic === null ? '' : ` ${c.logic}`}`;
};

/** Makes worlds, their changes, and texts over them. */
export class Maker {
  readonly r: Rng;
  world: World = { concepts: [], mappings: [] };
  model: Model = EMPTY_MODEL;

  constructor(r: Rng) {
    this.r = r;
  }

  #lineage(name: string): readonly Concept[] {
    const c = this.world.concepts.find((o) => o.name === name);
    return c === undefined ? [] : [c, ...c.parents.flatMap((p) => this.#lineage(p))];
  }
  #properties(name: string): readonly string[] {
    return [...new Set(this.#lineage(name).flatMap((c) => c.properties))];
  }
  #integer(name: string): string {
    const all = this.#properties(name).filter((p) => p !== 'x y' && p !== 'b');
    return all.length === 0 ? 'id' : this.r.pick(all);
  }
  #concept(): string {
    return this.r.pick(this.world.concepts).name;
  }

  /** A condition over the columns of a concept. */
  condition(concept: string, depth = 0): string {
    const { r } = this;
    const column = (of: string, alias?: string): string => `${alias === undefined ? '' : `${alias}.`}${q(r.chance(5) ? r.pick(PLAIN) : this.#integer(of))}`;
    const path = (from: string): string => {
      const rels = this.world.concepts.flatMap((c) =>
        c.rels.flatMap((rel) => [
          { start: c.name, name: rel.name, end: rel.target },
          { start: rel.target, name: `~${rel.name}`, end: c.name },
        ]),
      );
      const own = rels.filter((rel) => this.#lineage(from).some((c) => c.name === rel.start));
      if (own.length === 0) return column(from);
      const { name, end } = r.pick(own);
      const kin = this.world.concepts.filter((c) => this.#lineage(c.name).some((o) => o.name === end) || this.#lineage(end).includes(c));
      const at = r.chance(60) || kin.length === 0 ? end : r.pick(kin).name;
      const tail = r.pick([
        `.${this.#integer(at)}`,
        `.${this.#integer(at)}`,
        '.entity_id',
        '_w',
        '_a',
        '.many',
        '.entity_label',
        '_type_of_f',
        '_1a',
        `.${r.pick(PLAIN)}`,
      ]);
      const first = `${name}[${at}${r.chance(25) ? r.pick(['*', '*2']) : ''}]`;
      const next = rels.filter((rel) => this.#lineage(at).some((c) => c.name === rel.start));
      if (next.length === 0 || r.chance(75)) return q(`${first}${tail}`);
      const second = r.pick(next);
      return q(`${first}.${second.name}[${second.end}].${this.#integer(second.end)}`);
    };
    const other = this.#concept();
    const schema = r.pick(['svc', 'dsvc', 'dsvc', 'esvc']);
    const simple = (): string =>
      r.pick([
        () => `${column(concept)} > ${r.int(0, 3)}`,
        () => `${path(concept)}::text <> 'a'`,
        () => `${path(concept)} IS NOT NULL`,
        () => 'many = 1',
        () => "entity_label <> 'x'",
        () => `${q(`_type_of_${this.#concept()}`)} IS NOT NULL`,
        () => 'calc0 > 1',
        () => 'calc1 > 1',
        () => `u&"i\\0064" > 1`,
        () => `ID > 1`,
      ])();
    if (depth > 0 || r.chance(35)) return simple();
    return r.pick([
      () => `EXISTS (SELECT 1 FROM ${schema}.${q(other)} t WHERE ${column(other, 't')} = ${column(concept)})`,
      () => `EXISTS (SELECT 1 FROM ${schema}.${q(other)} t WHERE ${this.condition(other, 1)})`,
      () => `(SELECT count(*) FROM (SELECT * FROM ${schema}.${q(other)}) t) > 1`,
      () => `EXISTS (SELECT 1 FROM ${schema}.${q(other)} t WHERE to_jsonb(t) IS NOT NULL)`,
      () => `EXISTS (SELECT 1 FROM vsvc.v${r.int(0, 2)} t)`,
      () => `EXISTS (SELECT 1 FROM vsvc.v${r.int(0, 2)} t WHERE id = ${column(concept)})`,
      () => `EXISTS (SELECT * FROM vsvc.v${r.int(0, 2)})`,
      () => `(SELECT sum("measure.m${r.int(0, 1)}") FROM dsvc.${q(other)}) > 1`,
      () => `(SELECT count(*) FROM svc.thing) > 3`,
      () => `EXISTS (SELECT 1 FROM dsvc.thing t WHERE ${column(other, 't')} > 1)`,
      () => `EXISTS (SELECT 1 FROM dsvc.${q(other)} t WHERE ${q(r.pick(PLAIN))} = t.id)`,
      () => `EXISTS (SELECT t.* FROM esvc.${q(other)} t WHERE t.b > 1 AND t."x y" = 'x')`,
      () => `b > 1 AND "x y" <> ''`,
      () => `${simple()} AND ${simple()}`,
    ])();
  }

  #rel(from: string): Rel {
    const { r } = this;
    const target = this.#concept();
    const others = this.world.concepts.flatMap((c) => c.rels.map((rel) => rel.name));
    const name = r.pick(RELS);
    const inverse = r.chance(30) ? ` INVERSEOF ${r.pick(['back0', 'back1', 'back0', 'r', 'to'])}` : '';
    const more = [
      ...(r.chance(from === target ? 50 : 5) ? ['TRANSITIVE'] : []),
      ...(r.chance(20) && target === from ? ['SYMMETRIC'] : []),
      ...(r.chance(20) && others.length > 0 ? [`INCLUDES (${q(r.pick(others))})`] : []),
    ].join(' ');
    if (r.chance(8)) return { name, target: 'thing', text: `FOREIGN KEY (${q(this.#integer(from))}) REFERENCES thing (${q(r.pick(['id', 'id2']))})` };
    const text = r.chance(60)
      ? `FOREIGN KEY (${q(this.#integer(from))}) REFERENCES ${q(target)} (${q(this.#integer(target))})${inverse} ${more}`
      : `MULTIREFERENCE ${q(target)}${inverse} ${more}`;
    return { name, target, text };
  }

  #logic(): string {
    const source = this.r.chance(10) ? 'thing' : this.#concept();
    return `FROM ${this.r.pick(['svc', 'dsvc'])}.${q(source)} WHERE ${this.condition(source)}`;
  }

  #mapping(): string {
    const { r } = this;
    const into = this.#concept();
    const rels = this.world.concepts.flatMap((c) => c.rels.filter((rel) => rel.text.startsWith('MULTI')).map((rel) => ({ from: c.name, rel })));
    if (r.chance(25) && rels.length > 0) {
      const { from, rel } = r.pick(rels);
      const back = /INVERSEOF (\w+)/.exec(rel.text)?.[1] ?? `~${rel.name}`;
      const end = (name: string, column: string, of: string): string =>
        `CONSTRAINT ${q(name)} FOREIGN KEY (${column}) REFERENCES ${q(of)} (${q(this.#integer(of))})`;
      return `(${end(rel.name, 'far', rel.target)}, ${end(back, 'near', from)}) AS SELECT near, far, w, 1 AS type_of_f, 2 AS "1a"${r.chance(50) ? ', a' : ''} FROM t.links`;
    }
    if (r.chance(15)) return `INTO ${q(into)} MULTIVALUE many AS SELECT id, many FROM t.many`;
    const columns = this.#properties(into).filter((p) => !p.startsWith('calc') && r.chance(80));
    return `INTO ${q(into)} AS SELECT ${columns.map((p) => `${q(p)} AS ${q(p)}`).join(', ') || 'id'} FROM t.t${r.int(0, 9)}${r.chance(20) ? ' WHERE id > 1' : ''}`;
  }

  #view(): string {
    const { r } = this;
    const of = this.#concept();
    return r.pick([
      () => `VIEW AS SELECT * FROM svc.${q(of)}`,
      () => 'VIEW AS SELECT count(*) AS id FROM svc.thing',
      () => `VIEW AS SELECT ${q(r.pick(PLAIN))} AS id FROM dsvc.thing`,
      () => `VIEW AS SELECT b, "x y" FROM dsvc.${q(of)}`,
      () => `VIEW AS SELECT sum("measure.m${r.int(0, 1)}") AS id FROM dsvc.${q(of)}`,
      () => `VIEW AS SELECT ${q(this.#integer(of))} AS id FROM dsvc.${q(of)} WHERE ${this.condition(of)}`,
      () => `VIEW AS SELECT count(*) AS id FROM vsvc.v${r.int(0, 2)}`,
      () => `VIEW AS SELECT * FROM vsvc.v${r.int(0, 2)}`,
    ])();
  }

  #expression(): string {
    return this.r.pick([
      () => `bigint AS SELECT ${q(this.r.pick(['id', 'a', 'aa']))} + 1`,
      () => 'bigint AS SELECT calc0 + 1',
      () => 'bigint AS SELECT "a 2" + "1a"',
      () => 'bigint AS SELECT length("x y")',
      () => {
        const rels = this.world.concepts.flatMap((c) => c.rels);
        if (rels.length === 0) return 'bigint AS SELECT id + 2';
        const rel = this.r.pick(rels);
        return `bigint AS SELECT ${q(`${rel.name}[${rel.target}].${this.#integer(rel.target)}`)}`;
      },
    ])();
  }

  #newConcept(name: string): Concept {
    const { r } = this;
    const others = this.world.concepts.map((c) => c.name);
    const parents = others.length > 0 && r.chance(60) ? r.some(others, r.chance(75) ? 1 : 2) : [];
    const properties = r.some([...PLAIN, 'calc0', 'calc1'], r.int(0, 4));
    const own = parents.length === 0 ? [...new Set(['id', ...properties])] : properties;
    const measures = r.chance(30) ? [r.pick(['m0', 'm1'])] : [];
    return {
      name,
      parents,
      properties: own,
      measures,
      isMulti: r.chance(25),
      key: parents.length === 0 ? 'id' : null,
      label: r.chance(20) && own.length > 0 ? r.pick(own) : null,
      rels: [],
      logic: null,
    };
  }

  /** Makes a new model: tries random additions, and keeps those that are valid. */
  create(): void {
    const { r } = this;
    this.attempt(() => FIRST);
    this.world = {
      ...this.world,
      concepts: [{ name: 'k', parents: [], properties: ['id', 'a'], measures: [], isMulti: false, key: 'id', label: null, rels: [], logic: null }],
    };
    for (const name of r.some(NAMES, r.int(4, NAMES.length))) {
      this.attempt(() => {
        const made = this.#newConcept(name);
        this.world = { ...this.world, concepts: [...this.world.concepts, made] };
        return conceptText(made, 'CREATE');
      });
    }
    const replace = (change: (c: Concept) => Concept): string => conceptText(this.#changeConcept(change), 'CREATE OR REPLACE');
    for (let i = r.int(6, 12); i > 0; i--) this.attempt(() => replace((c) => ({ ...c, rels: [...c.rels, this.#rel(c.name)] })));
    for (let i = r.int(4, 9); i > 0; i--) this.attempt(() => this.#named(`m_${i}`));
    for (let i = 0; i < 3; i++) this.attempt(() => replace((c) => ({ ...c, logic: this.#logic() })));
    for (const name of ['v0', 'v1', 'v2']) this.attempt(() => `CREATE ${this.#view().replace('VIEW', `VIEW ${name}`)}`);
    for (let i = r.int(0, 3); i > 0; i--) this.attempt(() => this.change());
  }

  #named(name: string): string {
    const text = this.#mapping();
    this.world = { ...this.world, mappings: [...this.world.mappings, { name, text }] };
    return `CREATE MAPPING ${name} ${text}`;
  }

  /** Applies statements, unless they are invalid. */
  attempt(make: () => string): string | undefined {
    const { world, model } = this;
    const text = make();
    try {
      this.model = this.#described(run(text, model).model);
      return text;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      this.world = world;
      return undefined;
    }
  }

  /** Gives the columns of new mappings types and collations, as a datasource would. */
  #described(model: Model): Model {
    const { r } = this;
    const described = (m: Model['mappings'][number]): Model['mappings'][number] => {
      if (m.columns.every((c) => c.type !== undefined)) return m;
      const columns = m.columns.map((c) => {
        const type = c.name === 'b' ? r.pick(['float4', 'float4', 'float8']) : c.name === 'x y' ? r.pick(['inet', 'text', 'text']) : 'int8';
        return { ...c, type, ...(type === 'text' && r.chance(30) ? { collation: '"C"' } : {}) };
      });
      return { ...m, columns };
    };
    return { ...model, mappings: model.mappings.map(described) };
  }

  #changeConcept(change: (c: Concept) => Concept): Concept {
    const old = this.r.pick(this.world.concepts);
    const now = change(old);
    this.world = { ...this.world, concepts: this.world.concepts.map((c) => (c === old ? now : c)) };
    return now;
  }

  /** A statement that changes the world, or several. */
  change(): string {
    const { r } = this;
    if (r.chance(30)) return this.#replacement();
    const replace = (change: (c: Concept) => Concept): string => conceptText(this.#changeConcept(change), 'CREATE OR REPLACE');
    const others = (c: Concept): string[] => this.world.concepts.map((o) => o.name).filter((name) => !this.#lineage(name).includes(c));
    return r.pick([
      () => replace((c) => ({ ...c, properties: [...new Set([...c.properties, r.pick([...PLAIN, 'calc0', 'calc1'])])] })),
      () => replace((c) => ({ ...c, properties: c.properties.filter((p) => p === c.key || r.chance(60)) })),
      () => replace((c) => ({ ...c, parents: r.chance(40) ? [] : r.some(others(c), r.int(1, 2)), logic: null, key: r.chance(50) ? 'id' : c.key })),
      () => replace((c) => ({ ...c, rels: [...c.rels, this.#rel(c.name)] })),
      () => replace((c) => ({ ...c, rels: c.rels.slice(1) })),
      () => replace((c) => ({ ...c, isMulti: !c.isMulti })),
      () => replace((c) => ({ ...c, label: c.label === null && c.properties.length > 0 ? r.pick(c.properties) : null })),
      () => replace((c) => ({ ...c, key: c.properties.length > 0 ? r.pick(c.properties) : null })),
      () => `CREATE OR REPLACE PROPERTY b ${r.pick(['float', 'double', 'bigint'])}`,
      () => `CREATE OR REPLACE PROPERTY "x y" ${r.pick(['string', 'bigint'])}`,
      () => `CREATE OR REPLACE PROPERTY many MULTIVALUE ${r.pick(['string', 'bigint'])}`,
      () => replace((c) => ({ ...c, logic: c.parents.length === 0 ? null : this.#logic() })),
      () => replace((c) => ({ ...c, measures: c.measures.length === 0 ? ['m0'] : [] })),
      () => conceptText(this.#newConcept(r.pick(['n0', 'a', 'r'])), 'CREATE'),
      () => `DROP CONCEPT ${q(this.#concept())}`,
      () => `CREATE OR REPLACE PROPERTY ${r.pick(['calc0', 'calc1'])} ${this.#expression()}`,
      () => `CREATE PROPERTY ${q(r.pick(['w', 'n1', ...PLAIN]))} bigint`,
      () => `CREATE OR REPLACE MEASURE ${r.pick(['m0', 'm1'])} bigint AS SELECT ${r.pick(['count(a)', 'sum(calc0)', 'm0 + 1'])}`,
      () => `CREATE OR REPLACE ${this.#view().replace('VIEW', `VIEW v${r.int(0, 3)}`)}`,
      () => `DROP VIEW v${r.int(0, 2)}`,
      () => `CREATE MAPPING m_new ${this.#mapping()}`,
      () => `CREATE OR REPLACE MAPPING m_${r.int(1, 7)} ${this.#mapping()}`,
      () => `DROP MAPPING m_${r.int(1, 7)}`,
      () => {
        if (this.world.mappings.length === 0) return 'DROP VIEW v0';
        const m = r.pick(this.world.mappings);
        return `DROP MAPPING ${m.name}; CREATE MAPPING ${m.name} ${m.text}`;
      },
      () => `ALTER CONCEPT ${q(this.#concept())} UPDATE TAG t = 'u'`,
      () => `ALTER ONTOLOGY zoo SET default_transitivity = '${r.int(2, 4)}'`,
    ])();
  }

  /** Statements that put something else in the place of an object, or the same again. */
  #replacement(): string {
    const { r } = this;
    const replace = (change: (c: Concept) => Concept): string => conceptText(this.#changeConcept(change), 'CREATE OR REPLACE');
    return r.pick([
      // the same columns of another table, or of fewer rows
      () => {
        if (this.world.mappings.length === 0) return 'DROP VIEW v1';
        const m = r.pick(this.world.mappings);
        return `CREATE OR REPLACE MAPPING ${m.name} ${r.chance(30) ? m.text.replace(/ AS SELECT /, ' USING archive AS SELECT ') : r.chance(50) ? m.text.replace(/FROM t[.]/, 'FROM u.') : `${m.text}${m.text.includes('WHERE') ? ' AND' : ' WHERE'} id > 2`}`;
      },
      // a column more, or one less
      () => {
        if (this.world.mappings.length === 0) return 'DROP VIEW v1';
        const m = r.pick(this.world.mappings);
        return `CREATE OR REPLACE MAPPING ${m.name} ${r.chance(50) ? m.text.replace(' AS SELECT ', ` AS SELECT ${q(r.pick(PLAIN))}, `) : m.text.replace(/"[^"]+" AS "[^"]+", /, '')}`;
      },
      // two mappings exchange their texts
      () => {
        const [one, other] = r.some(this.world.mappings, Math.min(2, this.world.mappings.length));
        if (one === undefined || other === undefined) return 'DROP VIEW v1';
        return `CREATE OR REPLACE MAPPING ${one.name} ${other.text}; CREATE OR REPLACE MAPPING ${other.name} ${one.text}`;
      },
      // a concept and its mappings, dropped and made again
      () => {
        const old = this.r.pick(this.world.concepts);
        const mapped = this.world.mappings.filter((m) => m.text.includes(`INTO ${q(old.name)} `));
        return [
          ...mapped.map((m) => `DROP MAPPING ${m.name}`),
          `DROP CONCEPT ${q(old.name)}`,
          conceptText(old, 'CREATE'),
          ...mapped.map((m) => `CREATE MAPPING ${m.name} ${m.text}`),
        ].join('; ');
      },
      () => `CREATE OR REPLACE PROPERTY ${q(r.pick(PLAIN))} ${r.chance(50) ? 'string' : this.#expression()}`,
      () => `CREATE OR REPLACE PROPERTY ${r.pick(['calc0', 'calc1'])} bigint`,
      () => `DROP PROPERTY ${q(r.pick([...PLAIN, 'calc0', 'calc1', 'many']))}`,
      () => `DROP MEASURE ${r.pick(['m0', 'm1'])}`,
      () => replace((c) => ({ ...c, rels: c.rels.map((rel) => (r.chance(50) ? { ...this.#rel(c.name), name: rel.name } : rel)) })),
      () =>
        replace((c) => ({
          ...c,
          rels: c.rels.map((rel) => ({
            ...rel,
            text: /INCLUDES/.test(rel.text) ? rel.text.replace(/INCLUDES [(][^)]*[)]/, '') : `${rel.text} INCLUDES (${q(r.pick(RELS))})`,
          })),
        })),
      () => replace((c) => ({ ...c, rels: [...c.rels].reverse(), properties: [...c.properties].reverse(), parents: [...c.parents].reverse() })),
      () =>
        `${replace((c) => ({ ...c, parents: [], key: 'id', logic: null }))}; ${replace((c) => ({ ...c, logic: c.parents.length === 0 ? null : this.#logic() }))}`,
    ])();
  }
}
