/** Random scripts of an editor with EDIT on the ontology of closed-values.ts and on some of its concepts. */
import fc from 'fast-check';
import { create, MADE, NAMES, PROPERTIES, parentsOf } from './closed-values.ts';

const from = <T>(...of: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...of);
const property = from(...PROPERTIES);
const element = fc.oneof(
  { weight: 6, arbitrary: property.map((p) => `${p} ${['pa', 's'].includes(p) ? 'string' : 'bigint'}`) },
  from(
    'calc bigint',
    'k bigint',
    'sum_p MEASURE decimal',
    'sum_q MEASURE decimal',
    'tally MEASURE bigint',
    'CONSTRAINT nick MULTIVALUE string',
    'CONSTRAINT to_f FOREIGN KEY (fk) REFERENCES f (f_id) INVERSEOF of_b',
    'CONSTRAINT by_q FOREIGN KEY (q) REFERENCES f (f_id) INVERSEOF q_of',
    'CONSTRAINT by_p FOREIGN KEY (p) REFERENCES a (a_id) INVERSEOF p_of',
    'CONSTRAINT by_r FOREIGN KEY (r) REFERENCES a (a_id) INVERSEOF r_of TRANSITIVE',
    'CONSTRAINT by_id FOREIGN KEY (a_id) REFERENCES f (q) INVERSEOF id_of',
    'CONSTRAINT by_s FOREIGN KEY (r) REFERENCES n1 (k2) SYMMETRIC',
    'CONSTRAINT by_any FOREIGN KEY (a_id) REFERENCES a (a_id) INCLUDES (by_p, by_r) TRANSITIVE',
    'CONSTRAINT by_other FOREIGN KEY (k2) REFERENCES a (a_id) INCLUDES (by_q, to_f, by_p)',
    'CONSTRAINT by_root FOREIGN KEY (r) REFERENCES thing (a_id) INVERSEOF root_of',
    'CONSTRAINT by_root_p FOREIGN KEY (k2) REFERENCES thing (p) INCLUDES (by_p, by_r)',
    'walk bigint',
  ),
);
const key = (e: string) =>
  e
    .split(' ')
    .slice(0, 2)
    .join(' ')
    .replace(/ (bigint|string|MEASURE)$/, '');
const elements = fc.uniqueArray(element, {
  maxLength: 4,
  selector: key,
});
const condition = fc.oneof(
  from('a_id > 0', 'f_id > 0', 'calc > 3', 'nick IS NOT NULL', '"to_f[f].p" > 3', '"of_b[b].q" > 1', '"to_a[a].p" > 4'),
  fc.tuple(property, from(' IS NULL', " = '5'", ' > 3')).map(([p, test]) => p + test),
);
/** Expressions over paths, with the type of their values. */
const overPaths = fc.oneof(
  fc.tuple(from('to_f[f]', 'by_q[f]', 'by_id[f]', 'to_f[f].to_a[a]'), property).map(([hop, p]) => `"${hop}.${p}"`),
  fc
    .tuple(
      from('SUM', 'COUNT', 'MAX'),
      from('of_b[b]', 'p_of[n1]', 'r_of[a]', 'of_a[f]', 'to1[a]', 'to1[n1]', 'by_r[a*2]', 'by_any[a]', 'by_root[thing]', 'by_root_p[f]', 'root_of[n1]'),
      property,
    )
    .map(([f, hop, p]) => (f === 'COUNT' ? `COUNT("${hop}.${p}")` : `${f}(length("${hop}.${p}"::text))`)),
  from('length(entity_label)', 'length(entity_type) + calc', 'coalesce(calc, 0) + 1'),
);
const label = fc.oneof(
  from(', LABEL (calc)', ', LABEL (walk)'),
  { weight: 3, arbitrary: from('') },
  property.map((p) => `, LABEL (${p})`),
);

