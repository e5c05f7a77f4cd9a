/**
 * Rows of the eight tables, shaped as in the TPC-H standard (clause 4.2.3): deterministic, and each table independent of the others, from a
 * scale factor. The numbers differ from those of the standard's own program.
 */
import { letters, Random, words } from './random.ts';
import { TABLES, type Table, type TableName } from './schema.ts';
import type { ScaleSizes } from './sizes.ts';
import { COLOURS, CONTAINER_1, CONTAINER_2, INSTRUCTIONS, MODES, NATIONS, PRIORITIES, REGIONS, SEGMENTS, TYPE_1, TYPE_2, TYPE_3 } from './words.ts';

const DAY = 86_400_000;
const START = Date.UTC(1992, 0, 1);
/** Dates as days since 1992-01-01. */
const DATES = Array.from({ length: 2557 + 122 + 31 }, (_, i) => new Date(START + i * DAY).toISOString().slice(0, 10));
/** The last day of an order: 151 days before 1998-12-31. */
const LAST_ORDER = (Date.UTC(1998, 11, 31) - START) / DAY - 151;
/** 1995-06-17, the standard's current date. */
const TODAY = (Date.UTC(1995, 5, 17) - START) / DAY;

const PIECE = 65_536;

/** Concatenates rows into pieces. */
function* pieces(rows: Iterable<string>): Generator<string> {
  let piece = '';
  for (const row of rows) {
    piece += `${row}\n`;
    if (piece.length >= PIECE) {
      yield piece;
      piece = '';
    }
  }
  if (piece) yield piece;
}

const money = (cents: number): string => {
  const whole = Math.trunc(Math.abs(cents) / 100);
  const rest = Math.abs(cents) % 100;
  return `${cents < 0 ? '-' : ''}${whole}.${rest < 10 ? '0' : ''}${rest}`;
};
const numbered = (name: string, n: number): string => `${name}#${String(n).padStart(9, '0')}`;
const phone = (random: Random, nation: number): string =>
  `${nation + 10}-${random.between(100, 999)}-${random.between(100, 999)}-${random.between(1000, 9999)}`;

/** Price of a part in cents. */
const price = (part: number): number => 90_000 + (Math.trunc(part / 10) % 20_001) + 100 * (part % 1000);

/** The four suppliers of a part. */
function suppliersOf(part: number, suppliers: number): number[] {
  const step = Math.trunc(suppliers / 4) + Math.trunc((part - 1) / suppliers);
  const found: number[] = [];
  for (let i = 0; i < 4; i++) {
    let supplier = ((part + i * step) % suppliers) + 1;
    // The standard's formula returns one supplier twice if there are few.
    while (found.includes(supplier)) supplier = (supplier % suppliers) + 1;
    found.push(supplier);
  }
  return found;
}

function* region(): Generator<string> {
  const random = new Random('region');
  for (const [key, name] of REGIONS.entries()) yield `${key}\t${name}\t${words(random, 31, 115)}`;
}

function* nation(): Generator<string> {
  const random = new Random('nation');
  for (const [key, [name, inRegion]] of NATIONS.entries()) yield `${key}\t${name}\t${inRegion}\t${words(random, 31, 114)}`;
}

function* supplier({ suppliers }: ScaleSizes): Generator<string> {
  const random = new Random('supplier');
  // Of 10,000 suppliers five have complaints and five recommendations; of few suppliers one each.
  const every = Math.min(2000, Math.max(2, Math.trunc(suppliers / 2)));
  const [bad, good] = [random.between(0, every - 1), random.between(0, every - 1)];
  for (let key = 1; key <= suppliers; key++) {
    const home = random.between(0, NATIONS.length - 1);
    let comment = words(random, 25, 100);
    const remark = key % every === bad ? 'Complaints' : key % every === (good === bad ? (good + 1) % every : good) ? 'Recommends' : undefined;
    if (remark) {
      const middle = words(random, 1, 6);
      comment = `${comment.slice(0, 100 - 18 - middle.length)}Customer${middle}${remark}`;
    }
    yield `${key}\t${numbered('Supplier', key)}\t${letters(random, 10, 40)}\t${home}\t${phone(random, home)}\t${money(random.between(-99_999, 999_999))}\t${comment}`;
  }
}

