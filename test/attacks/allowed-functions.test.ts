/** The setting `allowed_functions` on datasources that were attached after it was set, or got another database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
let other: LocalPostgres;
beforeAll(async () => {
  other = await borrowPostgres();
  s = await startService({ settings: { DATASOURCE_OTHER: other.secret(READER) } });
  const make = (volatility: string) => `CREATE FUNCTION public.nice(a text) RETURNS text ${volatility} LANGUAGE sql AS $$ SELECT a $$`;
  await s.database.exec(make('IMMUTABLE'));
  await other.exec(make('VOLATILE'));
  await other.exec('CREATE FUNCTION public.kind(a text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT a $$');
  await s.database.exec('CREATE FUNCTION public.kind(a text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT a $$');
  await s.rows(
    "CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'; CREATE ONTOLOGY shop; ALTER ONTOLOGY shop SET allowed_functions = 'public.nice'",
  );
});
afterAll(async () => {
  await s?.close();
  await other?.close();
});

describe('A function that PostgreSQL computes before the conditions of policies', () => {
  it.each([
    ['SETOF text IMMUTABLE', 'returns several rows'],
    ['TABLE (b text) STABLE', 'returns several rows'],
    ['text VOLATILE', 'is VOLATILE'],
  ])('is refused: RETURNS %s', async (returns, why) => {
    await s.database.exec('DROP FUNCTION IF EXISTS public.early(text)');
    await s.database.exec(`CREATE FUNCTION public.early(a text) RETURNS ${returns} LANGUAGE sql AS $$ SELECT a $$`);
    const { status, json } = await s.query("ALTER ONTOLOGY shop SET allowed_functions = 'public.nice,public.early'");
    expect([status, json.code, json.data]).toEqual([400, 'bad_value', `the function \`public.early\` ${why}`]);
  });
});

describe('A datasource that is attached later', () => {
  it('is refused if an allowed function is VOLATILE there', async () => {
    const { status, json } = await s.query('ALTER ONTOLOGY shop ADD DATASOURCE other');
    expect([status, json.code, json.data]).toEqual([400, 'bad_value', 'the function `public.nice` is VOLATILE']);
    expect((await s.query("ALTER ONTOLOGY shop SET allowed_functions = 'public.nice'; ALTER ONTOLOGY shop ADD DATASOURCE other")).status).toBe(400);
    expect((await s.query("SELECT public.nice('a') AS a", 'shop')).status).toBe(200);
  });

  it('is attached if it has the allowed functions in an allowed form, or does not have them', async () => {
    await s.rows("ALTER ONTOLOGY shop SET allowed_functions = 'public.kind'");
    await s.rows('ALTER ONTOLOGY shop ADD DATASOURCE other');
    expect((await s.query("ALTER ONTOLOGY shop SET allowed_functions = 'public.nice'")).json.code).toBe('bad_value');
  });
});

describe('A datasource that gets another database', () => {
  const replace = (secret: string) => s.query(`CREATE OR REPLACE DATASOURCE third TYPE postgres SECRET '${secret}'`);
  beforeAll(async () => {
    await s.rows(`CREATE DATASOURCE third TYPE postgres SECRET 'DATASOURCE_MAIN'; CREATE ONTOLOGY stall; ALTER ONTOLOGY stall ADD DATASOURCE third;
      ALTER ONTOLOGY stall SET allowed_functions = 'public.nice'`);
  });

  it('is refused if an allowed function is VOLATILE there, and stays as it is', async () => {
    const { status, json } = await replace('DATASOURCE_OTHER');
    expect([status, json.code, json.data]).toEqual([400, 'bad_value', 'the function `public.nice` is VOLATILE']);
    const [third] = await s.rows("CREATE DATASOURCE IF NOT EXISTS third TYPE postgres SECRET 'DATASOURCE_OTHER'");
    expect(third).toMatchObject({ secret: 'DATASOURCE_MAIN' });
    const later = "CREATE OR REPLACE DATASOURCE fourth TYPE postgres SECRET 'DATASOURCE_OTHER'; ALTER ONTOLOGY stall ADD DATASOURCE fourth";
    await s.rows("CREATE DATASOURCE fourth TYPE postgres SECRET 'DATASOURCE_MAIN'");
    expect((await s.query(later)).json.code).toBe('bad_value');
  });

  it('is accepted if they are not', async () => {
    expect((await replace('DATASOURCE_MAIN')).status).toBe(200);
    await s.rows("ALTER ONTOLOGY stall SET allowed_functions = 'public.kind'");
    expect((await replace('DATASOURCE_OTHER')).status).toBe(200);
  });
});
