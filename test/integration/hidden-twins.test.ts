/**
 * Generated ontologies, callers who see parts of them, and the same parts as a separate ontology, over the service: documents,
 * lists, filters and refusals must be the same bytes except for the ontology's name, and rows those of an administrator.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { printModel } from '../../src/language/print.ts';
import type { Model } from '../../src/ontology/model.ts';
import { checkUntil } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { type Parts, seenParts, twinOf } from '../support/twin.ts';
import { Cases } from './differential/cases.ts';
import { ddlOf, modelOf, SCHEMA } from './differential/ddl.ts';
import { Printer } from './differential/print.ts';
import type { Case } from './differential/shrink.ts';

const SIZES = sizesOf('integration/hidden-twins');

const parser = await loadNodeParser();
const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

/** An answer with its rows sorted: without ORDER BY their order is undefined. */
function sorted(answer: string): string {
  const { data, ...rest } = JSON.parse(answer.slice(4)) as { data: unknown[] };
  return `${answer.slice(0, 4)}${JSON.stringify({ ...rest, data: data.map((row) => JSON.stringify(row)).sort() })}`;
}

describe('an ontology seen in part', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service?.close());

  const ask = async (token: string, path: string, body?: unknown): Promise<string> => {
    const headers = { 'x-api-key': token, 'x-request-id': 'one', ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const response = await service.fetch(`/svc/${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }) });
    return `${response.status} ${await response.text()}`;
  };
  const query = (token: string, ontology: string, sql: string): Promise<string> => ask(token, 'api/query', { ontology_name: ontology, query: sql });

  /** Both ontologies, and the token of a user who may query all of the twin and the parts of the other; undefined: the twin is not valid on its own. */
  async function made(c: Case, model: Model, parts: Parts): Promise<{ readonly token: string } | undefined> {
    await service.query('DROP ONTOLOGY world');
    await service.query('DROP ONTOLOGY twins');
    const access = [`GRANT USAGE ON SCHEMA ${SCHEMA} TO kg_reader`, `GRANT SELECT ON ALL TABLES IN SCHEMA ${SCHEMA} TO kg_reader`];
    for (const statement of [...ddlOf(c.world).split(/;(?: |\n|$)/), ...access]) if (statement.trim() !== '') await service.database.exec(statement);
    for (const [name, content] of [
      ['world', model],
      ['twins', twinOf(model, parts, parser)],
    ] as const) {
      const { status } = await service.query(printModel(content, name, 'svc'), name);
      if (status !== 200) return undefined;
    }
    const user = `u${crypto.randomUUID().replaceAll('-', '')}`;
    const grants = [
      'ALL ontology.twins',
      'ontology.world',
      ...[...parts.concepts].map((n) => `ontology.world.concept.${quoted(n)}`),
      ...[...parts.views].map((n) => `ontology.world.view.${quoted(n)}`),
    ];
    const script = [`CREATE USER ${user}`, ...grants.map((g) => `GRANT QUERY ON ${g} TO USER ${user}`), `CREATE TOKEN FOR ${user}`];
    const [row] = await service.rows(script.join(';\n'));
    return { token: String(row?.token) };
  }

  const inTwins = (text: string): string => text.replaceAll('world', 'twins').replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>');

  const cases = fc.tuple(new Cases(6), fc.infiniteStream(fc.boolean())).map(([c, coins]: [Case, IterableIterator<boolean>]) => {
    const model = modelOf(c.world);
    const heads = <T extends { readonly name: string }>(list: readonly T[]) => new Set(list.filter(() => coins.next().value).map((o) => o.name));
    return { c, model, parts: seenParts(model, heads(model.concepts), heads(model.views), parser) };
  });

  it(
    'answers like one that never had the rest',
    async () => {
      let compared = 0;
      let rows = 0;
      let kept = 0;
      let shown = 0;
      const isEnough = (): boolean => compared > 25 * SIZES.models && rows > SIZES.models / 3 && shown > SIZES.models / 3 && kept > 2 * shown;
      const { failed, errorInstance } = await checkUntil(
        fc.asyncProperty(cases, async ({ c, model, parts }) => {
          const ready = parts && (await made(c, model, parts));
          if (!ready || !parts) return;
          const { token } = ready;
          const same = async (send: (ontology: string) => Promise<string>): Promise<string> => {
            const [mine, other] = [await send('world'), await send('twins')];
            expect(inTwins(mine)).toBe(inTwins(other));
            compared++;
            return mine;
          };
          await same((o) => ask(token, `api/get_ontology/${o}`));
          await same((o) => ask(token, `api/openapi/${o}.json`));
          for (const sql of [
            'SHOW CONCEPTS',
            'SHOW PROPERTIES',
            'SHOW VIEWS',
            'SHOW TAGS',
            'SHOW TABLES',
            'SELECT * FROM svc.SYS_CONCEPT_RELATIONSHIPS',
            'SELECT * FROM svc.SYS_INHERITANCE',
          ])
            await same((o) => query(token, o, sql));
          const printer = new Printer(c.world, { backQuotes: c.backQuotes });
          // each query as an example, which the twin has if it is valid there
          for (const [i, q] of c.queries.entries())
            for (const o of ['world', 'twins']) kept += (await service.query(`CREATE EXAMPLE 'q ${i}' AS ${printer.query(q)}`, o)).status === 200 ? 1 : 0;
          const exampleRows = await same((o) => query(token, o, 'SELECT question, query, valid, error FROM SYS_EXAMPLES'));
          shown += (JSON.parse(exampleRows.slice(4)) as { data: unknown[] }).data.length;
          for (const i of c.queries.keys()) await same((o) => query(token, o, `SHOW CREATE EXAMPLE 'q ${i}'`));
          await same((o) => query(token, o, `SHOW CREATE ONTOLOGY ${o}`));
          for (const q of c.queries) {
            const sql = printer.query(q);
            const mine = await query(token, 'world', sql);
            if (mine.startsWith('4')) await same((o) => query(token, o, sql));
            else if (!/\*|thing/.test(sql)) {
              const whole = await query(service.token, 'world', sql);
              const isOrdered = q.body.k === 'select' && q.body.order.length > 0;
              expect({ sql, answer: isOrdered ? mine : sorted(mine) }).toEqual({ sql, answer: isOrdered ? whole : sorted(whole) });
              rows++;
            }
          }
          const names = [...model.concepts, ...model.views].map((o) => o.name);
          for (const name of names) {
            await same((o) => query(token, o, `DESC svc.${quoted(name)}`));
            await same((o) => query(token, o, `SHOW CREATE CONCEPT ${quoted(name)}`));
            await same((o) => query(token, o, `DROP CONCEPT ${quoted(name)}`));
            if (!parts.concepts.has(name)) await same((o) => ask(token, `api/q/${o}/concept/${encodeURIComponent(name)}`));
            if (!parts.views.has(name)) await same((o) => ask(token, `api/q/${o}/view/${encodeURIComponent(name)}`));
          }
          const [seen] = parts.concepts;
          if (seen === undefined) return;
          for (const subject of [...model.properties.map((p) => p.name), ...model.concepts.flatMap((d) => d.relationships.map((r) => r.name))])
            for (const parameter of ['_op_=like&_comp_=[&_subj_', '_select_', '_order_']) {
              const path = (o: string): string => `api/q/${o}/concept/${encodeURIComponent(seen)}?${parameter}=${encodeURIComponent(subject)}`;
              const mine = await ask(token, path('world'));
              if (mine.startsWith('4')) await same((o) => ask(token, path(o)));
            }
        }),
        SIZES.models,
        isEnough,
      );
      if (failed) throw new Error(`SEED=${SEED}`, { cause: errorInstance });
      expect(compared).toBeGreaterThan(25 * SIZES.models);
      expect(rows).toBeGreaterThan(SIZES.models / 3);
      // some were shown in both, some not in the larger one
      expect(shown).toBeGreaterThan(SIZES.models / 3);
      expect(kept).toBeGreaterThan(2 * shown);
    },
    patience(300_000),
  );
});
