/** Calculated properties that follow paths: what they add up is what the asker may read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA ins',
  'CREATE TABLE ins.pol (no int PRIMARY KEY, premium numeric)',
  'INSERT INTO ins.pol VALUES (1, 100), (2, 50)',
  'CREATE TABLE ins.claim (id int PRIMARY KEY, pol int, kind text)',
  "INSERT INTO ins.claim VALUES (10, 1, 'fire'), (11, 1, 'water'), (12, 2, 'fire')",
  'CREATE TABLE ins.payment (id int PRIMARY KEY, claim int, amount numeric, way text)',
  "INSERT INTO ins.payment VALUES (1, 10, 10, 'bank'), (2, 10, 20, 'cash'), (3, 11, 5, 'bank'), (4, 12, 7, 'cash')",
];
const CLAIM = (
  more = '',
): string => `CREATE OR REPLACE CONCEPT claim (claim_id int, policy_no int, kind string, loss decimal, double_loss decimal, ${more} premium_of decimal, loss_sum MEASURE decimal, PRIMARY KEY (claim_id),
    CONSTRAINT of_policy FOREIGN KEY (policy_no) REFERENCES policy (policy_no) INVERSEOF has_claim)`;
const model = (name: string): string => `CREATE ONTOLOGY ${name};
  CREATE PROPERTY loss decimal AS SELECT coalesce(SUM("has_payment[payment].amount"), 0);
  CREATE PROPERTY double_loss decimal AS SELECT loss * 2;
  CREATE PROPERTY premium_of decimal AS SELECT "of_policy[policy].premium";
  CREATE PROPERTY losses decimal AS SELECT SUM("has_claim[claim].loss");
  CREATE MEASURE loss_sum decimal AS SELECT SUM(loss);
  CREATE CONCEPT policy (policy_no int, premium decimal, losses decimal, PRIMARY KEY (policy_no));
  ${CLAIM()};
  CREATE CONCEPT big_claim INHERITS (claim) FROM svc.claim WHERE loss > 6;
  CREATE CONCEPT payment (payment_id int, claim_id int, amount decimal, way string, PRIMARY KEY (payment_id), CONSTRAINT of_claim FOREIGN KEY (claim_id) REFERENCES claim (claim_id) INVERSEOF has_payment);
  CREATE MAPPING m1 INTO (policy) AS SELECT no AS policy_no, premium FROM ins.pol;
  CREATE MAPPING m2 INTO (claim) AS SELECT id AS claim_id, pol AS policy_no, kind FROM ins.claim;
  CREATE MAPPING m3 INTO (payment) AS SELECT id AS payment_id, claim AS claim_id, amount, way FROM ins.payment;
  CREATE ONTOLOGY VIEW losses_of AS SELECT claim_id, loss FROM svc.claim`;

let s: TestService;
const tokens = new Map<string, string>();
const user = async (name: string, ...grants: string[]): Promise<void> => void tokens.set(name, await s.user(name, ...grants));
/** The rows as texts, or the code of the error. */
const seen = async (name: string, sql: string, ontology = 'ins'): Promise<unknown> => {
  const { status, json } = await s.query(sql, ontology, tokens.get(name));
  return status === 200
    ? json.data.map((row: Record<string, unknown>) =>
        Object.values(row)
          .map((v) => v ?? 'NULL')
          .join(' '),
      )
    : (json.code ?? json.error?.code ?? json);
};
const all = ['QUERY ON ALL ontology.ins'];
const policy = (sql: string): Promise<unknown> => s.rows(`CREATE POLICY ${sql}`, 'ins');

beforeAll(async () => {
  s = await startService({ tables: TABLES });
  for (const name of ['ins', 'open', 'blind', 'dim']) await s.rows(model(name));
});
afterAll(() => s?.close());

