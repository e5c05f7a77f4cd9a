/** Subjects of questions for tests: from modelling scripts, and hand-written. */
import { graphOf, worldModel } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { type QuestionModel, type Subject, subjectsOf } from '../../../src/service/ops/question-model.ts';

const parser = await loadNodeParser();

/** For a caller who may read everything. */
export const subjectsOfScript = (script: string): readonly Subject[] =>
  subjectsOf(graphOf(script, 'test', parser), { condition: (concept) => concept.def?.logic?.condition ?? null });

export const worldSubjects = async (): Promise<readonly Subject[]> => subjectsOfScript(await worldModel());

const COLUMN = { type: 'string', description: null, tags: {}, isMeasure: false, isMulti: false, isKey: false, isLabel: false, inheritedFrom: null };

export const LINK = { toMany: false, transitivity: null, isInverse: false, inverse: null, inheritedFrom: null, linkColumns: [], description: null };

/** A subject of a few words; columns and `relationship>target` by their names. */
export const subject = (
  name: string,
  { columns = [], links = [], ...more }: Partial<Omit<Subject, 'columns'>> & { columns?: readonly string[]; links?: readonly string[] } = {},
): Subject => ({
  kind: 'concept',
  name,
  description: null,
  tags: {},
  parents: [],
  condition: null,
  columns: columns.map((column) => ({ ...COLUMN, name: column })),
  relationships: links.map((link) => {
    const [of = '', target = ''] = link.split('>');
    return { ...LINK, name: of, target };
  }),
  ...more,
});

let models = 0;

/** A model of them that shares no cache with another one. */
export function modelOf(subjects: readonly Subject[]): QuestionModel {
  const shape = `test ${++models}`;
  const caller = { snapshot: { verifiedAt: Number.POSITIVE_INFINITY } } as QuestionModel['caller'];
  return {
    caller,
    ontology: 'test',
    version: '1',
    key: shape,
    shape,
    subjects,
    subject: (name) => subjects.find((s) => s.name.toLowerCase() === name.toLowerCase()),
  };
}