/** A script of one or two statements, mostly about what the editor may query (`granted`) and edit (`edited`: names of concepts). */
export function script(granted: readonly string[], edited: readonly string[]): fc.Arbitrary<string> {
  const known = [...granted.filter((g) => g.startsWith('concept.')).map((g) => g.replace('concept.', '')), ...MADE];
  const often = <T>(all: readonly T[], some: readonly T[]) =>
    fc.oneof({ weight: 8, arbitrary: from(...(some.length > 0 ? some : all)) }, { weight: 1, arbitrary: from(...all) });
  const parents = fc.uniqueArray(often([...NAMES, 'thing'], [...known, 'thing']), { minLength: 1, maxLength: 2 });
  const relation = fc.tuple(from('svc', 'dsvc', 'esvc', 'dsvc'), often([...NAMES, 'thing'], known)).map(([schema, name]) => `${schema}.${name}`);
  const made = fc
    .tuple(from(...MADE), elements, parents, relation, condition, fc.boolean(), label)
    .map(
      ([name, list, of, source, when, isLogic, l]) =>
        `CREATE OR REPLACE CONCEPT ${name} (${[...list, 'k2 bigint'].join(', ')}${l}) INHERITS (${of.join(', ')})${isLogic ? ` FROM ${source} WHERE ${when}` : ''}`,
    );
  const replaced = fc
    .tuple(often(NAMES, edited), elements, fc.option(parents, { nil: undefined }), label)
    .map(([name, list, others, l]) =>
      create(
        name,
        [...list.filter((e) => !create(name).includes(key(e))).map((e) => `, ${e}`), create(name).includes('LABEL') ? '' : l].join(''),
        others,
      ).replace('CREATE', 'CREATE OR REPLACE'),
    );
  const piece = fc
    .tuple(property, property, condition)
    .chain(([x, y, when]) =>
      from(
        `CREATE OR REPLACE PROPERTY calc bigint AS SELECT ${x}`,
        `CREATE OR REPLACE PROPERTY calc bigint AS SELECT length(${x}::text) + length(${y}::text)`,
        `CREATE OR REPLACE PROPERTY ${x} bigint AS SELECT ${y}`,
        `CREATE PROPERTY IF NOT EXISTS ${x} bigint AS SELECT ${y}`,
        `CREATE OR REPLACE MEASURE tally bigint AS SELECT count(${x}) WHERE ${when}`,
        `CREATE OR REPLACE MEASURE sum_p decimal AS SELECT max(length(${x}::text))`,
      ),
    );
  const path = fc
    .tuple(overPaths, overPaths)
    .chain(([x, y]) =>
      from(
        `CREATE OR REPLACE PROPERTY calc bigint AS SELECT ${x}`,
        `CREATE OR REPLACE PROPERTY walk bigint AS SELECT ${x}`,
        `CREATE OR REPLACE PROPERTY walk bigint AS SELECT coalesce(${x}, 0) + coalesce(${y}, 0)`,
      ),
    );
  const view = fc
    .tuple(relation, property, property, condition)
    .chain(([source, x, y, when]) =>
      from(
        `CREATE OR REPLACE VIEW w1 AS SELECT * FROM ${source}`,
        `CREATE OR REPLACE VIEW w1 AS SELECT ${x}, ${y} FROM ${source}`,
        `CREATE OR REPLACE VIEW w1 AS SELECT count(*) AS n, max(${x}) AS m FROM ${source} WHERE ${when}`,
        `CREATE OR REPLACE VIEW w1 AS SELECT * FROM vsvc.va`,
        `CREATE OR REPLACE VIEW w1 AS SELECT max(q) AS q FROM vsvc.vb`,
        `CREATE ONTOLOGY CUBE w1 AS SELECT ${x}, count(*) AS n FROM ${source} GROUP BY ${x}`,
        `CREATE OR REPLACE VIEW w1 AS SELECT a_id, q FROM partial.t_b`,
      ),
    );

  return fc
    .array(
      fc.oneof(
        { weight: 5, arbitrary: made },
        { weight: 3, arbitrary: replaced },
        { weight: 2, arbitrary: piece },
        { weight: 3, arbitrary: path },
        { weight: 2, arbitrary: view },
        { weight: 1, arbitrary: from(...NAMES.map((n) => `DROP CONCEPT ${n}`), 'DROP PROPERTY q', 'DROP MAPPING m_b', 'DROP VIEW va') },
      ),
      { minLength: 1, maxLength: 1 },
    )
    .map((list) => list.join(';\n'));
}