describe('row policies', () => {
  it('on the far concept apply to what is added up', async () => {
    await user('teller', ...all);
    await policy("no_cash ON CONCEPT payment TO USER teller USING (way <> 'cash')");
    expect(await seen('teller', 'SELECT claim_id, loss, double_loss FROM svc.claim ORDER BY 1')).toEqual(['10 10 20', '11 5 10', '12 0 0']);
    expect(await seen('teller', 'SELECT claim_id FROM svc.claim WHERE loss = 10')).toEqual(['10']);
    expect(await seen('teller', 'SELECT policy_no, losses, "has_claim[claim].loss" FROM dsvc.policy ORDER BY 1, 3')).toEqual(['1 15 5', '1 15 10', '2 0 0']);
    expect(await seen('teller', 'SELECT claim_id, loss FROM svc.claim WHERE 10 / loss > 1 AND loss > 0')).toEqual(['11 5']);
    expect(await seen('teller', 'SELECT claim_id, loss FROM vsvc.losses_of ORDER BY 1')).toEqual(['10 10', '11 5', '12 0']);
    expect(await seen('teller', 'SELECT claim_id FROM svc.big_claim')).toEqual(['10']);
    expect(await seen('teller', 'SELECT SUM("measure.loss_sum") AS n FROM dsvc.claim')).toEqual(['15']);
    expect(await s.rows('SELECT SUM(loss) AS n FROM svc.claim', 'ins')).toEqual([{ n: 42 }]);
  });

  it('on both concepts apply each to its own rows', async () => {
    await user('both', ...all);
    await policy("b1 ON CONCEPT payment TO USER both USING (way <> 'cash')");
    await policy("b2 ON CONCEPT claim TO USER both USING (kind = 'fire')");
    expect(await seen('both', 'SELECT claim_id, loss FROM svc.claim ORDER BY 1')).toEqual(['10 10', '12 0']);
    expect(await seen('both', 'SELECT claim_id, loss, 1 / nullif(loss, 0) AS x FROM svc.claim WHERE loss < 100 ORDER BY 1')).toEqual([
      '10 10 0.1',
      '12 0 NULL',
    ]);
    expect(await seen('both', 'SELECT policy_no, losses FROM svc.policy ORDER BY 1')).toEqual(['1 10', '2 0']);
  });

  it('that read the property see all rows', async () => {
    await user('large', ...all);
    await policy('l1 ON CONCEPT claim TO USER large USING (loss > 6)');
    await policy("l2 ON CONCEPT payment TO USER large USING (way = 'bank')");
    expect(await seen('large', 'SELECT claim_id, loss FROM svc.claim ORDER BY 1')).toEqual(['10 10', '12 0']);
  });
});

describe('masks', () => {
  it('on the far property apply to what is added up, and measures and conditions over it are refused', async () => {
    await user('blind', 'QUERY ON ALL ontology.blind');
    await s.rows('CREATE POLICY m_amount ON PROPERTY amount MASK NULL', 'blind');
    expect(await seen('blind', 'SELECT claim_id, loss FROM svc.claim ORDER BY 1', 'blind')).toEqual(['10 0', '11 0', '12 0']);
    expect(await seen('blind', 'SELECT SUM("measure.loss_sum") AS n FROM dsvc.claim', 'blind')).toBe('masked');
    expect(await seen('blind', 'SELECT claim_id FROM svc.big_claim', 'blind')).toBe('masked');
    expect(await seen('blind', 'SELECT claim_id FROM svc.claim WHERE loss > 6', 'blind')).toEqual([]);
    expect(await s.rows('SELECT SUM(loss) AS n FROM svc.claim', 'blind')).toEqual([{ n: 42 }]);
  });

  it('on the property itself hide its value, and what is calculated from it', async () => {
    await user('dim', 'QUERY ON ALL ontology.dim');
    await s.rows('CREATE POLICY m_loss ON PROPERTY loss MASK WITH (CASE WHEN loss > 6 THEN -1 ELSE 0 END)', 'dim');
    expect(await seen('dim', 'SELECT claim_id, loss, double_loss FROM svc.claim ORDER BY 1', 'dim')).toEqual(['10 -1 -2', '11 0 0', '12 -1 -2']);
    expect(await seen('dim', 'SELECT policy_no, losses FROM svc.policy ORDER BY 1', 'dim')).toEqual(['1 -1', '2 -1']);
    expect(await seen('dim', 'SELECT "of_claim[claim].loss" AS l FROM dsvc.payment ORDER BY payment_id', 'dim')).toEqual(['-1', '-1', '0', '-1']);
  });
});

