/** Counts what an SQL endpoint does, in Prometheus' text form. */

/** Upper bounds of the histograms, in seconds. */
const BOUNDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30] as const;

/** The connections of one role at a moment. */
export interface PoolState {
  readonly role: string;
  readonly active: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** A histogram of seconds. */
class Histogram {
  readonly #counts = BOUNDS.map(() => 0);
  #sum = 0;
  #count = 0;

  add(seconds: number): void {
    this.#sum += seconds;
    this.#count++;
    BOUNDS.forEach((bound, i) => {
      if (seconds <= bound) this.#counts[i]!++;
    });
  }

  lines(name: string): string[] {
    const buckets = BOUNDS.map((bound, i) => `${name}_bucket{le="${bound}"} ${this.#counts[i]}`);
    return [...buckets, `${name}_bucket{le="+Inf"} ${this.#count}`, `${name}_sum ${this.#sum}`, `${name}_count ${this.#count}`];
  }
}

/** The counters of an endpoint since it started. */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #errors = new Map<string, number>();
  readonly #wait = new Histogram();
  readonly #duration = new Histogram();
  #statements = 0;
  #cancelled = 0;
  #unreachable = 0;

  /** A request has ended. @param status the HTTP status; undefined if its caller has disconnected */
  request(status: number | undefined, seconds: number): void {
    if (status === undefined) this.#cancelled++;
    else add(this.#requests, String(status));
    this.#duration.add(seconds);
  }

  /** A request has got a connection of the pool. */
  waited(seconds: number): void {
    this.#wait.add(seconds);
  }

  /** Statements were sent to PostgreSQL. */
  statements(count: number): void {
    this.#statements += count;
  }

  /** PostgreSQL has reported an error. */
  failed(sqlstate: string): void {
    add(this.#errors, /^[0-9A-Z]{5}$/.test(sqlstate) ? sqlstate : 'XXXXX');
  }

  /** No connection to the database could be opened, or one was lost. */
  unreachable(): void {
    this.#unreachable++;
  }

  /** All counters as text. */
  text(pools: readonly PoolState[]): string {
    const n = 'svc_gateway';
    const lines = [
      ...described(`${n}_requests_total`, 'counter', 'Requests by HTTP status', labelled(`${n}_requests_total`, 'status', this.#requests)),
      ...described(`${n}_cancelled_total`, 'counter', 'Requests whose caller has disconnected', [`${n}_cancelled_total ${this.#cancelled}`]),
      ...described(`${n}_statements_total`, 'counter', 'Statements sent to PostgreSQL', [`${n}_statements_total ${this.#statements}`]),
      ...described(`${n}_errors_total`, 'counter', 'Errors of PostgreSQL by SQLSTATE', labelled(`${n}_errors_total`, 'sqlstate', this.#errors)),
      ...described(`${n}_unreachable_total`, 'counter', 'Connections that could not be opened or were lost', [`${n}_unreachable_total ${this.#unreachable}`]),
      ...described(`${n}_wait_seconds`, 'histogram', 'Time until a request has a connection', this.#wait.lines(`${n}_wait_seconds`)),
      ...described(`${n}_request_seconds`, 'histogram', 'Time of a whole request', this.#duration.lines(`${n}_request_seconds`)),
      ...described(
        `${n}_connections`,
        'gauge',
        'Connections of each role by state',
        pools.flatMap((p) => connections(`${n}_connections`, p)),
      ),
      ...described(
        `${n}_waiting`,
        'gauge',
        'Requests that wait for a connection',
        pools.map((p) => `${n}_waiting{role="${escaped(p.role)}"} ${p.waiting}`),
      ),
    ];
    return `${lines.join('\n')}\n`;
  }
}

const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

const escaped = (text: string): string => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');

const labelled = (name: string, label: string, counts: ReadonlyMap<string, number>): string[] =>
  [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([value, count]) => `${name}{${label}="${escaped(value)}"} ${count}`);

const connections = (name: string, { role, active, idle }: PoolState): string[] => [
  `${name}{role="${escaped(role)}",state="active"} ${active}`,
  `${name}{role="${escaped(role)}",state="idle"} ${idle}`,
];

const described = (name: string, type: string, help: string, lines: readonly string[]): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...lines,
];
