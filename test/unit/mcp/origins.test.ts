import { describe, expect, it } from 'vitest';
import { allowedOrigin, corsHeaders } from '../../../src/mcp/origins.ts';

const LOCAL = new URL('http://127.0.0.1:8787/');
const PUBLIC = new URL('https://kg.example.com/');

describe('allowedOrigin', () => {
  it('accepts any origin on a public host if the list is *', () => {
    for (const origin of ['https://evil.example', 'http://localhost:1', 'null']) expect(allowedOrigin(['*'], origin, PUBLIC)).toBe('*');
  });

  it('accepts only loopback origins on a loopback host if the list is *', () => {
    for (const origin of ['http://localhost:6274', 'http://127.0.0.1:3000', 'http://[::1]:1', 'https://localhost'])
      expect(allowedOrigin(['*'], origin, LOCAL)).toBe(origin);
    for (const origin of [
      'https://evil.example',
      'http://127.0.0.1.evil.example',
      'http://localhost.evil.example',
      'null',
      'file://localhost',
      '',
      'localhost',
    ])
      expect(allowedOrigin(['*'], origin, LOCAL), origin).toBe(null);
  });

  it('accepts exactly the listed origins, on every host', () => {
    const list = ['https://App.example.com/', 'https://two.example.com:8443'];
    for (const host of [LOCAL, PUBLIC]) {
      for (const origin of ['https://app.example.com', 'https://two.example.com:8443']) expect(allowedOrigin(list, origin, host)).toBe(origin);
      for (const origin of ['http://app.example.com', 'https://two.example.com', 'https://app.example.com.evil.example', 'http://localhost:1', 'null'])
        expect(allowedOrigin(list, origin, host), origin).toBe(null);
    }
  });

  it('never allows credentials', () => {
    expect(corsHeaders('https://a.example')).toEqual({
      'access-control-allow-origin': 'https://a.example',
      'access-control-expose-headers': expect.stringContaining('mcp-session-id'),
      vary: 'origin',
    });
  });
});
