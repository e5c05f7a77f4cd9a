/**
 * The attacks of editors on models with rows (`editors-rows.ts`, `editors-values.ts`), before there are rows, links, values or columns: what is refused with them is refused before,
 * except for some scripts that disclose nothing there.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Crew } from './editors-crew.ts';
import { MODEL } from './editors-model.ts';
import { ROWS } from './editors-rows.ts';
import { VALUES } from './editors-values.ts';

let crew: Crew;
beforeAll(async () => {
  crew = await Crew.open();
});
afterAll(() => crew?.service.close());

/** The model with fewer mappings. `undefined`: a statement that is left out. */
const LESS: Readonly<Record<string, (statement: string) => string | undefined>> = {
  'no mapping': (statement) => (statement.startsWith('CREATE MAPPING') ? undefined : statement),
  'no links and values': (statement) => (/MAPPING (m_assign|m_phone)/.test(statement) ? undefined : statement),
  'only keys': (statement) => {
    if (statement.includes('MAPPING m_worker')) return 'CREATE MAPPING m_worker INTO (worker) AS SELECT id AS being_id FROM crew.t_worker';
    return statement.includes('MAPPING m_firm') ? 'CREATE MAPPING m_firm INTO (firm) AS SELECT id AS firm_id FROM crew.t_firm' : statement;
  },
};

/** Attacks that need the rows, or the columns of a mapping. */
const NEEDS_ROWS: readonly string[] = [
  'links of a concept with the rows of its ancestors are joined to other rows',
  'a row policy that reads it covers other rows',
  'a mask that depends on it covers other rows',
  'the mapping gives its column under another name',
  'the property is calculated',
];

const attacks = [...ROWS, ...VALUES].filter(([what, , text, writer = 'kim']) => writer === 'kim' && !text.includes('MAPPING') && !NEEDS_ROWS.includes(what));

it.each(attacks.map((attack, i) => [attack[0], Object.keys(LESS)[i % 3] as string, attack] as const))(
  'an editor without the right to make policies is refused: %s (%s)',
  async (_, less, [, statements, text]) => {
    const s = crew.service;
    const ontology = `less${++crew.count}`;
    const model = MODEL.split(/;\n/).flatMap((statement) => LESS[less]?.(statement) ?? []);
    const edits = `GRANT EDIT ON ALL ontology.${ontology} TO USER`;
    await s.rows([`CREATE ONTOLOGY ${ontology}`, ...model, `${edits} kim`, `${edits} max WITH GRANT OPTION`, ...statements].join('; '));
    const script = text.replaceAll('crewN', ontology);
    await crew.refused(ontology, script, crew.tokens.kim);
    expect((await s.query(script, ontology, crew.tokens.max)).status).toBe(200);
    await s.rows(`DROP ONTOLOGY ${ontology}`);
  },
);
