/** The keywords that the console's editor colours and completes. */
import { describe, expect, it } from 'vitest';
import { keywordsAfter, languageOf, WORDS } from '../../../console/src/query/keywords.ts';

const proposed = (text: string): readonly string[] => keywordsAfter(text, text.length);

describe('the keywords of the editor', () => {
  it('begin every statement, also those about jobs and caches', () => {
    for (const text of ['', '-- a note\n', 'SELECT 1;\n', '/* a */ '])
      expect(proposed(text)).toEqual(expect.arrayContaining(['SELECT', 'CREATE', 'SHOW', 'RUN', 'CACHE', 'UNCACHE']));
    expect(proposed('SHOW ')).toEqual(expect.arrayContaining(['JOBS', 'CACHES', 'CONCEPTS', 'CREATE']));
    expect(proposed('SHOW ')).not.toContain('SELECT');
    for (const text of ['CREATE ', 'create or replace ', 'ALTER ', 'DROP ', 'RUN ']) expect(proposed(text), text).toContain('JOB');
    for (const text of ['CACHE ', 'UNCACHE ']) expect(proposed(text), text).toContain('MAPPING');
    expect(proposed('CREATE JOB j ')).toEqual(expect.arrayContaining(['SCHEDULE', 'TIMEZONE']));
    expect(proposed('ALTER JOB j ')).toEqual(expect.arrayContaining(['PAUSE', 'RESUME', 'SCHEDULE']));
  });

  it('are those of queries in a query', () => {
    for (const text of ['SELECT a ', 'with c as (', '(SELECT 1) ', 'EXPLAIN SELECT 1 ', 'SHOW JOBS; SELECT 1 ']) {
      expect(proposed(text), text).toContain('WHERE');
      expect(proposed(text), text).not.toContain('JOB');
    }
  });

  it('are no names of properties that PostgreSQL has words for', () => {
    const query = new Set(WORDS.query.split(' '));
    for (const name of ['name', 'id', 'label', 'type', 'user', 'value', 'year', 'domain', 'key', 'location', 'job', 'schedule'])
      expect(query.has(name), name).toBe(false);
    for (const word of ['job', 'schedule', 'timezone', 'cache', 'uncache', 'run', 'pause', 'grant', 'agent', 'role', 'datasource'])
      expect(WORDS.model.split(' '), word).toContain(word);
  });

  it('follow the first statement of a text', () => {
    expect(['', 'SEL', 'select 1', '-- x\nWITH a', '(SELECT 1)', 'explain select 1', 'TABLE a'].map(languageOf)).toEqual(Array(7).fill('query'));
    expect(['CREATE JOB j', 'show jobs', '/* SELECT */ CACHE MAPPING m', 'DROP JOB j; SELECT 1'].map(languageOf)).toEqual(Array(4).fill('model'));
  });
});