function* part({ parts }: ScaleSizes): Generator<string> {
  const random = new Random('part');
  for (let key = 1; key <= parts; key++) {
    const name = new Set<string>();
    while (name.size < 5) name.add(random.pick(COLOURS));
    const maker = random.between(1, 5);
    yield `${key}\t${[...name].join(' ')}\tManufacturer#${maker}\tBrand#${maker}${random.between(1, 5)}\t${random.pick(TYPE_1)} ${random.pick(TYPE_2)} ${random.pick(
      TYPE_3,
    )}\t${random.between(1, 50)}\t${random.pick(CONTAINER_1)} ${random.pick(CONTAINER_2)}\t${money(price(key))}\t${words(random, 5, 22)}`;
  }
}

function* partsupp({ parts, suppliers }: ScaleSizes): Generator<string> {
  const random = new Random('partsupp');
  for (let key = 1; key <= parts; key++) {
    for (const from of suppliersOf(key, suppliers)) {
      yield `${key}\t${from}\t${random.between(1, 9999)}\t${money(random.between(100, 100_000))}\t${words(random, 49, 198)}`;
    }
  }
}

function* customer({ customers }: ScaleSizes): Generator<string> {
  const random = new Random('customer');
  for (let key = 1; key <= customers; key++) {
    const home = random.between(0, NATIONS.length - 1);
    yield `${key}\t${numbered('Customer', key)}\t${letters(random, 10, 40)}\t${home}\t${phone(random, home)}\t${money(random.between(-99_999, 999_999))}\t${random.pick(
      SEGMENTS,
    )}\t${words(random, 29, 116)}`;
  }
}

interface Line {
  readonly row: string;
  readonly total: number;
  readonly open: boolean;
}

interface Order {
  readonly key: number;
  readonly date: number;
  readonly customer: number;
  readonly lines: readonly Line[];
}

/** Orders with their lines: both tables come from the same stream. Of each 32 keys the first eight are used. */
function* ordersWithLines({ orders, customers, parts, suppliers }: ScaleSizes): Generator<Order> {
  const random = new Random('orders');
  for (let i = 0; i < orders; i++) {
    const key = Math.trunc(i / 8) * 32 + (i % 8) + 1;
    // A third of the customers have no orders.
    let buyer = random.between(1, customers);
    while (buyer % 3 === 0) buyer = random.between(1, customers);
    const date = random.between(0, LAST_ORDER);
    const lines: Line[] = [];
    for (let n = random.between(1, 7), number = 1; number <= n; number++) {
      const item = random.between(1, parts);
      const from = suppliersOf(item, suppliers)[random.between(0, 3)];
      const quantity = random.between(1, 50);
      const extended = quantity * price(item);
      const discount = random.between(0, 10);
      const tax = random.between(0, 8);
      const shipped = date + random.between(1, 121);
      const committed = date + random.between(30, 90);
      const received = shipped + random.between(1, 30);
      const open = shipped > TODAY;
      const flag = received <= TODAY ? random.pick(['R', 'A']) : 'N';
      lines.push({
        row: `${key}\t${item}\t${from}\t${number}\t${quantity}.00\t${money(extended)}\t${money(discount)}\t${money(tax)}\t${flag}\t${open ? 'O' : 'F'}\t${
          DATES[shipped]
        }\t${DATES[committed]}\t${DATES[received]}\t${random.pick(INSTRUCTIONS)}\t${random.pick(MODES)}\t${words(random, 10, 43)}`,
        total: (extended * (100 + tax) * (100 - discount)) / 10_000,
        open,
      });
    }
    yield { key, date, customer: buyer, lines };
  }
}

function* orders(sizes: ScaleSizes): Generator<string> {
  const random = new Random('orders of their own');
  for (const { key, date, customer, lines } of ordersWithLines(sizes)) {
    const status = lines.every((l) => l.open) ? 'O' : lines.some((l) => l.open) ? 'P' : 'F';
    const total = Math.round(lines.reduce((sum, l) => sum + l.total, 0));
    yield `${key}\t${customer}\t${status}\t${money(total)}\t${DATES[date]}\t${random.pick(PRIORITIES)}\t${numbered('Clerk', random.between(1, sizes.clerks))}\t0\t${words(
      random,
      19,
      78,
    )}`;
  }
}

function* lineitem(sizes: ScaleSizes): Generator<string> {
  for (const { lines } of ordersWithLines(sizes)) for (const { row } of lines) yield row;
}

const ROWS: Readonly<Record<TableName, (sizes: ScaleSizes) => Iterable<string>>> = { region, nation, supplier, part, partsupp, customer, orders, lineitem };

/** The tables in an order in which they can be loaded. */
export const tables: readonly Table[] = (Object.keys(TABLES) as TableName[]).map((name) => ({
  name,
  ...TABLES[name],
  rows: (sizes) => pieces(ROWS[name](sizes)),
}));
