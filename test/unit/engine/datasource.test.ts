import { describe, expect, it } from 'vitest';
import { isSafeAddress } from '../../../src/connection.ts';
import { connectionHeader, parseDatasourceSecret } from '../../../src/engine/datasource.ts';
import { SvcError } from '../../../src/errors.ts';

const thrown = (run: () => unknown): SvcError => {
  try {
    run();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('the secret of a datasource', () => {
  it('is a connection string, with an endpoint at its host', () => {
    expect(parseDatasourceSecret('postgresql://u:p@ep-cool-1.eu-central-1.aws.neon.tech/db?sslmode=require')).toEqual({
      url: 'postgresql://u:p@ep-cool-1.eu-central-1.aws.neon.tech/db?sslmode=require',
      endpoint: 'https://api.eu-central-1.aws.neon.tech/sql',
    });
  });

  it('is JSON with an endpoint', () => {
    const secret = { url: 'postgres://u:p@127.0.0.1:5432/db', endpoint: 'http://127.0.0.1:9999/sql' };
    expect(parseDatasourceSecret(JSON.stringify(secret))).toEqual(secret);
    expect(parseDatasourceSecret('{"url":"postgres://u:p@a.b.c/db"}').endpoint).toBe('https://api.b.c/sql');
  });

  for (const secret of [
    '',
    'hello',
    'mysql://u:pw9@h.x/d',
    'postgres://h.x/d',
    'postgres://u:pw9@h.x',
    '{"url":',
    '{"endpoint":"https://x.y/sql"}',
    '{"url":"postgres://u:pw9@h.x/d","endpoint":"http://db.example/sql"}',
    '{"url":"postgres://u:pw9@h.x/d","endpoint":"http://127.0.0.1.example/sql"}',
    '{"url":"postgres://u:pw9@h.x/d","endpoint":"ftp://h.x/sql"}',
    '{"url":"postgres://u:pw9@h.x/d","endpoint":7}',
  ]) {
    it(`is refused without being shown: ${secret}`, () => {
      const error = thrown(() => parseDatasourceSecret(secret));
      expect([error.status, error.code]).toEqual([502, 'datasource_failed']);
      expect(`${error.message} ${error.hint}`).not.toMatch(/pw9/);
    });
  }
});

describe('the endpoint', () => {
  it('is https, or http on loopback', () => {
    for (const good of ['https://h.x/sql', 'http://localhost:1/sql', 'http://127.0.0.1:1/sql', 'http://[::1]:1/sql'])
      expect(isSafeAddress(good), good).toBe(true);
    for (const bad of ['http://h.x/sql', 'http://db.localhost/sql', 'http://localhost.x/sql', 'https://u:p@h.x/sql', '//h.x', 'http://127.0.0.1@h.x/sql'])
      expect(isSafeAddress(bad), bad).toBe(false);
  });
});

describe('the header', () => {
  it('keeps the connection string and adds the application name', () => {
    expect(connectionHeader('postgres://u:p%40x@h.x/d?sslmode=require')).toBe('postgresql://u:p%40x@h.x/d?sslmode=require&application_name=svc');
    expect(connectionHeader('postgres://u:p@h.x/d?application_name=mine')).toBe('postgresql://u:p@h.x/d?application_name=mine');
  });
});
