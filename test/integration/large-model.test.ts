/** A large model of usual texts is one script: the budget of a script, which counts plans and questions to datasources, leaves room for it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { patience } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';

const [CONCEPTS, PROPERTIES] = [300, 30];
const list = (n: number, text: (i: number) => string, between = ', '): string => Array.from({ length: n }, (_, i) => text(i)).join(between);
const above = (i: number): string => `concept_${Math.floor(i / 2)}`;

let service: TestService;
beforeAll(async () => {
  const columns = list(PROPERTIES, (p) => `attribute_${p} text`);
  service = await startService({ tables: ['CREATE SCHEMA raw', `CREATE TABLE raw.t (id integer, parent_id integer, ${columns})`] });
});
afterAll(() => service?.close());

it('300 concepts of 30 properties with their relationships, mappings and views', { timeout: patience(120_000) }, async () => {
  const concepts = list(
    CONCEPTS,
    (i) => `CREATE CONCEPT concept_${i} (id integer, parent_id integer, ${list(PROPERTIES, (p) => `attribute_${p} string`)},
PRIMARY KEY (id), CONSTRAINT of_parent FOREIGN KEY (parent_id) REFERENCES ${above(i)} (id) INVERSEOF children_${i}) DESCRIPTION 'the concept with number ${i}';`,
    '\n',
  );
  const mappings = list(
    CONCEPTS,
    (i) => `CREATE MAPPING mapping_${i} INTO concept_${i} AS SELECT id, parent_id, ${list(PROPERTIES, (p) => `attribute_${p}`)} FROM raw.t;`,
    '\n',
  );
  const views = list(
    CONCEPTS,
    (i) => `CREATE VIEW view_${i} AS SELECT c.id, c.attribute_1 AS a, c.attribute_2 AS b, "of_parent[${above(i)}].attribute_3" AS parent_name
FROM dsvc.concept_${i} AS c WHERE c.attribute_4 = 'x' AND c.id > ${i};`,
    '\n',
  );
  expect(await service.query(`CREATE ONTOLOGY large;\n${concepts}\n${mappings}\n${views}`, 'large')).toMatchObject({ status: 200 });
});
