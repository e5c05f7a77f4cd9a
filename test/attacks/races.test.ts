/** Attacks between the check of a right and the commit: a request is paused just before its batch, while others change rights. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admins, ask, by, type Headers, outcome, s, startCallers, user } from './callers.ts';

beforeAll(startCallers);
afterAll(() => s?.close());

/** Sends a script, does something else before the batch with `marker` reaches the catalog, and then continues. @returns the outcome of the script */
async function whileHeld(sql: string, headers: Headers, other: () => Promise<unknown>, marker: string, ontology = ''): Promise<string> {
  const inner = globalThis.fetch;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let used = false;
  globalThis.fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    if (!used && String(init?.body).includes(marker)) {
      used = true;
      arrived();
      await released;
    }
    return inner(input, init);
  };
  try {
    const answer = outcome(sql, headers, ontology);
    await Promise.race([held, answer]);
    expect(used, 'the batch was held').toBe(true);
    await other();
    release();
    return await answer;
  } finally {
    release();
    globalThis.fetch = inner;
  }
}

const GRANTS = 'INSERT INTO kg_catalog.grants';
const VERSIONS = 'INSERT INTO kg_catalog.ontology_versions';

describe('a grant whose resource is dropped in the meantime', () => {
  const RESOURCES = {
    user: { make: 'CREATE USER heir', drop: 'DROP USER heir', attack: 'CREATE TOKEN FOR heir' },
    role: { make: 'CREATE ROLE heir', drop: 'DROP ROLE heir', attack: 'GRANT ROLE heir TO USER PUPPET' },
    ontology: { make: 'CREATE ONTOLOGY heir', drop: 'DROP ONTOLOGY heir', attack: 'SHOW CREATE ONTOLOGY heir' },
    agent: { make: 'CREATE AGENT heir ONTOLOGY (shop)', drop: 'DROP AGENT heir', attack: 'DROP AGENT heir' },
  };

  it.each(Object.entries(RESOURCES))('does not apply to the next %s of that name', async (kind, { make, drop, attack }) => {
    const mal = await user('mal', `EDIT ON ${kind}`, 'ACCESS ON ALL ontology.shop');
    const pup = await user('pup', 'ACCESS ON ALL ontology.shop');
    await admins(`GRANT ACCESS ON user.${pup.name} TO USER ${mal.name}`, `GRANT ACCESS ON user.${pup.name} TO USER ${pup.name}`);
    const grant = `GRANT EDIT ON ALL ${kind}.heir TO USER ${pup.name} WITH GRANT OPTION`;
    const attacked = () => outcome(attack.replace('PUPPET', pup.name), by(pup.token), kind === 'ontology' ? 'heir' : '');
    for (const who of [mal.token, s.token]) {
      expect(await outcome(make, by(mal.token))).toBe('200');
      const dropped = async () => expect(await outcome(drop, by(mal.token))).toBe('200');
      expect(await whileHeld(grant, by(who), dropped, GRANTS)).toBe('409 version_conflict');
      await admins(make);
      expect(await attacked()).not.toBe('200');
      await admins(drop);
    }
    // nor if the next one already exists
    await admins(make);
    const again = () => admins(drop, make);
    const held = await whileHeld(grant, by(s.token), again, GRANTS);
    if (kind !== 'agent') expect(held).toBe('409 version_conflict');
    await admins(drop);
  });
});