describe('grants', () => {
  it('on only the near concept do not give the property', async () => {
    await user('narrow', 'QUERY ON ontology.open.concept.claim', 'QUERY ON ontology.open.concept.policy');
    expect(await seen('narrow', 'SELECT * FROM svc.claim ORDER BY claim_id LIMIT 1', 'open')).toEqual(['claim:10 claim 10 10 1 fire 100']);
    expect(await seen('narrow', 'SELECT loss FROM svc.claim', 'open')).toBe('unknown_property');
    expect(await seen('narrow', 'SELECT double_loss FROM svc.claim', 'open')).toBe('unknown_property');
    expect(await seen('narrow', 'SELECT losses FROM svc.policy', 'open')).toBe('unknown_property');
    expect(await seen('narrow', 'SELECT SUM("measure.loss_sum") AS n FROM dsvc.claim', 'open')).toBe('unknown_measure');
    expect(await seen('narrow', 'SELECT premium_of FROM svc.claim WHERE claim_id = 12', 'open')).toEqual(['50']);
    expect(JSON.stringify(await seen('narrow', 'SHOW PROPERTIES FROM claim', 'open'))).not.toContain('loss');
  });

  it('do not give the measures of an ancestor over the property of a descendant', async () => {
    await s.rows(`CREATE ONTOLOGY under;
      CREATE PROPERTY paid decimal AS SELECT SUM("has_payment[payment].amount");
      CREATE MEASURE most decimal AS SELECT MAX(paid); CREATE MEASURE some bigint AS SELECT COUNT(claim_id) WHERE paid > 0; CREATE MEASURE half decimal AS SELECT most / 2;
      CREATE CONCEPT event (claim_id int, most MEASURE decimal, some MEASURE bigint, half MEASURE decimal, PRIMARY KEY (claim_id));
      CREATE CONCEPT claim (paid decimal) INHERITS (event);
      CREATE CONCEPT payment (payment_id int, claim_id int, amount decimal, PRIMARY KEY (payment_id), CONSTRAINT of_claim FOREIGN KEY (claim_id) REFERENCES claim (claim_id) INVERSEOF has_payment);
      CREATE MAPPING m2 INTO (claim) AS SELECT id AS claim_id FROM ins.claim;
      CREATE MAPPING m3 INTO (payment) AS SELECT id AS payment_id, claim AS claim_id, amount FROM ins.payment`);
    const events = ['event', 'claim'].map((c) => `QUERY ON ontology.under.concept.${c}`);
    await user('near', ...events);
    await user('far', ...events, 'QUERY ON ontology.under.concept.payment');
    for (const [measure, value] of [
      ['most', '30'],
      ['some', '3'],
      ['half', '15'],
    ]) {
      expect(await seen('near', `SELECT SUM("measure.${measure}") AS n FROM dsvc.event`, 'under')).toBe('unknown_measure');
      expect(await seen('far', `SELECT SUM("measure.${measure}") AS n FROM dsvc.event`, 'under')).toEqual([value]);
    }
    expect(JSON.stringify(await seen('near', 'DESC dsvc.event', 'under'))).not.toContain('measure');
  });

  it('on the concepts of the path give it', async () => {
    await user('wide', 'QUERY ON ontology.open.concept.claim', 'QUERY ON ontology.open.concept.payment');
    expect(await seen('wide', 'SELECT claim_id, loss FROM svc.claim ORDER BY 1', 'open')).toEqual(['10 30', '11 5', '12 7']);
    expect(await seen('wide', 'SELECT premium_of FROM svc.claim', 'open')).toBe('unknown_property');
  });

  it('a view gives what its definer may read', async () => {
    await user('viewer', 'QUERY ON ontology.open.view.losses_of');
    expect(await seen('viewer', 'SELECT claim_id, loss FROM vsvc.losses_of ORDER BY 1', 'open')).toEqual(['10 30', '11 5', '12 7']);
  });

  it.each([
    ['editor', [], 400, 'unknown_relationship'],
    ['looker', ['ACCESS ON ontology.open.concept.payment'], 403, 'forbidden'],
  ])('the writer of a property needs QUERY on what its text reads (%s)', async (name, more, status, code) => {
    await user(
      name,
      'EDIT ON ontology.open',
      'EDIT ON ontology.open.concept.claim',
      'QUERY ON ontology.open.concept.claim',
      'QUERY ON ontology.open.concept.policy',
      ...more,
    );
    const script = `CREATE PROPERTY ways_${name} bigint AS SELECT COUNT("has_payment[payment].way"); CREATE CONCEPT claim_${name} (ways_${name} bigint) INHERITS (claim)`;
    const answer = await s.query(script, 'open', tokens.get(name));
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });
});

