/** The statements that the access view runs. Pure. */
import { identifier, literal } from '../api/names.ts';

export const createUser = (name: string, password: string, email: string): string | null =>
  name.trim() === ''
    ? null
    : `CREATE USER ${identifier(name.trim())}${password === '' ? '' : ` PASSWORD ${literal(password)}`}${email.trim() === '' ? '' : ` OPTIONS (email = ${literal(email.trim())})`}`;

export const createRole = (name: string): string | null => (name.trim() === '' ? null : `CREATE ROLE ${identifier(name.trim())}`);

export interface Grant {
  readonly privilege: string;
  /** A resource as statements and SYS_GRANTS write it: names other than plain words are quoted. */
  readonly resource: string;
  readonly isAll: boolean;
  /** `user` or `role`. */
  readonly kind: string;
  readonly grantee: string;
}

/** The resource of an ontology, or of one of its concepts. Names may contain dots, so each is quoted. */
export const resourceOf = (ontology: string, concept: string | null): string =>
  `ontology.${identifier(ontology)}${concept === null ? '' : `.concept.${identifier(concept)}`}`;

export const grant = (g: Grant): string | null =>
  g.grantee.trim() === '' ? null : `GRANT ${g.privilege} ON ${g.isAll ? 'ALL ' : ''}${g.resource} TO ${g.kind.toUpperCase()} ${identifier(g.grantee.trim())}`;

export const revoke = (g: Grant): string =>
  `REVOKE ${g.privilege} ON ${g.isAll ? 'ALL ' : ''}${g.resource} FROM ${g.kind.toUpperCase()} ${identifier(g.grantee)}`;

export const grantRole = (role: string, user: string): string | null =>
  role.trim() === '' || user.trim() === '' ? null : `GRANT ROLE ${identifier(role.trim())} TO USER ${identifier(user.trim())}`;

export const revokeRole = (role: string, user: string): string => `REVOKE ROLE ${identifier(role)} FROM USER ${identifier(user)}`;

export const createToken = (user: string, label: string, days: number, now: number): string | null =>
  user.trim() === ''
    ? null
    : `CREATE TOKEN FOR ${identifier(user.trim())}${label.trim() === '' ? '' : ` LABEL ${literal(label.trim())}`} EXPIRES '${new Date(now + days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z'`;

export const revokeToken = (id: string): string => `REVOKE TOKEN ${literal(id)}`;

export const rowPolicy = (name: string, concept: string, grantee: string, condition: string): string | null =>
  [name, concept, condition].some((t) => t.trim() === '') || granteeText(grantee) === null
    ? null
    : `CREATE POLICY ${identifier(name.trim())} ON CONCEPT ${identifier(concept)} TO ${granteeText(grantee)} USING (${condition.trim()})`;

export const mask = (name: string, property: string, how: string, except: string): string | null =>
  [name, property, how].some((t) => t.trim() === '') || (except.trim() !== '' && granteeText(except) === null)
    ? null
    : `CREATE POLICY ${identifier(name.trim())} ON PROPERTY ${identifier(property)} MASK ${how.trim()}${except.trim() === '' ? '' : ` EXCEPT ${granteeText(except)}`}`;

/** `PUBLIC`, `user ann` or `role sales`; null for anything else, which must not be taken for PUBLIC. */
function granteeText(text: string): string | null {
  if (/^\s*public\s*$/i.test(text)) return 'PUBLIC';
  const [, kind, name = ''] = /^\s*(user|role)\s+(.+?)\s*$/i.exec(text) ?? [];
  return kind === undefined ? null : `${kind.toUpperCase()} ${identifier(name)}`;
}

export const dropPolicy = (name: string): string => `DROP POLICY ${identifier(name)}`;

export const addDatasource = (ontology: string, datasource: string): string =>
  `ALTER ONTOLOGY ${identifier(ontology)} ADD DATASOURCE ${identifier(datasource)}`;
