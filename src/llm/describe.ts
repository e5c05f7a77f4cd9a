/** The model of an ontology as one text for an agent that writes SQL itself: the schema text, with short lists of values, and verified examples. */
import { notFound } from '../errors.ts';
import { examplesOf, questionModel } from '../service/ops/questions.ts';
import { type Example, type ServiceRequest, unknownName } from '../service.ts';
import { cut, line } from './fence.ts';
import { mapOfModel } from './knowledge.ts';
import { subjectKey } from './rank-index.ts';
import { around, connecting, type ModelMap, withAncestors } from './schema/map.ts';
import { schemaOf } from './schema/schema.ts';
import { tokensOf } from './tree.ts';
import { samplesWithin } from './values.ts';

export interface Description {
  readonly request: ServiceRequest;
  readonly ontology: string;
  /** Names of concepts and views to describe, with their surroundings; empty: the whole model. */
  readonly about: readonly string[];
  readonly maxTokens: number;
  /** True: no values and no examples, so that the text depends only on the model and on what the caller may query. */
  readonly namesOnly?: boolean;
}

/** The maximum number of subjects whose values are sampled, and the maximum time to wait for them. */
const MAX_SAMPLED = 30;
const SAMPLES_MS = 1_500;
const MAX_EXAMPLES = 5;
/** The share of the tokens for examples. */
const EXAMPLES = 0.15;
/** Characters of a token, as a rule of thumb. */
const CHARACTERS = 4;

/**
 * Describes what the caller may query. @returns the text, and whether something is left out
 * @throws SvcError 404 `unknown_concept` for a name in `about`, as `questionModel`
 */
export async function describeModel({
  request,
  ontology,
  about,
  maxTokens,
  namesOnly = false,
}: Description): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const model = await questionModel(request, ontology);
  const { product } = request.runtime.config;
  const map = mapOfModel(model);
  const seeds = about.map((name) => {
    const found = model.subject(name);
    if (found === undefined)
      throw notFound(
        'unknown_concept',
        unknownName(
          'concept',
          name,
          model.subjects.map((s) => s.name),
        ),
      );
    return map.numberOf(found) ?? 0;
  });
  const inside = surroundings(map, seeds);
  const subjects = [...map.subjects.keys()].filter((n) => inside?.has(n) ?? true).flatMap((n) => map.subjects[n] ?? []);
  const examples = namesOnly ? '' : examplesText(await examplesOf(request, ontology, { most: MAX_EXAMPLES }), EXAMPLES * maxTokens);
  const head = `Knowledge graph ${line(model.ontology, 128)}. SELECT from ${product}.\`concept\` (its columns), d${product}.\`concept\` (also paths and measures), v${product}.\`view\`. \
Every concept also has entity_id, entity_type and entity_label. Write a measure as SUM(\`measure.name\`): it is aggregated by its definition. Sums over several paths in one SELECT are right.`;
  const samples = await samplesWithin(request, model, namesOnly ? [] : subjects.filter((s) => s.kind !== 'cube').slice(0, MAX_SAMPLED), SAMPLES_MS);
  const write = (characters: number) =>
    schemaOf({
      map,
      seeds,
      score: (n) => map.near[n]?.length ?? 0,
      isIn: (n) => inside?.has(n) ?? true,
      isRelation: () => true,
      hard: characters,
      soft: characters,
      prefers: () => 0,
      values: (subject, column) => samples.get(subjectKey(subject))?.columns.find((c) => c.name === column),
      listsOthers: true,
    });
  const room = maxTokens - tokensOf(head) - tokensOf(examples);
  let characters = Math.max(0, room * CHARACTERS);
  let made = write(characters);
  // letters outside of ASCII cost more
  for (let turn = 0; turn < 3 && tokensOf(made.text) > room; turn++) {
    characters *= (0.95 * room) / tokensOf(made.text);
    made = write(characters);
  }
  const text = [head, made.text, examples].filter((part) => part !== '').join('\n');
  return { text: cut(text, Math.max(200, maxTokens * CHARACTERS)), isCut: !made.isWhole };
}

/** The subjects, what connects them, and what is next to them; undefined: everything. */
function surroundings(map: ModelMap, seeds: readonly number[]): ReadonlySet<number> | undefined {
  if (seeds.length === 0) return undefined;
  const all = (): boolean => true;
  const core = connecting(map, seeds, all, () => 0);
  const next = around(map, core, all, () => 0, 1).map((p) => p.number);
  return new Set(withAncestors(map, [...core, ...next], all));
}

function examplesText(examples: readonly Example[], maxTokens: number): string {
  const lines: string[] = [];
  let left = maxTokens - 10;
  for (const { question, query } of examples) {
    const text = `- ${line(question, 300)}\n  ${line(query, 2_000)}`;
    left -= tokensOf(text);
    if (left < 0) break;
    lines.push(text);
  }
  return lines.length === 0 ? '' : ['Verified examples:', ...lines].join('\n');
}
