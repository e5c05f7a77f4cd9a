/** A small model for tests of the planner, and functions to plan statements. */
import { graphOf } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { type Plan, type PlanContext, planSelect } from '../../../src/planner/index.ts';

const SCRIPT = `
CREATE PROPERTY nickname MULTIVALUE string;
CREATE CONCEPT town (town_id bigint, name string, PRIMARY KEY (town_id), LABEL (name));
CREATE CONCEPT party (party_id bigint, name string, town_id bigint, PRIMARY KEY (party_id), LABEL (name),
  CONSTRAINT located FOREIGN KEY (town_id) REFERENCES town (town_id) INVERSEOF houses,
  CONSTRAINT nickname MULTIVALUE string);
CREATE CONCEPT person (born date) INHERITS (party);
CREATE CONCEPT employee (boss_id bigint, firm_id bigint, salary decimal(10,2)) INHERITS (person);
CREATE CONCEPT firm (code uuid) INHERITS (party);
CREATE CONCEPT rich INHERITS (employee) FROM svc.employee WHERE salary > 1000;
CREATE OR REPLACE CONCEPT employee (boss_id bigint, firm_id bigint, salary decimal(10,2),
  CONSTRAINT reports_to FOREIGN KEY (boss_id) REFERENCES employee (party_id) INVERSEOF leads TRANSITIVE,
  CONSTRAINT works_for FOREIGN KEY (firm_id) REFERENCES firm (party_id) INVERSEOF employs,
  CONSTRAINT knows MULTIREFERENCE person INVERSEOF known_by TRANSITIVE(2),
  CONSTRAINT mentors MULTIREFERENCE employee) INHERITS (person);
CREATE CONCEPT pass (firm_id bigint, serial string, holder bigint, PRIMARY KEY (firm_id, serial),
  CONSTRAINT issued_by FOREIGN KEY (firm_id) REFERENCES firm (party_id),
  CONSTRAINT held_by FOREIGN KEY (holder) REFERENCES person (party_id) INVERSEOF holds);
CREATE CONCEPT badge (uid uuid, day date, PRIMARY KEY (uid));
CREATE CONCEPT note (text string);

CREATE MAPPING m_town INTO town AS SELECT id AS town_id, label AS name FROM raw.towns;
CREATE MAPPING m_guest INTO person AS SELECT id AS party_id, called AS name, town AS town_id, born FROM raw.guests;
CREATE MAPPING m_employee INTO employee AS SELECT id AS party_id, called AS name, town AS town_id, born, boss AS boss_id, firm AS firm_id, pay AS salary FROM raw.staff;
CREATE MAPPING m_firm INTO firm AS SELECT id AS party_id, called AS name, town AS town_id, code FROM raw.firms;
CREATE MAPPING m_knows (CONSTRAINT knows FOREIGN KEY (b) REFERENCES person (party_id), CONSTRAINT known_by FOREIGN KEY (a) REFERENCES employee (party_id))
  AS SELECT a, b, since FROM raw.acquaintances;
CREATE MAPPING m_mentors (CONSTRAINT mentors FOREIGN KEY (b) REFERENCES employee (party_id), CONSTRAINT \`~mentors\` FOREIGN KEY (a) REFERENCES employee (party_id))
  AS SELECT a, b FROM raw.mentoring;
CREATE MAPPING m_nick INTO party MULTIVALUE nickname AS SELECT id AS party_id, nick AS nickname FROM raw.nicknames;
CREATE MAPPING m_pass INTO pass AS SELECT firm AS firm_id, no AS serial, owner AS holder FROM raw.passes;
CREATE MAPPING m_badge INTO badge AS SELECT uid, day FROM raw.badges;
CREATE MAPPING m_note INTO note AS SELECT t AS text FROM raw.notes;
CREATE VIEW staff AS SELECT name, salary FROM svc.employee;
`;

const parser = await loadNodeParser();
export const graph = graphOf(SCRIPT, 'company', parser);
export const context: PlanContext = { graph, parser, product: 'svc', activeDatasource: 'main' };

export const plan = (sql: string): Plan => planSelect(context, { text: sql, offset: 0 });
export const sqlOf = (sql: string): string => plan(sql).sql;

/** The tables in the FROM clauses of a plan, in order, with repetitions. */
export const tables = (sql: string): string[] => [...sqlOf(sql).matchAll(/\braw\.(\w+)/g)].map((m) => m[1] as string);
/** The number of joins of a kind in a plan. */
export const joins = (sql: string): number => (sqlOf(sql).match(/\bJOIN\b/g) ?? []).length;

/** The error of a statement as `code: message`. «Marks» surround the expected position of the error; ` (elsewhere: n)` is added if the error has another one. */
export function faultOf(marked: string): string {
  const [head = '', inside, tail = ''] = marked.split(/[«»]/);
  try {
    plan(head + (inside ?? '') + tail);
  } catch (e) {
    if (!(e instanceof SvcError) || e.status !== 400) throw e;
    return `${e.code}: ${e.message}${inside === undefined || e.offset === head.length ? '' : ` (elsewhere: ${e.offset})`}`;
  }
  return 'no error';
}
