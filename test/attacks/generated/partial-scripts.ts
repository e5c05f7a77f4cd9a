/** Random scripts of an editor with EDIT on the ontology of closed-values.ts and on some of its concepts. */
import fc from 'fast-check';
import { create, MADE, NAMES, PROPERTIES } from './closed-values.ts';

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
const label = fc.oneof(
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
        `CREATE OR REPLACE MEASURE tally bigint AS SELECT count(${x}) WHERE ${when}`,
        `CREATE OR REPLACE MEASURE sum_p decimal AS SELECT max(length(${x}::text))`,
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
        { weight: 2, arbitrary: view },
        { weight: 1, arbitrary: from(...NAMES.map((n) => `DROP CONCEPT ${n}`), 'DROP PROPERTY q', 'DROP MAPPING m_b', 'DROP VIEW va') },
      ),
      { minLength: 1, maxLength: 1 },
    )
    .map((list) => list.join(';\n'));
}
