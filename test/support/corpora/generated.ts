/** Generated worlds with their queries, without and with policies: those of the differential tests. */
import fc from 'fast-check';
import type { SqlParser } from '../../../src/language/parser.ts';
import { compile } from '../../../src/ontology/compile.ts';
import { Cases } from '../../integration/differential/cases.ts';
import { ddlOf, modelOf } from '../../integration/differential/ddl.ts';
import { accessOf, genPolicies, type PolicySet } from '../../integration/differential/gen-policies.ts';
import { Printer } from '../../integration/differential/print.ts';
import { Rng } from '../../integration/differential/rng.ts';
import type { Case } from '../../integration/differential/shrink.ts';
import { generated } from '../generated.ts';
import { type Corpus, contextOf, each, plansOf } from './index.ts';

const PER_WORLD = 20;

type Guarded = Case & { readonly policies: PolicySet };

class GuardedCases extends fc.Arbitrary<Guarded> {
  private readonly plain = new Cases(PER_WORLD);

  generate(random: fc.Random): fc.Value<Guarded> {
    const { value } = this.plain.generate(random);
    return new fc.Value({ ...value, policies: genPolicies(new Rng(random), value.world) }, undefined);
  }

  canShrinkWithoutContext(_value: unknown): _value is Guarded {
    return false;
  }

  shrink(): fc.Stream<fc.Value<Guarded>> {
    return fc.Stream.nil();
  }
}

/** `count` queries (`deep`: with DEEP=1), twenty per world; every second one with policies. */
export function* generatedCorpora(parser: SqlParser, count: number, deep: number): Generator<Corpus> {
  const { seed, numRuns } = generated(Math.ceil(count / PER_WORLD), Math.ceil(deep / PER_WORLD));
  for (let i = 0; i < numRuns; i++) {
    // one world at a time, so that they are not all in memory
    const [c] = fc.sample(new GuardedCases(), { ...generated(1, 1), seed: seed + i }) as [Guarded];
    const printer = new Printer(c.world, c);
    const open = contextOf(compile(modelOf(c.world), 'world'), parser);
    const bound = { ...open, access: accessOf(c.policies, c.world, printer) };
    const texts = c.queries.map((q) => printer.query(q));
    const of = (odd: number): string[] => texts.filter((_, n) => n % 2 === odd);
    const name = `generated, seed ${seed + i}`;
    yield { name, tables: [ddlOf(c.world)], planned: (every) => plansOf(name, [...each([open], of(0)), ...each([bound], of(1))], every) };
  }
}
