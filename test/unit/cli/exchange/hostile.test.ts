/** Hostile documents, written to keep the import busy without end. */
import { describe, expect, it } from 'vitest';
import { OSSIE } from '../../../../src/cli/exchange/ossie.ts';
import { RDF } from '../../../../src/cli/exchange/rdf.ts';
import { sourceOf } from './support.ts';

const { reader } = sourceOf('CREATE ONTOLOGY world');
const LEVELS = 40;
const levels = <T>(make: (level: number) => T): T[] => Array.from({ length: LEVELS }, (_, i) => make(i));
const imported = (ontology: readonly object[]) => OSSIE.read([{ path: 'o.yaml', text: JSON.stringify({ version: '0.1.0', name: 'o', ontology }) }], reader);

describe('an Ossie document', () => {
  it('with value types that extend others several times is read', async () => {
    const types = levels((i) => ({ concept: `V${i}`, type: 'ValueType', extends: [`V${i + 1}`, `V${i + 1}`, `V${i + 1}`] }));
    const { losses } = await imported(types);
    expect(losses.filter((loss) => loss.includes('extends no built-in type'))).toHaveLength(LEVELS);
    const { losses: known } = await imported([...types, { concept: `V${LEVELS}`, type: 'ValueType', extends: ['Decimal'] }]);
    expect(known.filter((loss) => loss.includes('extends no built-in type'))).toEqual([]);
  });

  it('with keys that need the same concepts several times is read', async () => {
    const relationship = (name: string, i: number) => ({ name, roles: [{ concept: `C${i + 1}` }], multiplicity: 'ManyToOne', verbalizes: [] });
    const concepts = levels((i) => ({
      concept: `C${i}`,
      type: 'EntityType',
      identify_by: [`C${i}.a`, `C${i}.b`],
      relationships: [relationship('a', i), relationship('b', i)],
    }));
    const { model } = await imported([...concepts, { concept: `C${LEVELS}`, type: 'EntityType', identify_by: ['C40.a'] }]);
    expect(model.concepts).toHaveLength(LEVELS + 1);
  });

  it('with many datasets is not read in cubic time', async () => {
    const steps = async (n: number): Promise<number> => {
      const datasets = Array.from({ length: n }, (_, i) => ({
        name: `d${i}`,
        source: `t${i}`,
        primary_key: ['id'],
        fields: [{ name: 'id', expression: 'id' }],
      }));
      const text = JSON.stringify({ version: '0.2.0.dev0', semantic_model: [{ name: 'm', datasets }] });
      let compared = 0;
      const real = String.prototype.toLowerCase;
      String.prototype.toLowerCase = function (this: string) {
        compared++;
        return real.call(this);
      };
      try {
        await OSSIE.read([{ path: 'm.json', text }], reader);
      } finally {
        String.prototype.toLowerCase = real;
      }
      return compared;
    };
    expect((await steps(200)) / (await steps(100))).toBeLessThan(4);
  });

  it.each([
    ['{"statements": 5}', 'data.statements'],
    ['{"statements": ["DROP CONCEPT x", {"text": 1}]}', 'data.statements.1'],
    ['{"concepts": []}', 'data.concepts'],
    ['{"concepts": {"c": {"label": "name"}}}', 'data.concepts.c.label'],
    ['{"concepts": {"c": {"relationships": {"r": {"includes": 1}}}}}', 'data.concepts.c.relationships.r.includes'],
    ['{"config": {"default_transitivity": 5}}', 'data.config.default_transitivity'],
    ['{"tags": ["a"]}', 'data.tags'],
  ])('with an extension of another shape is refused: %s', async (data, place) => {
    const model = { name: 'm', datasets: [], custom_extensions: [{ vendor_name: 'SVC', data }] };
    const read = (custom: object) => OSSIE.read([{ path: 'm.yaml', text: JSON.stringify({ version: '0.2.0.dev0', semantic_model: [custom] }) }], reader);
    await expect(read(model)).rejects.toThrow(`m.yaml does not have the shape of an Ossie document: semantic_model.0.custom_extensions.0.${place}`);
    const old = { ...model, custom_extensions: [{ vendor_name: 'COMMON', data: `{"svc": ${data}}` }] };
    await expect(read(old)).rejects.toThrow('does not have the shape of an Ossie document');
  });
});

describe('a document in Turtle', () => {
  const read = (text: string) =>
    RDF.read([{ path: 'o.ttl', text: `@prefix kg: <urn:kg:vocabulary#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . ${text}` }], reader);

  it.each(['5', 'x', '["a"]', '{"a": 1}'])('with settings or tags of another shape is refused: %s', async (json) => {
    const text = JSON.stringify(json);
    await expect(read(`<urn:o> a owl:Ontology ; kg:version "1" ; kg:settings ${text} .`)).rejects.toThrow(/^kg:settings of .* is not a JSON object of texts$/);
    await expect(read(`<urn:o> a owl:Ontology ; kg:version "1" . <urn:x> a owl:Class ; kg:tags ${text} .`)).rejects.toThrow(
      /^kg:tags of .* is not a JSON object/,
    );
  });
});
