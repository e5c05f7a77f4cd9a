/**
 * Noninterference after scripts that editors prepare: an editor changes a model in which rows, links, values or columns are not mapped yet. After each accepted script an administrator
 * maps the rest, and all relations are read twice; in between, everything changes that policies hide. The answers must be equal. The test does not use the rules for editors: it only
 * compares. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { goesOn } from '../support/checked.ts';
import { DEEP, generated, patience, SEED } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { filled, MODEL, POLICIES, TABLES } from './generated/link-world.ts';
import { withPair } from './generated/pair.ts';
import { PROBES, script } from './generated/prepared-scripts.ts';

const SIZES = sizesOf('attacks/prepared-generated');

const pair = withPair(TABLES);

const MAPPINGS = new Map(MODEL.split(/;\s*/).flatMap((m) => (/^CREATE MAPPING (\w+)/.test(m) ? [[m.split(' ')[2] as string, m] as const] : [])));
/** The columns of the keys, by the mapping of the rows. */
const KEYS = new Map([
  ['m_person', 'a, b'],
  ['m_firm', 'q'],
]);
const between = [...MAPPINGS.keys()].filter((m) => !KEYS.has(m));
/** What is not mapped when the editor changes the model: whole mappings, or the columns that are not keys. */
const LATER: readonly (readonly [mappings: readonly string[], onlyKeys: boolean])[] = [
  [[...MAPPINGS.keys()], false],
  [between, false],
  [[...KEYS.keys()], false],
  [[], true],
  [between, true],
];

const replacing = (name: string): string => (MAPPINGS.get(name) as string).replace('CREATE', 'CREATE OR REPLACE');
const isInvalid = (answer: string): boolean => /^40[03] .*"(unknown_|bad_|no_|ambiguous)/.test(answer);

const KINDS = POLICIES.map(([what, policies], at) => ({ what, policies, at })).filter(({ at }) => at % SIZES.everyKind === 0);

describe.each(KINDS)('under $what', ({ policies, at }) => {
  const ontology = `prep${at}`;

  it('no script that an editor prepares makes an answer depend on hidden data', { timeout: patience(120_000) }, async () => {
    const grants = [`QUERY ON ALL ontology.${ontology} TO USER rob`, `EDIT ON ALL ontology.${ontology} TO USER ed`];
    await pair.s.rows([`CREATE ONTOLOGY ${ontology}`, MODEL, ...grants.map((g) => `GRANT ${g}`)].join('; '));
    for (const p of policies) await pair.s.rows(p, ontology);
    const full = (await pair.s.rows('SHOW VERSION', ontology))[0].id;
    const bases: { readonly id: string; readonly later: readonly string[] }[] = [];
    for (const [dropped, onlyKeys] of LATER) {
      const keyed = onlyKeys ? [...KEYS].map(([name, key]) => replacing(name).replace(/SELECT .* FROM/, `SELECT ${key} FROM`)) : [];
      await pair.s.rows(
        [`ROLLBACK ONTOLOGY ${ontology} TO VERSION '${full}'`, ...[...dropped].reverse().map((name) => `DROP MAPPING ${name}`), ...keyed].join('; '),
        ontology,
      );
      bases.push({ id: (await pair.s.rows('SHOW VERSION', ontology))[0].id, later: [...(onlyKeys ? KEYS.keys() : []), ...dropped].map(replacing) });
    }
    const counts = { refused: 0, rows: 0 };
    const isEnough = (): boolean => counts.rows > 50 && counts.refused > 0;
    for (let i = 0; goesOn(i, SIZES.scripts, isEnough); i++) {
      const [text = ''] = fc.sample(script, { ...generated(1, 1), seed: SEED + at, path: String(i) });
      const { id, later } = bases[i % bases.length] as (typeof bases)[number];
      await pair.s.rows(`ROLLBACK ONTOLOGY ${ontology} TO VERSION '${id}'`, ontology);
      const { status, json } = await pair.s.query(text, ontology, pair.editor);
      if (status === 403) counts.refused++;
      expect(status, json.data).toBeLessThan(500);
      if (status !== 200) continue;
      // some no longer fit the model
      for (const mapping of later) await pair.s.query(mapping, ontology);
      for (const statement of filled(2 * i)) await pair.s.database.exec(statement);
      const all = await pair.seen(ontology, PROBES);
      const probes = PROBES.filter((_, k) => !isInvalid(all[k] as string));
      for (const statement of filled(2 * i + 1)) await pair.s.database.exec(statement);
      const [one, other] = [all.filter((a) => !isInvalid(a)), await pair.seen(ontology, probes)];
      for (const [k, a] of one.entries()) {
        if (a.startsWith('200')) counts.rows++;
        // a busy machine
        if ([a, other[k]].some((answer) => /^50[34] /.test(answer ?? ''))) continue;
        if (a !== other[k]) throw new Error(`SEED=${SEED} without ${LATER[i % LATER.length]}\n${text}\n${probes[k]}\n${a}\n${other[k]}`);
      }
    }
    if (DEEP) process.stderr.write(`${policies[0]}: ${JSON.stringify(counts)}\n`);
    expect(counts.rows).toBeGreaterThan(50);
    expect(counts.refused).toBeGreaterThan(0);
  });
});
