/** Model files over generated models through the service: an apply makes what its plan says, an export is the model, and of two applies at once one is refused. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { printModel } from '../../src/language/print.ts';
import { splitScript } from '../../src/language/split.ts';
import type { Model } from '../../src/ontology/model.ts';
import { generated, patience } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { Cases } from './differential/cases.ts';
import { modelOf } from './differential/ddl.ts';

const SIZES = sizesOf('integration/model-round-trips');

// the types of columns, and the check of what reads a property of another type, come from tables, which this test does not have
vi.mock(
  import('../../src/service/write/describe.ts'),
  () => ({ questionsAbout: () => [], described: async (_runtime: unknown, model: Model) => model, renewPlacements: () => undefined }) as never,
);
vi.mock(import('../../src/service/write/retyped.ts'), () => ({ requireValidTypes: async () => undefined }) as never);
afterAll(() => {
  vi.doUnmock('../../src/service/write/describe.ts');
  vi.doUnmock('../../src/service/write/retyped.ts');
});

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

interface File {
  readonly name: string;
  readonly text: string;
}
interface Change {
  readonly action: string;
  readonly kind: string;
  readonly name: string;
}

/** The statements of a model, without its name and settings, in two files. */
function filesOf(model: Model, isReversed: boolean): File[] {
  const texts = splitScript(printModel({ ...model, config: {}, description: null }, 'o', 'svc'))
    .map((s) => s.text)
    .filter((text) => !/^(CREATE|ALTER) ONTOLOGY `o`/.test(text));
  const half = Math.ceil(texts.length / 2);
  const files = [texts.slice(0, half), texts.slice(half)].map((part, i) => ({ name: `${i}.kg`, text: part.map((t) => `${t};\n`).join('') }));
  return isReversed ? files.reverse() : files;
}

async function send(what: 'plan' | 'apply', ontology: string, files: readonly File[], wish: object = {}) {
  const response = await service.fetch(`/svc/api/model/${ontology}/${what}`, {
    method: 'POST',
    headers: { 'x-api-key': service.token, 'content-type': 'application/json' },
    body: JSON.stringify({ files, ...wish }),
  });
  const json = (await response.json()) as {
    code?: string;
    data: { version: string | null; base: string | null; changes: Change[]; unlisted: unknown[]; warnings: unknown[] };
  };
  return { status: response.status, json };
}
async function done(...args: Parameters<typeof send>) {
  const { status, json } = await send(...args);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.data;
}
const script = async (ontology: string): Promise<string> => (await service.rows(`SHOW CREATE ONTOLOGY ${ontology}`, ontology))[0].script;
const versions = async (ontology: string): Promise<number> => (await service.rows('SHOW VERSIONS', ontology)).length;

const models = new Cases(1).map(({ world }) => modelOf(world));

describe('model files of generated models', () => {
  it(
    'make what a plan says, once, and nothing else; an export is the model; of two applies one is refused',
    async () => {
      let number = 0;
      await fc.assert(
        fc.asyncProperty(models, models, fc.boolean(), async (first, second, isReversed) => {
          const [made, copy] = [`made_${number}`, `copy_${number}`];
          number++;
          const [one, two] = [filesOf(first, isReversed), filesOf(second, !isReversed)];
          // applying twice makes one version
          const begun = await send('apply', made, one);
          // a view of many concepts may need a plan that the service refuses
          fc.pre(begun.json.code !== 'too_complex');
          expect(begun.status, JSON.stringify(begun.json)).toBe(200);
          const { version } = begun.json.data;
          expect((await done('apply', made, one)).version).toBe(null);
          expect(await versions(made)).toBe(1);
          expect(await done('plan', made, one, { prune: true })).toEqual({ base: version, version: null, changes: [], unlisted: [], warnings: [] });

          // an export, applied elsewhere and to itself, is the model
          const text = await script(made);
          const exported = [{ name: 'all.kg', text }];
          expect((await done('plan', made, exported, { prune: true })).changes).toEqual([]);
          await done('apply', copy, exported);
          expect((await script(copy)).replaceAll(copy, made)).toBe(text);
          expect((await done('plan', copy, one, { prune: true })).changes).toEqual([]);

          // a plan says what the apply does, and the files' objects are all that is left
          const next = await send('plan', made, two, { prune: true });
          fc.pre(next.json.code !== 'too_complex');
          expect(next.status, JSON.stringify(next.json)).toBe(200);
          const planned = next.json.data;
          expect([planned.base, planned.version]).toEqual([version, null]);
          const applied = await done('apply', made, two, { prune: true, expect: version });
          expect({ ...applied, version: null }).toEqual(planned);
          expect(applied.version === null).toBe(planned.changes.length === 0);
          const after = await done('plan', made, two);
          expect([after.changes, after.unlisted]).toEqual([[], []]);

          // two at once: one of them is refused, and changes nothing
          const both = ['one', 'other'].map((name) => [...two, { name: 'more.kg', text: `CREATE PROPERTY only_in_${name} string` }]);
          const answers = await Promise.all(both.map((files) => send('apply', made, files, { prune: true, expect: after.base })));
          expect(answers.map((a) => a.status).sort()).toEqual([200, 409]);
          const winner = both[answers.findIndex((a) => a.status === 200)] as readonly File[];
          expect((await done('plan', made, winner, { prune: true })).changes).toEqual([]);
          await service.rows(`DROP ONTOLOGY ${made}; DROP ONTOLOGY ${copy}`);
        }),
        { ...generated(SIZES.models, SIZES.models), endOnFailure: true },
      );
    },
    patience(60_000),
  );
});
