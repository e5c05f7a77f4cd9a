/**
 * The physical tables under the sample graph: schema `world`, with names as in a database, not as in the ontology.
 * Each column is described once, with its name, type and contents; load.ts makes DDL and INSERTs of it.
 */

/** A column: its SQL type with constraints, and its contents. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly constraint?: string;
  readonly comment: string;
}

export interface Table {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly Column[];
  /** Table constraints, run after the rows are in. */
  readonly constraints: readonly string[];
  /** Index definitions after `ON world.<table>`. */
  readonly indexes: readonly string[];
}

const required = 'NOT NULL';

/** In an order that satisfies the foreign keys. */
export const TABLES: readonly Table[] = [
  {
    name: 't_region',
    comment: 'Parts of the world, such as Europe',
    columns: [{ name: 'rgn', type: 'text', constraint: required, comment: 'English name' }],
    constraints: ['PRIMARY KEY (rgn)'],
    indexes: [],
  },
  {
    name: 't_subregion',
    comment: 'Parts of a region, such as Western Europe',
    columns: [
      { name: 'sub_rgn', type: 'text', constraint: required, comment: 'English name' },
      { name: 'rgn', type: 'text', constraint: required, comment: 'The region it is part of' },
    ],
    constraints: ['PRIMARY KEY (sub_rgn)', 'FOREIGN KEY (rgn) REFERENCES world.t_region'],
    indexes: ['(rgn)'],
  },
  {
    name: 't_country',
    comment: 'Countries and territories with an ISO 3166-1 code',
    columns: [
      { name: 'cc3', type: 'text', constraint: required, comment: 'ISO 3166-1 alpha-3 code' },
      { name: 'cc2', type: 'text', constraint: required, comment: 'ISO 3166-1 alpha-2 code' },
      { name: 'short_nm', type: 'text', constraint: required, comment: 'Common English name' },
      { name: 'long_nm', type: 'text', constraint: required, comment: 'Official English name' },
      { name: 'rgn', type: 'text', constraint: required, comment: 'Region' },
      { name: 'sub_rgn', type: 'text', comment: 'Subregion; none in the Antarctic' },
      { name: 'sq_km', type: 'double precision', comment: 'Area in square kilometres, where it is known' },
      { name: 'lat', type: 'double precision', constraint: required, comment: 'Latitude in degrees, north is positive' },
      { name: 'lng', type: 'double precision', constraint: required, comment: 'Longitude in degrees, east is positive' },
      { name: 'is_indep', type: 'boolean', comment: 'Independent state; NULL where that is disputed' },
      { name: 'is_un', type: 'boolean', constraint: required, comment: 'Member of the United Nations' },
      { name: 'no_coast', type: 'boolean', constraint: required, comment: 'Has no coast' },
      { name: 'flag_emoji', type: 'text', constraint: required, comment: 'Flag as an emoji' },
    ],
    constraints: ['PRIMARY KEY (cc3)', 'UNIQUE (cc2)', 'FOREIGN KEY (rgn) REFERENCES world.t_region', 'FOREIGN KEY (sub_rgn) REFERENCES world.t_subregion'],
    indexes: ['(rgn)', '(sub_rgn)', '(short_nm)'],
  },
  {
    name: 't_country_seat',
    comment: 'Seats of government: some countries have several, some none',
    columns: [
      { name: 'cc3', type: 'text', constraint: required, comment: 'Country' },
      { name: 'seat', type: 'text', constraint: required, comment: 'Name of the capital' },
    ],
    constraints: ['PRIMARY KEY (cc3, seat)', 'FOREIGN KEY (cc3) REFERENCES world.t_country'],
    indexes: [],
  },
  {
    name: 't_lang',
    comment: 'Languages',
    columns: [
      { name: 'iso3', type: 'text', constraint: required, comment: 'ISO 639-3 code' },
      { name: 'lang_nm', type: 'text', constraint: required, comment: 'English name' },
    ],
    constraints: ['PRIMARY KEY (iso3)'],
    indexes: ['(lang_nm)'],
  },
  {
    name: 't_country_lang',
    comment: 'Official languages of countries',
    columns: [
      { name: 'cc3', type: 'text', constraint: required, comment: 'Country' },
      { name: 'iso3', type: 'text', constraint: required, comment: 'Language' },
      { name: 'own_nm', type: 'text', comment: 'What the country is called in that language' },
    ],
    constraints: ['PRIMARY KEY (cc3, iso3)', 'FOREIGN KEY (cc3) REFERENCES world.t_country', 'FOREIGN KEY (iso3) REFERENCES world.t_lang'],
    indexes: ['(iso3)'],
  },
  {
    name: 't_curr',
    comment: 'Currencies',
    columns: [
      { name: 'curr', type: 'text', constraint: required, comment: 'ISO 4217 code, or a customary one' },
      { name: 'curr_nm', type: 'text', constraint: required, comment: 'English name' },
      { name: 'sign', type: 'text', comment: 'Symbol' },
    ],
    constraints: ['PRIMARY KEY (curr)'],
    indexes: [],
  },
  {
    name: 't_country_curr',
    comment: 'Currencies in use in countries',
    columns: [
      { name: 'cc3', type: 'text', constraint: required, comment: 'Country' },
      { name: 'curr', type: 'text', constraint: required, comment: 'Currency' },
    ],
    constraints: ['PRIMARY KEY (cc3, curr)', 'FOREIGN KEY (cc3) REFERENCES world.t_country', 'FOREIGN KEY (curr) REFERENCES world.t_curr'],
    indexes: ['(curr)'],
  },
  {
    name: 't_border',
    comment: 'Land borders, once in each direction',
    columns: [
      { name: 'cc3_from', type: 'text', constraint: required, comment: 'Country' },
      { name: 'cc3_to', type: 'text', constraint: required, comment: 'Its neighbour' },
    ],
    constraints: ['PRIMARY KEY (cc3_from, cc3_to)', 'FOREIGN KEY (cc3_from) REFERENCES world.t_country', 'FOREIGN KEY (cc3_to) REFERENCES world.t_country'],
    indexes: ['(cc3_to)'],
  },
  {
    name: 't_city',
    comment: 'Populated places, capitals included',
    columns: [
      { name: 'geo_id', type: 'bigint', constraint: required, comment: 'Number in the GeoNames gazetteer' },
      { name: 'city_nm', type: 'text', constraint: required, comment: 'Name' },
      { name: 'cc3', type: 'text', constraint: required, comment: 'Country' },
      { name: 'fcode', type: 'text', constraint: required, comment: 'GeoNames feature code; PPLC is a capital' },
      { name: 'adm1', type: 'text', comment: 'First-level administrative division' },
      { name: 'pop', type: 'bigint', comment: 'Inhabitants, where they are known' },
      { name: 'lat', type: 'double precision', constraint: required, comment: 'Latitude in degrees, north is positive' },
      { name: 'lng', type: 'double precision', constraint: required, comment: 'Longitude in degrees, east is positive' },
    ],
    constraints: ['PRIMARY KEY (geo_id)', 'FOREIGN KEY (cc3) REFERENCES world.t_country'],
    indexes: ['(cc3)', '(pop)', '(city_nm)', "(cc3) WHERE fcode = 'PPLC'"],
  },
];
