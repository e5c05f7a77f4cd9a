/** The references that datasources enforce, for the planner (docs/design/sql-shapes.md#enforced-references). A query does not rely on a dropped foreign key for more than a minute. */
import type { Datasource } from '../../engine/datasource.ts';
import type { Session } from '../session.ts';
import { DatasourceFacts, factStore } from './facts.ts';

const REFERENCES = factStore<ReadonlySet<string>>('references', {
  load: async () => (await import('../../engine/references.ts')).enforcedReferences,
  none: () => new Set(),
  bytesOf: (keys) => 500 + 250 * keys.size,
});

/** Forgets all references, for tests. */
export const forgetReferences = (): void => REFERENCES.known.clear();

/** The enforced references during the planning of one statement. */
export class References extends DatasourceFacts<ReadonlySet<string>> {
  constructor(session: Session) {
    super(session, REFERENCES);
  }

  /** Whether a datasource enforces a reference. @throws FactsNeeded */
  enforces(datasource: Datasource | undefined, key: string): boolean {
    return datasource !== undefined && this.of(datasource).has(key);
  }
}
