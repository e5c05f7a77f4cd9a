/** Random queries over the concepts of closed-values.ts, with and without QUERY of the reader. */
import fc from 'fast-check';
import { MADE, PROPERTIES, properties, READ } from './closed-values.ts';

const HOPS = [
  'to_f[f]',
  'of_b[b]',
  'to_a[a]',
  'of_a[f]',
  'to_a[b]',
  'to_a[d]',
  'to_a[g]',
  'of_b[a]',
  'of_b[d]',
  'to_f[f].to_a[a]',
  'of_a[f].of_b[b]',
  'of_a[f].of_b[a]',
  // of relationships that editors make
  'to1[a]',
  'to1[n1]',
  'to2[f]',
  'by_any[a]',
  'by_any[a*2]',
  'by_other[a]',
  'by_other[f]',
  'by_s[n1]',
  'p_of[n1]',
  'to1[thing]',
  'by_root[thing]',
  'by_root[b]',
  'root_of[n1]',
  'by_root_p[f]',
];
const value = fc.constantFrom('5', '3', "'other'", "'n1'", '0', '111', "'s31'", '2', '1');
const measure = fc.constantFrom('"measure.sum_p"', '"measure.sum_q"', '"to_a[a].measure.sum_p"', '"of_b[b].measure.sum_q"');

/** Concepts to read, mostly granted ones, and columns, mostly those that a granted concept has. */
function parts(granted: readonly string[]) {
  const names = granted.filter((g) => g.startsWith('concept.')).map((g) => g.replace('concept.', ''));
  const readable = fc.oneof({ weight: 12, arbitrary: fc.constantFrom('thing', ...names, ...names) }, { weight: 1, arbitrary: fc.constantFrom(...READ) });
  const from = fc.tuple(fc.constantFrom('svc', 'dsvc', 'dsvc', 'esvc'), readable).map(([schema, name]) => `${schema}.${name}`);
  const shown = names.flatMap((n) => (MADE.includes(n) ? [...PROPERTIES, 'calc'] : [...properties(n)]));
  const property = fc.oneof({ weight: 8, arbitrary: fc.constantFrom('pa', ...shown) }, { weight: 1, arbitrary: fc.constantFrom<string>(...PROPERTIES) });
  const hops = HOPS.filter((h) => [...h.matchAll(/\[(\w+)\]/g)].every(([, n]) => names.includes(n ?? '')));
  const column = fc.oneof(
    { weight: 7, arbitrary: property },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...(hops.length > 0 ? hops : HOPS)), property).map(([h, p]) => `"${h}.${p}"`) },
    { weight: 1, arbitrary: fc.constantFrom('nick', 'entity_label', 'entity_type', 'entity_id', 'calc', 'walk') },
  );
  return { from, column };
}

