/** What tests of cached mappings, cubes and views ask of a service and of its databases. The ontology is `shop`, the schema of the tables `cached`. */
import { expect } from 'vitest';
import { sweepCaches } from '../../../src/service/write/refresh-cache.ts';
import type { TestService } from '../../support/service.ts';
import { killed } from './killed.ts';

/** An answer of the service. */
interface Answer {
  readonly rows: Record<string, unknown>[];
  /** The moment of the oldest cached rows; null: it reads none. */
  readonly asOf: string | null;
  readonly text: string;
}

const LEAST_STEPS = 8;
const MOST_STEPS = 40;

/** The caches of a service. */
export class TestCaches {
  readonly #service: TestService;
  readonly #place: Pick<TestService['database'], 'superuser'>;

  /** @param place the database of the tables */
  constructor(service: TestService, place: Pick<TestService['database'], 'superuser'> = service.database) {
    this.#service = service;
    this.#place = place;
  }

  /** Runs a query that succeeds. */
  async asked(sql: string, token = this.#service.token): Promise<Answer> {
    const answer = await this.#service.fetch('/svc/api/query/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': token },
      body: JSON.stringify({ ontology_name: 'shop', query: sql }),
    });
    const text = await answer.text();
    expect(answer.status, `${sql}\n${text}`).toBe(200);
    return { rows: JSON.parse(text).data, asOf: answer.headers.get('x-data-as-of'), text };
  }

  /** Whether a query reads cached rows. */
  async isCached(sql: string, token?: string): Promise<boolean> {
    return (await this.asked(sql, token)).asOf !== null;
  }

  /** The message of a statement that is not supported. */
  async refusal(sql: string): Promise<string> {
    const { status, json, text } = await this.#service.query(sql, 'shop');
    expect([status, json.code], `${sql}\n${text}`).toEqual([400, 'not_supported']);
    return json.data;
  }

  /** The row of SHOW CACHES for a mapping, cube or view. */
  async shown(name: string, token?: string) {
    const rows = await this.#service.rows('SHOW CACHES', 'shop', token);
    return rows.find((c) => [c.mapping_name, c.cube_name, c.view_name].includes(name));
  }

  /** The names of all tables. */
  async tables(): Promise<string[]> {
    return (await this.#place.superuser("SELECT tablename FROM pg_tables WHERE schemaname = 'cached' ORDER BY 1")).map((t) => String(t.tablename));
  }

  /** Drops the tables that nothing reads, as if the time had passed. @param which a further condition */
  async dropDue(which = ''): Promise<void> {
    await this.#service.database.superuser(`UPDATE kg_catalog.cache_tables SET drop_after = now() WHERE drop_after <> 'infinity' ${which}`);
    await sweepCaches((await this.#service.request(this.#service.token)).runtime);
  }

  /**
   * Kills a refresh at each of its requests, before the request is sent and after. It leaves at most one table too many, and none when its time has passed.
   * @param check is called after each of them
   * @returns how many requests there are, and one more
   */
  async killedAtEachStep(refresh: () => Promise<unknown>, check: () => Promise<void>): Promise<number> {
    await this.dropDue();
    const { length } = await this.tables();
    for (let n = 1; ; n++) {
      let isReached = false;
      for (const isSent of [false, true]) {
        isReached = (await killed(n, isSent, refresh)) || isReached;
        await check();
        await this.dropDue('AND rows IS NOT NULL');
        expect((await this.tables()).length, `${n} ${isSent}`).toBeLessThanOrEqual(length + 1);
        await this.dropDue();
        expect(await this.tables(), `${n} ${isSent}`).toHaveLength(length);
      }
      if (isReached) expect(n).toBeLessThan(MOST_STEPS);
      else {
        expect(n).toBeGreaterThanOrEqual(LEAST_STEPS);
        return n;
      }
    }
  }
}
