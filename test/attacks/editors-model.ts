/** The model that editors attack: people in separate tables, and policies that hide some of them. */

export const TABLES = [
  'CREATE SCHEMA crew',
  'CREATE TABLE crew.t_firm (id bigint PRIMARY KEY, name text, country text)',
  "INSERT INTO crew.t_firm VALUES (1, 'Acme', 'DE'), (2, 'Zeta', 'FR')",
  'CREATE TABLE crew.t_worker (id bigint PRIMARY KEY, fname text, salary numeric(12,2), grade bigint, firm bigint, boss bigint, ssn text)',
  `INSERT INTO crew.t_worker VALUES (101, 'Ada', 9000, 8, 1, NULL, 's-101'), (102, 'Bob', 7000, 7, 1, 101, 's-102'), (103, 'Cid', 5000, 6, 2, 102, 's-103'),
 (104, 'Dee', 4000, 3, 2, 103, 's-104'), (105, 'Eve', 3000, 2, 2, 104, 's-105'), (106, 'Fay', 2000, 1, 1, 105, 's-106')`,
  // the same keys as the workers, so that a join by key also finds these rows
  'CREATE TABLE crew.t_guest (id bigint PRIMARY KEY, name text)',
  "INSERT INTO crew.t_guest VALUES (101, 'Gus'), (104, 'Gil'), (106, 'Guy')",
  'CREATE TABLE crew.t_num AS SELECT n::bigint AS n FROM generate_series(0, 5) n',
  'CREATE TABLE crew.t_more AS SELECT n::bigint AS n FROM generate_series(6, 9) n',
  'CREATE TABLE crew.t_project (id bigint PRIMARY KEY, title text)',
  "INSERT INTO crew.t_project VALUES (1, 'Bridge'), (2, 'Tunnel')",
  'CREATE TABLE crew.t_assign (a bigint, b bigint, ssn text)',
  "INSERT INTO crew.t_assign VALUES (101, 1, 's-101'), (104, 1, 's-104'), (106, 2, 's-106')",
  'CREATE TABLE crew.t_phone (id bigint, firm bigint, phone text)',
  "INSERT INTO crew.t_phone VALUES (101, 1, 'p-101'), (104, 2, 'p-104'), (106, 1, 'p-106')",
];

/** The declaration of `worker`, in parts that an attack can recombine. */
export const WORKER = {
  properties: 'salary decimal(12,2), grade bigint, firm_id bigint, boss_id bigint, ssn string, low boolean, open boolean, mine boolean',
  worksIn: 'CONSTRAINT works_in FOREIGN KEY (firm_id) REFERENCES firm (firm_id) INVERSEOF staff',
  boss: 'CONSTRAINT boss FOREIGN KEY (boss_id) REFERENCES worker (being_id) INVERSEOF leads TRANSITIVE',
  assigned: 'CONSTRAINT assigned MULTIREFERENCE project INVERSEOF crew',
  phone: 'CONSTRAINT phone MULTIVALUE string',
};

/** `CREATE OR REPLACE CONCEPT worker` with other parts, more elements, or other parents. */
export function worker(parts: Partial<typeof WORKER> & { readonly more?: string; readonly inherits?: string } = {}): string {
  const { more, inherits = 'INHERITS (being)', ...pieces } = parts;
  const elements = [...Object.values({ ...WORKER, ...pieces }), ...(more === undefined ? [] : [more])].filter((e) => e !== '');
  return `CREATE OR REPLACE CONCEPT worker (${elements.join(', ')}) ${inherits}`;
}

const M_WORKER = 'SELECT id AS being_id, fname AS given, salary, salary AS pay, grade, firm AS firm_id, boss AS boss_id, ssn FROM crew.t_worker';

/** The mapping of workers; with a condition, or with another SELECT. */
export const workers = (where = '', sql = M_WORKER): string => `MAPPING m_worker INTO (worker) AS ${sql}${where === '' ? '' : ` WHERE ${where}`}`;

export const MODEL = `CREATE PROPERTY low boolean AS SELECT being_id < 104;
CREATE PROPERTY open boolean AS SELECT low AND being_id > 0;
CREATE PROPERTY mine boolean AS SELECT given = svc_claim('name');
CREATE CONCEPT firm (firm_id bigint, firm_name string, country string, PRIMARY KEY (firm_id), LABEL (firm_name));
CREATE CONCEPT corp INHERITS (firm);
CREATE CONCEPT being (being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given));
CREATE CONCEPT project (project_id bigint, title string, PRIMARY KEY (project_id));
${worker().replace('CREATE OR REPLACE', 'CREATE')};
CREATE CONCEPT guest INHERITS (being);
CREATE CONCEPT idle INHERITS (worker);
CREATE CONCEPT junior INHERITS (worker) FROM dsvc.worker WHERE grade < 5;
CREATE CONCEPT num (n bigint, PRIMARY KEY (n));
CREATE CONCEPT own (k bigint, PRIMARY KEY (k));
CREATE MAPPING m_firm INTO (firm) AS SELECT id AS firm_id, name AS firm_name, country FROM crew.t_firm;
CREATE ${workers()};
CREATE MAPPING m_guest INTO (guest) AS SELECT id AS being_id, name AS given FROM crew.t_guest;
CREATE MAPPING m_num INTO (num) AS SELECT n FROM crew.t_num;
CREATE MAPPING m_project INTO (project) AS SELECT id AS project_id, title FROM crew.t_project;
CREATE MAPPING m_assign (CONSTRAINT assigned FOREIGN KEY (b) REFERENCES project (project_id), CONSTRAINT crew FOREIGN KEY (a) REFERENCES worker (being_id)) AS SELECT a, b, ssn FROM crew.t_assign;
CREATE MAPPING m_phone INTO (worker) MULTIVALUE phone AS SELECT id AS being_id, firm AS firm_id, phone FROM crew.t_phone;
CREATE VIEW seniors AS SELECT being_id AS id FROM svc.worker WHERE grade >= 5`;

export const UNDER_104 = 'CREATE POLICY few ON CONCEPT being TO PUBLIC USING (being_id < 104)';
export const HIDE_JUNIORS = 'CREATE POLICY jun ON CONCEPT junior TO USER nobody USING (true)';
export const JUNIOR = 'CREATE OR REPLACE CONCEPT junior INHERITS (worker)';
export const on = (condition: string, concept = 'worker'): string => `CREATE POLICY few ON CONCEPT ${concept} TO PUBLIC USING (${condition})`;
export const mask = (property: string, how = 'NULL', concept = ''): string =>
  `CREATE POLICY veil ON PROPERTY ${property} ${concept && `OF CONCEPT ${concept} `}MASK ${how}`;
export const AS_BEING = `${WORKER.properties}, being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given)`;

/** [description, statements of an administrator, script, its writer if it is not kim] */
export type Attack = readonly [string, readonly string[], string, ('kim' | 'lee')?];
