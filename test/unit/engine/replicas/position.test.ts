/** Whether a server is a replica of a primary, and recent enough; and the options of a datasource about replicas. */
import { describe, expect, it } from 'vitest';
import { maxLag, replicaNames } from '../../../../src/engine/replicas/options.ts';
import { type Position, positionOf, refusalOf } from '../../../../src/engine/replicas/position.ts';

const PRIMARY: Position = { isStandby: false, lsn: 500n, identity: '77 5 reader', timeline: '1' };
const REPLICA: Position = { ...PRIMARY, isStandby: true };
const refusal = (replica: Partial<Position> | undefined, reached: readonly bigint[] = [500n, 400n], branches: readonly (string | undefined)[] = []) =>
  refusalOf(replica === undefined ? undefined : { ...REPLICA, ...replica }, PRIMARY, branches, reached);

describe('a position', () => {
  it('is read exactly', () => {
    expect(positionOf([['true', '18446744073709551615', '77 5 reader', '1']])).toEqual({ ...REPLICA, lsn: 18_446_744_073_709_551_615n });
    expect(positionOf([['false', '500', '77 5 reader', '1']])).toEqual(PRIMARY);
  });

  it.each([[undefined], [[]], [[['true', null, 'x', '1']]], [[['true', '5']]], [[['true', '1.5', 'x', '1']]], [[['true', '5', null, '1']]]])(
    'is missing in %j',
    (rows) => {
      expect(positionOf(rows as unknown[][] | undefined)).toBeUndefined();
    },
  );

  it('of a primary that has written nothing on a page is the begin of the page', () => {
    const lsnOf = (recovery: string, lsn: number) => positionOf([[recovery, String(lsn), 'x', '1']])?.lsn;
    // 0/3000000 is the begin of a file
    expect(lsnOf('false', 0x3000000 + 40)).toBe(0x3000000n);
    expect(lsnOf('false', 0x3002000 + 24)).toBe(0x3002000n);
    expect(lsnOf('false', 0x3002000 + 48)).toBe(0x3002030n);
    expect(lsnOf('true', 0x3002000 + 24)).toBe(0x3002018n);
  });
});

describe('a replica', () => {
  it('is used if it has passed a recent position of the primary', () => {
    expect(refusal({})).toBeUndefined();
    expect(refusal({ lsn: 450n })).toBeUndefined();
    expect(refusal({ lsn: 399n })).toBe('lag');
    expect(refusal({ lsn: 10_000n }, [])).toBe('lag');
  });

  it('is not used if it is another server', () => {
    expect(refusal(undefined)).toBe('unreadable');
    expect(refusal({ isStandby: false })).toBe('not a standby');
    expect(refusal({ identity: '78 5 reader' })).toBe('another database');
    expect(refusal({ identity: '77 5 owner' })).toBe('another database');
    expect(refusal({ timeline: '2' })).toBe('another timeline');
    expect(refusal({}, undefined, ['a', 'b'])).toBe('another database');
    expect(refusal({}, undefined, ['a', undefined])).toBe('another database');
    expect(refusal({}, undefined, ['a', 'a'])).toBeUndefined();
  });
});

describe('the options', () => {
  it('name variables', () => {
    expect(replicaNames(' DATASOURCE_A,DATASOURCE_B ')).toEqual(['DATASOURCE_A', 'DATASOURCE_B']);
    expect(replicaNames('')).toEqual([]);
    expect(replicaNames(null)).toEqual([]);
    expect(replicaNames('DATASOURCE_A,,')).toEqual(['DATASOURCE_A', '', '']);
  });

  it.each([
    [undefined, 10_000],
    ['10 s', 10_000],
    ['1500ms', 1500],
    [' 2 min ', 120_000],
    ['1 h', 3_600_000],
    ['2 h', undefined],
    ['999 ms', undefined],
    ['10', undefined],
    ['-1 s', undefined],
    ['1.5 s', undefined],
    ['10 seconds', undefined],
    ['', undefined],
  ])('%j is a lag of %j ms', (text, ms) => {
    expect(maxLag(text)).toBe(ms);
  });
});