describe('masks of a logic concept', () => {
  it('whose condition reads the property apply to all rows', async () => {
    await s.rows(model('veil'));
    await user('masked');
    await s.rows('GRANT QUERY ON ALL ontology.veil TO USER masked');
    await s.rows('CREATE POLICY kinds ON PROPERTY kind OF CONCEPT big_claim MASK NULL', 'veil');
    expect(await seen('masked', 'SELECT claim_id, kind FROM svc.claim ORDER BY 1', 'veil')).toEqual(['10 NULL', '11 NULL', '12 NULL']);
    expect(await seen('masked', 'SELECT "has_claim[claim].kind" AS kind FROM dsvc.policy', 'veil')).toEqual(['NULL', 'NULL', 'NULL']);
    expect(await seen('masked', 'SELECT claim_id, loss FROM svc.claim ORDER BY 1', 'veil')).toEqual(['10 30', '11 5', '12 7']);
  });
});

describe('a logic concept for a caller who does not see the whole model', () => {
  it('has the property, whose paths start from its rows', async () => {
    await s.rows(`CREATE ONTOLOGY loop;
      CREATE PROPERTY rank bigint AS SELECT count("before[node].node_id") + node_id;
      CREATE CONCEPT node (node_id int, rank bigint, PRIMARY KEY (node_id), CONSTRAINT after MULTIREFERENCE node INVERSEOF before);
      CREATE CONCEPT follower INHERITS (node) FROM dsvc.node WHERE "before[node].node_id" <= 10;
      CREATE CONCEPT hidden INHERITS (node) FROM svc.node WHERE rank = 1;
      CREATE MAPPING nodes INTO (node) AS SELECT id AS node_id FROM ins.claim;
      CREATE MAPPING links (CONSTRAINT after FOREIGN KEY (z) REFERENCES node (node_id), CONSTRAINT before FOREIGN KEY (a) REFERENCES node (node_id)) AS
        SELECT id AS a, id + 1 AS z FROM ins.claim`);
    await user('partial');
    for (const concept of ['node', 'follower']) await s.rows(`GRANT QUERY ON ontology.loop.concept.${concept} TO USER partial`);
    expect(await seen('partial', 'SELECT node_id, rank FROM svc.node ORDER BY 1', 'loop')).toEqual(['10 10', '11 12', '12 13']);
    expect(await seen('partial', 'SELECT node_id, rank, 12 / rank AS q FROM svc.follower ORDER BY 1', 'loop')).toEqual(['11 12 1']);
  });
});

describe('a policy that reads the property', () => {
  it('is not changed through what the property reads by someone who may not make it', async () => {
    await user('mapper', 'EDIT ON ALL ontology.ins', 'QUERY ON ALL ontology.ins', 'QUERY ON datasource.main');
    await user('watched', ...all);
    await policy('w ON CONCEPT claim TO USER watched USING (double_loss > 12)');
    const change = 'CREATE OR REPLACE MAPPING m3 INTO (payment) AS SELECT id AS payment_id, claim AS claim_id, amount + 100 AS amount, way FROM ins.payment';
    const { status } = await s.query(change, 'ins', tokens.get('mapper'));
    expect(status).toBe(403);
    expect(await seen('watched', 'SELECT claim_id FROM svc.claim ORDER BY 1')).toEqual(['10', '12']);
  });
});
