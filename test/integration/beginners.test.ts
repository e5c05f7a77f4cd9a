/**
 * Mistakes of beginners and the errors that they get, as a text to read: beginners.md has each query, a mark below the place of the error, and the whole error. The file is
 * the list of queries too: add a query to it, and `npx vitest run --project integration test/integration/beginners.test.ts -u` writes the error. Read it before you commit it.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const FILE = new URL('./beginners.md', import.meta.url);

const TABLES = [
  'CREATE SCHEMA lib',
  'CREATE TABLE lib.t_reader (id int PRIMARY KEY, nm text, town text, born date, school text)',
  "INSERT INTO lib.t_reader VALUES (1, 'Ada', 'Ulm', '1990-01-01', NULL), (2, 'Bo', 'Bonn', NULL, NULL), (3, 'Cy', 'Ulm', '2012-05-06', 'north')",
  'CREATE TABLE lib.t_book (id int PRIMARY KEY, title text, published date, price numeric(10,2), pages int, genre text, room int)',
  "INSERT INTO lib.t_book VALUES (1, 'Waves', '2001-01-01', 10, 100, 'sea', 1), (2, 'Tides', '2002-02-02', 12, 0, 'sea', 2)",
  'CREATE TABLE lib.t_loan (id int PRIMARY KEY, reader int, book int, lent date, days int, fee numeric(10,2))',
  "INSERT INTO lib.t_loan VALUES (1, 1, 1, '2024-01-01', 3, 1.5), (2, 1, 2, '2024-01-02', 0, 2), (3, 2, 1, '2024-01-03', 9, 4)",
  'CREATE TABLE lib.t_review (book int, reader int, stars int, body text, PRIMARY KEY (book, reader))',
  "INSERT INTO lib.t_review VALUES (1, 1, 5, 'good'), (1, 2, 3, NULL)",
  'CREATE TABLE lib.t_author (id int PRIMARY KEY, nm text, country text)',
  "INSERT INTO lib.t_author VALUES (1, 'Eve', 'PT')",
  'CREATE TABLE lib.t_wrote (author int, book int, share int)',
  'INSERT INTO lib.t_wrote VALUES (1, 1, 100)',
  'CREATE TABLE lib.t_genre (code text PRIMARY KEY, title text, above text)',
  "INSERT INTO lib.t_genre VALUES ('sea', 'Sea', NULL)",
];

const MODEL = `CREATE ONTOLOGY library;
  CREATE PROPERTY price_per_page decimal AS SELECT price / pages;
  CREATE PROPERTY all_words bigint AS SELECT SUM("has_review[review].body");
  CREATE MEASURE loans bigint AS SELECT COUNT(loan_id);
  CREATE MEASURE fee_per_day decimal AS SELECT SUM(fee) / SUM(days);
  CREATE CONCEPT reader (reader_id bigint, name string, town string, born date, PRIMARY KEY (reader_id), LABEL (name));
  CREATE CONCEPT pupil (school string) INHERITS (reader);
  CREATE CONCEPT book (book_id bigint, title string, published date, price decimal(10,2), pages integer, price_per_page decimal, genre_code string, room integer, all_words bigint,
    PRIMARY KEY (book_id), CONSTRAINT keyword MULTIVALUE string, CONSTRAINT written_by MULTIREFERENCE author INVERSEOF wrote,
    CONSTRAINT of_genre FOREIGN KEY (genre_code) REFERENCES genre (code) INVERSEOF has_book, CONSTRAINT on_shelf FOREIGN KEY (room) REFERENCES shelf (shelf_code));
  CREATE CONCEPT shelf (shelf_code string, PRIMARY KEY (shelf_code));
  CREATE CONCEPT author (author_id bigint, name string, country string, PRIMARY KEY (author_id));
  CREATE CONCEPT genre (code string, title string, above string, PRIMARY KEY (code), CONSTRAINT below FOREIGN KEY (above) REFERENCES genre (code) INVERSEOF contains TRANSITIVE);
  CREATE CONCEPT loan (loan_id bigint, reader_id bigint, book_id bigint, lent_on date, days integer, fee decimal(10,2), loans MEASURE bigint, fee_per_day MEASURE decimal, PRIMARY KEY (loan_id),
    CONSTRAINT by_reader FOREIGN KEY (reader_id) REFERENCES reader (reader_id) INVERSEOF borrowed, CONSTRAINT of_book FOREIGN KEY (book_id) REFERENCES book (book_id) INVERSEOF lent_as);
  CREATE CONCEPT review (book_id bigint, reader_id bigint, stars integer, body string, PRIMARY KEY (book_id, reader_id),
    CONSTRAINT about FOREIGN KEY (book_id) REFERENCES book (book_id) INVERSEOF has_review, CONSTRAINT reviewer FOREIGN KEY (reader_id) REFERENCES reader (reader_id));
  CREATE MAPPING m_reader INTO (reader) AS SELECT id AS reader_id, nm AS name, town, born FROM lib.t_reader WHERE school IS NULL;
  CREATE MAPPING m_pupil INTO (pupil) AS SELECT id AS reader_id, nm AS name, town, born, school FROM lib.t_reader WHERE school IS NOT NULL;
  CREATE MAPPING m_book INTO (book) AS SELECT id AS book_id, title, published, price, pages, genre AS genre_code, room FROM lib.t_book;
  CREATE MAPPING m_shelf INTO (shelf) AS SELECT code AS shelf_code FROM lib.t_genre;
  CREATE MAPPING m_loan INTO (loan) AS SELECT id AS loan_id, reader AS reader_id, book AS book_id, lent AS lent_on, days, fee FROM lib.t_loan;
  CREATE MAPPING m_review INTO (review) AS SELECT book AS book_id, reader AS reader_id, stars, body FROM lib.t_review;
  CREATE MAPPING m_author INTO (author) AS SELECT id AS author_id, nm AS name, country FROM lib.t_author;
  CREATE MAPPING m_genre INTO (genre) AS SELECT code, title, above FROM lib.t_genre;
  CREATE MAPPING m_wrote (CONSTRAINT wrote FOREIGN KEY (book) REFERENCES book (book_id), CONSTRAINT written_by FOREIGN KEY (author) REFERENCES author (author_id)) AS SELECT author, book, share FROM lib.t_wrote;
  CREATE ONTOLOGY CUBE lending AS SELECT "by_reader[reader].town" AS town, lent_on AS day, "measure.loans" AS loans, "measure.fee_per_day" AS fee_per_day FROM dsvc.loan;
  CREATE ONTOLOGY CUBE busy AS SELECT "by_reader[reader].town" AS town, COUNT(*) AS lent FROM dsvc.loan;
  CREATE ONTOLOGY CUBE plain AS SELECT "by_reader[reader].town" AS town, "measure.loans" FROM dsvc.loan;
  CREATE ONTOLOGY VIEW locals AS SELECT reader_id, name FROM svc.reader WHERE town = 'Ulm'`;

/** A query of the file. */
interface Mistake {
  readonly query: string;
  /** True for the user who may query readers and loans only. */
  readonly asClerk: boolean;
}

