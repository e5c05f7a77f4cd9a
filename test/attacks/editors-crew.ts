/** A service with the users of the attacks on models, and a separate ontology for each attack. */
import { expect } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { MODEL, TABLES } from './editors-model.ts';

/** kim and lee edit all of each ontology, lee may also query the datasource; max may make policies; rob queries. */
export class Crew {
  readonly service: TestService;
  readonly tokens: Readonly<Record<'kim' | 'lee' | 'max' | 'rob', string>>;
  /** The number of ontologies. */
  count = 0;
  #made: string[] = [];

  private constructor(service: TestService, tokens: Crew['tokens']) {
    this.service = service;
    this.tokens = tokens;
  }

  static async open(): Promise<Crew> {
    const service = await startService({ tables: TABLES });
    await service.user('nobody');
    const reads = 'QUERY ON datasource.main';
    return new Crew(service, {
      kim: await service.user('kim'),
      lee: await service.user('lee', reads),
      max: await service.user('max', reads),
      rob: await service.user('rob'),
    });
  }

  /** A new ontology with the model and these statements of an administrator. @returns its name */
  async ontology(...statements: string[]): Promise<string> {
    const name = `crew${++this.count}`;
    this.#made.push(name);
    const edits = `GRANT EDIT ON ALL ontology.${name} TO USER`;
    const grants = `${edits} kim; ${edits} lee; ${edits} max WITH GRANT OPTION; GRANT QUERY ON ALL ontology.${name} TO USER rob`;
    await this.service.rows([`CREATE ONTOLOGY ${name}; ${MODEL}; ${grants}`, ...statements].join('; '));
    return name;
  }

  /** Drops the ontologies that were made since the last call: every request that changes something reads all ontologies. */
  async clear(): Promise<void> {
    // one request each: a test may have dropped its own
    for (const name of this.#made.splice(0)) await this.service.query(`DROP ONTOLOGY ${name}`);
  }

  async versionOf(ontology: string): Promise<string> {
    return (await this.service.rows('SHOW VERSION', ontology))[0].id;
  }

  /** Expects that a script is 403 `forbidden` and has no effect. @returns the message */
  async refused(ontology: string, script: string, token: string): Promise<string> {
    const before = await this.versionOf(ontology);
    const { status, json } = await this.service.query(script, ontology, token);
    expect([status, json.code], json.data).toEqual([403, 'forbidden']);
    expect(await this.versionOf(ontology)).toBe(before);
    return json.data;
  }
}
