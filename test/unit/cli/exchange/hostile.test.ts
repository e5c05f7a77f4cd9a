/** Hostile documents, written to keep the import busy without end. */
import { describe, expect, it } from 'vitest';
import { OSSIE } from '../../../../src/cli/exchange/ossie.ts';
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
});