let s: TestService;
let clerk: string;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
  clerk = await s.user('clerk', ...['reader', 'loan'].map((c) => `QUERY ON ontology.library.concept.${c}`), 'QUERY ON ontology.library.view.lending');
  await s.rows('CREATE POLICY no_fees ON PROPERTY fee MASK FULL EXCEPT USER admin', 'library');
});
afterAll(() => s?.close());

const BLOCK = /```text\n([\s\S]*?)\n```/g;
/** The query of a block: the lines before the mark or the error. */
const queryOf = (block: string): string => {
  const lines = block.split('\n');
  const end = lines.findIndex((line) => /^ *\^$|^\d{3} \w+: /.test(line));
  return lines.slice(0, end < 0 ? undefined : end).join('\n');
};

/** The block of a query: its text with a mark at the place of the error, and the error. */
async function blockOf({ query, asClerk }: Mistake): Promise<string> {
  const { status, json } = await s.query(query, 'library', asClerk ? clerk : undefined);
  const { position, code, data, hint } = json as { position?: number; code: string; data: unknown; hint?: string };
  expect([query, status < 400]).toEqual([query, false]);
  const mark = position === undefined ? [] : [`${' '.repeat(position - 1)}^`];
  return [query, ...mark, `${status} ${code}: ${String(data)}`, ...(hint === undefined ? [] : [`hint: ${hint}`])].join('\n');
}

describe('the mistakes of beginners', () => {
  it('get the errors of beginners.md', async () => {
    const text = await readFile(FILE, 'utf8');
    const clerkFrom = text.indexOf('## As the clerk');
    const blocks: string[] = [];
    for (const match of text.matchAll(BLOCK)) blocks.push(await blockOf({ query: queryOf(match[1] as string), asClerk: match.index > clerkFrom }));
    expect(blocks.length).toBeGreaterThanOrEqual(100);
    let next = 0;
    await expect(text.replace(BLOCK, () => `\`\`\`text\n${blocks[next++]}\n\`\`\``)).toMatchFileSnapshot(FILE.pathname);
  });
});