describe('a right that is revoked while a script runs', () => {
  it('has no effect any more', async () => {
    const vic = await user('vic', 'QUERY ON ALL ontology.shop');
    const mal = await user('mal');
    await admins(`GRANT ACCESS ON user.${mal.name} TO USER ${mal.name}`);
    const right = `EDIT ON ALL user.${vic.name}`;
    const attacks: readonly [string, string][] = [
      [`GRANT EDIT ON user.${vic.name} TO USER ${mal.name}`, GRANTS],
      [`CREATE TOKEN FOR ${vic.name}`, 'INSERT INTO kg_catalog.tokens'],
      [`ALTER USER ${vic.name} SET PASSWORD = 'another-Password-1'`, 'SET password ='],
      [`CREATE TOKEN FOR ${vic.name}; SELECT 1 AS one; GRANT EDIT ON user.${vic.name} TO USER ${mal.name}`, GRANTS],
    ];
    for (const [attack, marker] of attacks) {
      await admins(`GRANT ${right} TO USER ${mal.name} WITH GRANT OPTION`);
      const taken = () => admins(`REVOKE ${right} FROM USER ${mal.name}`);
      expect({ attack, came: await whileHeld(attack, by(mal.token), taken, marker) }).toEqual({ attack, came: '409 version_conflict' });
    }
    expect(await outcome(`CREATE TOKEN FOR ${vic.name}`, by(mal.token))).toBe('400 unknown_user');
  });

  it('of an administrator has no effect either', async () => {
    const pup = await user('pup');
    const ada = await user('ada');
    await admins(`GRANT ROLE admin TO USER ${ada.name}`);
    const [row] = await admins(`CREATE TOKEN FOR ${ada.name}`);
    const demoted = () => admins(`REVOKE ROLE admin FROM USER ${ada.name}`);
    const attack = `GRANT ROLE admin TO USER ${pup.name}`;
    expect(await whileHeld(attack, by(String(row?.token)), demoted, 'INSERT INTO kg_catalog.role_members')).toBe('409 version_conflict');
    expect(await outcome('CREATE USER mine', by(pup.token))).toBe('403 forbidden');
  });

  it('does not allow a change of a model', async () => {
    const mal = await user('mal', 'EDIT ON ALL ontology.shop', 'ACCESS ON ontology.shop');
    const ada = await user('ada');
    await admins(`GRANT ROLE admin TO USER ${ada.name}`);
    const [row] = await admins(`CREATE TOKEN FOR ${ada.name}`);
    const lost = () => admins(`REVOKE EDIT ON ALL ontology.shop FROM USER ${mal.name}`);
    const demoted = () => admins(`REVOKE ROLE admin FROM USER ${ada.name}`);
    expect(await whileHeld('CREATE CONCEPT late (id bigint)', by(mal.token), lost, VERSIONS, 'shop')).toBe('409 version_conflict');
    expect(await whileHeld('CREATE CONCEPT late (id bigint)', by(String(row?.token)), demoted, VERSIONS, 'shop')).toBe('409 version_conflict');
    await admins(`GRANT EDIT ON ALL ontology.shop TO USER ${mal.name}`);
    const inactive = () => admins(`ALTER USER ${mal.name} SET ACTIVE = 'false'`);
    expect(await whileHeld('CREATE CONCEPT late (id bigint)', by(mal.token), inactive, VERSIONS, 'shop')).toMatch(/^401 /);
    expect((await s.query('DESCRIBE CONCEPT late', 'shop')).status).toBe(400);
  });

  it('is lost with the token, and when the administrator is set inactive', async () => {
    const mal = await user('mal', 'EDIT ON ALL ontology.shop');
    await admins(`GRANT EDIT ON user.${mal.name} TO USER ${mal.name}`);
    const ada = await user('ada');
    await admins(`GRANT ROLE admin TO USER ${ada.name}`);
    const [row] = await admins(`CREATE TOKEN FOR ${ada.name}`);
    const revoked = async () => {
      const tokens = await admins(`SHOW TOKEN FOR ${mal.name}`);
      await admins(...tokens.map((t) => `REVOKE TOKEN '${t.token_id}'`));
    };
    const inactive = () => admins(`ALTER USER ${ada.name} SET ACTIVE = 'false'`);
    expect(await whileHeld(`CREATE TOKEN FOR ${mal.name}`, by(mal.token), revoked, 'INSERT INTO kg_catalog.tokens')).toBe('409 version_conflict');
    const [fresh] = await admins(`CREATE TOKEN FOR ${mal.name}`);
    expect(await whileHeld('CREATE CONCEPT late (id bigint)', by(String(fresh?.token)), revoked, VERSIONS, 'shop')).toBe('401 invalid_token');
    const attack = `GRANT ROLE admin TO USER ${mal.name}`;
    expect(await whileHeld(attack, by(String(row?.token)), inactive, 'INSERT INTO kg_catalog.role_members')).toBe('409 version_conflict');
  });

  it('of another user does not affect an editor', async () => {
    const edith = await user('edith', 'EDIT ON ALL ontology.shop');
    const eve = await user('eve');
    const others = () => admins(`GRANT QUERY ON ALL ontology.shop TO USER ${eve.name}`, `GRANT ACCESS ON ontology.shop TO USER ${edith.name}`);
    expect(await whileHeld('CREATE CONCEPT kept (id bigint)', by(edith.token), others, VERSIONS, 'shop')).toBe('200');
    // another version in the meantime is a conflict as before, also after a change of rights
    const faster = async () => {
      await s.rows('CREATE CONCEPT faster (id bigint)', 'shop');
      await admins(`REVOKE QUERY ON ALL ontology.shop FROM USER ${eve.name}`);
    };
    expect(await whileHeld('CREATE CONCEPT slower (id bigint)', by(edith.token), faster, VERSIONS, 'shop')).toBe('409 version_conflict');
    await s.rows('DROP CONCEPT kept; DROP CONCEPT faster', 'shop');
  });

  it('a script that itself changes rights between reads is not affected', async () => {
    const mal = await user('mal', 'EDIT ON user', 'EDIT ON role');
    const script =
      'CREATE USER steps1; SELECT 1 AS one; CREATE ROLE steps2; GRANT ROLE steps2 TO USER steps1; SELECT 1 AS one; CREATE TOKEN FOR steps1; GRANT EDIT ON role.steps2 TO USER steps1';
    expect((await ask(script, by(mal.token))).text).toContain('"privilege":"EDIT"');
  });
});