/**
 * Scripts of one editor that build on each other: new concepts, a logic concept and a view on them, then a change that gives these concepts rows of others,
 * and further ones.
 */
export function chain(granted: readonly string[], edited: readonly string[]): fc.Arbitrary<string[]> {
  const known = granted.filter((g) => g.startsWith('concept.')).map((g) => g.replace('concept.', ''));
  const own = from('n1', 'n2');
  const schema = from('svc', 'dsvc', 'dsvc', 'esvc');
  const tests = fc.oneof(
    fc.tuple(property, from(' IS NULL', " = '5'", ' > 3', ' = 5')).map(([p, test]) => p + test),
    fc.tuple(property, own).map(([p, n]) => `EXISTS (SELECT 1 FROM dsvc.${n} x WHERE x.${p}::text LIKE '5%' OR x.${p}::text = 'other')`),
    own.map((n) => `EXISTS (SELECT 1 FROM dsvc.${n} x WHERE to_jsonb(x)::text LIKE '%other%')`),
    fc.tuple(from('to1', 'to2'), from(...NAMES, 'n1', 'n2', 'thing'), property).map(([r, n, p]) => `"${r}[${n}].${p}" IS NOT NULL`),
    from('"to1[a].a_id" > 0', '"to1[f].f_id" > 0', '"to2[a].a_id" > 0', '"to2[f].f_id" > 0'),
  );
  const relationship = fc
    .tuple(
      from('to1', 'to2'),
      from('k2', 'k2', ...PROPERTIES),
      from(...NAMES, 'n1', 'n2', 'thing', 'thing'),
      from('a_id', 'f_id', 'k2', ...PROPERTIES),
      from('', ' TRANSITIVE', ' SYMMETRIC', ' INCLUDES (to1)', ' INCLUDES (by_p, to_f)', ' INCLUDES (by_p, by_r) TRANSITIVE'),
    )
    .map(([r, source, target, reference, more]) => `CONSTRAINT ${r} FOREIGN KEY (${source}) REFERENCES ${target} (${reference})${more}`);
  const parts = fc.oneof(
    elements,
    fc.tuple(elements, relationship).map(([list, r]) => [...list, r]),
  );
  const concept = (name: string, parents: readonly (readonly string[])[], logic: fc.Arbitrary<string> = fc.constant('')) =>
    fc
      .tuple(parts, from(...parents), logic, from('', '', ', PRIMARY KEY (k2)'))
      .map(
        ([list, of, tail, end]) =>
          `CREATE OR REPLACE CONCEPT ${name} (${[...list, 'k2 bigint'].join(', ')}${end})${of.length > 0 ? ` INHERITS (${of.join(', ')})` : ''}${tail}`,
      );
  const n1 = concept('n1', [[], [], known.slice(0, 1)]);
  const n2 = concept('n2', [['n1'], ['n1'], []]);
  const n3 = from('n1', 'n2', ...known).chain((source) =>
    concept(
      'n3',
      [[source], []],
      fc.tuple(schema, tests).map(([s, test]) => ` FROM ${s}.${source} WHERE ${test}`),
    ),
  );
  const view = fc.tuple(schema, from('n1', 'n2', 'n3'), property).map(([s, n, p]) => `CREATE OR REPLACE VIEW w1 AS SELECT *, ${p} AS more FROM ${s}.${n}`);
  const widened = fc
    .tuple(from(...(edited.length > 0 ? edited : NAMES)), from(['n1'], ['n2'], ['n1', 'n2'], ['n3'], [...known.slice(0, 1), 'n1']), fc.boolean(), elements)
    .map(([name, others, keeps, list]) => {
      const more = list.filter((e) => !create(name).includes(key(e))).map((e) => `, ${e}`);
      return create(name, more.join(''), keeps ? [...new Set([...parentsOf(name), ...others])] : others).replace('CREATE', 'CREATE OR REPLACE');
    });
  const any = fc.oneof(n1, n2, n3, widened, widened, script(granted, edited));
  return fc.tuple(n1, n2, n3, view, widened, fc.array(any, { minLength: 1, maxLength: 4 })).map(([a, b, c, d, e, more]) => [a, b, c, d, e, ...more]);
}
