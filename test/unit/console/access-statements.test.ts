/** Statements that the console's access view runs: hostile names, and texts that are not grantees. */
import { describe, expect, it } from 'vitest';
import { grant, mask, resourceOf, revoke, rowPolicy } from '../../../console/src/access/statements.ts';
import { parseStatement } from '../../../src/language/classify.ts';
import { splitScript } from '../../../src/language/split.ts';

const NAMES = [
  'hr.concept.salary',
  'a"b',
  'a`b',
  'x; GRANT ROLE admin TO USER mallory; --',
  'o.concept.c. FROM USER m; DROP ROLE r; --',
  '/* c',
  '$$',
] as const;

describe('statements of the access view', () => {
  it.each(NAMES)('grants on the object with the name %s, and on no other', (name) => {
    for (const concept of [null, name]) {
      const text = grant({ privilege: 'QUERY', resource: resourceOf(name, concept), isAll: false, kind: 'user', grantee: name }) ?? '';
      expect(splitScript(text)).toHaveLength(1);
      const parsed = parseStatement({ text, offset: 0 });
      expect(parsed.kind === 'grant' && parsed.resource.map((part) => part.text)).toEqual(
        concept === null ? ['ontology', name] : ['ontology', name, 'concept', name],
      );
      expect(parsed.kind === 'grant' && parsed.grantee.name.text).toBe(name);
    }
  });

  it('revokes a grant by the resource as the service writes it', () => {
    const text = revoke({ privilege: 'EDIT', resource: 'ontology.`a.concept.b`', isAll: true, kind: 'role', grantee: 'a.b' });
    const parsed = parseStatement({ text, offset: 0 });
    expect(parsed.kind === 'revoke' && parsed.resource.map((part) => part.text)).toEqual(['ontology', 'a.concept.b']);
  });

  it.each(['ann', 'usr ann', 'role', 'user', ''])('takes the grantee %j of a policy not for PUBLIC', (grantee) => {
    expect(rowPolicy('p', 'customer', grantee, 'true')).toBeNull();
    if (grantee !== '') expect(mask('p', 'name', 'NULL', grantee)).toBeNull();
  });

  it('names PUBLIC, users and roles', () => {
    expect(rowPolicy('p', 'customer', ' public ', 'true')).toBe('CREATE POLICY "p" ON CONCEPT "customer" TO PUBLIC USING (true)');
    expect(rowPolicy('p', 'customer', 'role a b', 'true')).toBe('CREATE POLICY "p" ON CONCEPT "customer" TO ROLE "a b" USING (true)');
    expect(mask('p', 'name', 'NULL', '')).toBe('CREATE POLICY "p" ON PROPERTY "name" MASK NULL');
  });
});