/** A SELECT for a reader with these grants. */
export const ask = (granted: readonly string[]): fc.Arbitrary<string> => {
  const { from, column } = parts(granted);
  return fc.tuple(from, column, column, value, measure, fc.nat(36)).map(([f, x, y, v, m, form]) => {
    switch (form) {
      case 0:
        return `SELECT * FROM ${f} ORDER BY entity_id, entity_type`;
      case 1:
        return `SELECT ${x} AS v, ${y} AS w FROM ${f} ORDER BY 1, 2`;
      case 2:
        return `SELECT entity_id FROM ${f} WHERE ${x} = ${v} ORDER BY 1`;
      case 3:
        return `SELECT entity_id, ${x} AS v FROM ${f} WHERE ${y} IS NULL ORDER BY 1, 2`;
      case 4:
        return `SELECT entity_id FROM ${f} ORDER BY ${x} DESC NULLS LAST, entity_id LIMIT 2`;
      case 5:
        return `SELECT entity_id FROM ${f} ORDER BY ${x}, entity_id LIMIT 3 OFFSET 1`;
      case 6:
        return `SELECT ${x} AS v, count(*) AS n FROM ${f} GROUP BY 1 ORDER BY 1`;
      case 7:
        return `SELECT max(${x}) AS v, min(${y}) AS w, count(${y}) AS n, count(DISTINCT ${x}) AS d FROM ${f}`;
      case 8:
        return `SELECT to_jsonb(x) AS j FROM ${f} x ORDER BY entity_id, entity_type LIMIT 4`;
      case 9:
        return `SELECT ${m} AS m FROM ${f}`;
      case 10:
        return `SELECT ${x} AS v, ${m} AS m FROM ${f} GROUP BY 1 ORDER BY 1`;
      case 11:
        return `SELECT count(*) AS n FROM ${f} x WHERE EXISTS (SELECT 1 FROM ${f} y WHERE y.${x} = x.${y})`;
      case 12:
        return `SELECT x.entity_id FROM ${f} x JOIN dsvc.thing y ON y.${x} = x.${x} AND y.entity_id < x.entity_id ORDER BY 1`;
      case 13:
        return `SELECT * FROM (SELECT ${x} AS v FROM ${f} UNION SELECT ${y} FROM ${f}) u ORDER BY 1`;
      case 14:
        return `SELECT entity_id FROM ${f} WHERE ${x} IN (SELECT ${x} FROM dsvc.a) ORDER BY 1`;
      case 15:
        return `SELECT entity_id, rank() OVER (ORDER BY ${x}) AS k FROM ${f} ORDER BY 1, 2`;
      case 16:
        return `WITH c AS (SELECT * FROM ${f}) SELECT count(${x}) AS n, max(${y}) AS v FROM c`;
      case 17:
        return `SELECT entity_id FROM ${f} WHERE (${x}, ${y}) > (${v}, ${v}) ORDER BY 1`;
      case 18:
        return `SELECT coalesce(${x}::text, 'none') AS v FROM ${f} ORDER BY entity_id, entity_type`;
      case 19:
        return `SELECT count(*) AS n FROM ${f} WHERE ${x} BETWEEN 1 AND 50 OR ${y} IN (${v}, ${v})`;
      case 20:
        return `SELECT count(*) AS n FROM ${f} HAVING max(${x}) > ${v}`;
      case 21:
        return `SELECT * FROM vsvc.va ORDER BY 1, 2`;
      case 22:
        return `SELECT count(*) AS n, max(q) AS q FROM vsvc.vb`;
      case 23:
        return `SELECT x.entity_id FROM ${f} x LEFT JOIN esvc.b y USING (p) WHERE y.q > 2 ORDER BY 1`;
      case 24:
        return `SELECT x FROM ${f} x ORDER BY entity_id, entity_type LIMIT 3`;
      case 25:
        return `SELECT entity_id, "to_a[a].*" FROM dsvc.f ORDER BY 1`;
      case 26:
        return `SELECT DISTINCT ON (${x}) entity_id FROM ${f} ORDER BY ${x}, entity_id`;
      case 27:
        return `SELECT entity_id FROM ${f} WHERE 10 / (length(${x}::text) - 5) > -99 ORDER BY 1`;
      case 28:
        return `SELECT entity_id, 10 / (length(${x}::text) - 1) AS v FROM ${f} ORDER BY 1, 2`;
      case 29:
        return `SELECT count(*) FILTER (WHERE 10 / (length(${x}::text) - 2) > 0) AS n, max(10 / (length(${y}::text) - 5)) AS m FROM ${f}`;
      case 30:
        return `SELECT x.entity_id FROM ${f} x JOIN dsvc.thing y ON y.entity_id = x.entity_id AND 10 / (length(x.${x}::text) - 1) > -99 ORDER BY 1`;
      case 31:
        return `SELECT entity_id FROM ${f} WHERE ${x} = ${v} AND 10 / (length(${y}::text) - 5) > -99 ORDER BY 1`;
      case 32:
        return `SELECT entity_id, l.k FROM ${f} c, LATERAL generate_series(1, 10 / (length(c.${x}::text) - 1)) l (k) ORDER BY 1, 2`;
      case 33:
        return `SELECT entity_id FROM ${f} ORDER BY 10 / (length(${x}::text) - 5), entity_id FETCH FIRST 2 ROWS WITH TIES`;
      default:
        return `SELECT entity_id FROM ${f} WHERE NOT (${x} <> ${v}) ORDER BY 1`;
    }
  });
};
