/** Names of tables and columns in mappings, which no message to a caller may contain. */
import { lex } from '../../language/lexer.ts';
import type { Graph } from '../../ontology/graph.ts';
import { isRaw } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';

/** Words of SQL and names of PostgreSQL's types, which also occur in its messages. */
const WORDS = new Set(
  `select from where as and or not null is in on using join left right full inner outer cross natural lateral group by having order limit offset fetch first next rows row only
   distinct all any some union intersect except with recursive case when then else end cast between like ilike similar exists true false asc desc nulls last over partition
   window filter within array values table interval date time timestamp timestamptz timetz zone text varchar char character varying integer int int2 int4 int8 bigint smallint
   numeric decimal real double precision float float4 float8 boolean bool json jsonb uuid bytea extract epoch year month day hour minute second coalesce nullif greatest least
   count sum avg min max lower upper trim substring position concat round abs length replace to_char`
    .split(/\s+/)
    .filter((w) => w !== ''),
);

/** Yields the names in the SQL of mappings and of views over tables that are neither names of the visible ontology nor words of SQL. A generator, so that it runs only after a fault. */
export function* physicalNames(graph: Graph): Iterable<string> {
  const { model, whole } = graph;
  const own = new Set<string>();
  for (const list of [model.properties, model.measures, model.concepts, model.mappings, model.views]) for (const { name } of list) own.add(fold(name));
  const sqls = [...whole.model.mappings.map((m) => m.sql), ...whole.model.views.filter(isRaw).map((v) => v.sql)];
  for (const sql of sqls) {
    const next = lex(sql);
    for (let token = next(); token !== null; token = next()) {
      if (token.kind !== 'word' && token.kind !== 'name') continue;
      const name = fold(token.value);
      if (!own.has(name) && !(token.kind === 'word' && WORDS.has(name))) yield token.value;
    }
  }
}
