/** A service with a reader and an editor who may not make policies, and the answers that they get. */
import { afterAll, beforeAll } from 'vitest';
import { reached, startService, type TestService } from '../../support/service.ts';

/** The service for the tests of a file. Its members have values while the tests run. */
export interface Pair {
  readonly s: TestService;
  /** The token of the reader `rob`. */
  readonly reader: string;
  /** The token of the editor `ed`. */
  readonly editor: string;
  /** The answers to some queries, as texts with their status. @param token default: that of the reader */
  readonly seen: (ontology: string, probes: readonly string[], token?: string) => Promise<string[]>;
}

/** Starts a service before the tests of a file, and stops it after them. @param tables the statements that make its tables */
export function withPair(tables: readonly string[]): Pair {
  const pair: { s?: TestService; reader?: string; editor?: string } = {};
  beforeAll(async () => {
    const s = await startService({ tables });
    pair.s = s;
    await s.user('nobody');
    Object.assign(pair, { reader: await s.user('rob'), editor: await s.user('ed') });
  });
  afterAll(() => pair.s?.close());
  const started = pair as Omit<Pair, 'seen'>;
  const seen: Pair['seen'] = async (ontology, probes, token = started.reader) => {
    const answers = await Promise.all(probes.map((q) => reached(() => started.s.query(q, ontology, token))));
    return answers.map(({ status, json }) => `${status} ${JSON.stringify({ ...json, request_id: '' })}`);
  };
  return Object.assign(started, { seen });
}
