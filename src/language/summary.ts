/** Statements in one line each, for the list of changes: what they name, without conditions, texts, passwords and secrets. */
import { quoteBack } from './quote.ts';
import type { Name, Statement } from './statements.ts';

const nameText = ({ text }: Name): string => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(text) ? text : quoteBack(text));

/** Summarizes a statement, such as `GRANT QUERY ON ontology.shop TO ROLE sales` or `CREATE CONCEPT customer`. */
export function summaryOf(statement: Statement): string {
  switch (statement.kind) {
    case 'grant':
    case 'revoke': {
      const { privilege, all, resource, grantee } = statement;
      const words = [statement.kind, privilege, 'on', ...(all ? ['all'] : [])].join(' ').toUpperCase();
      const option = statement.kind === 'grant' && statement.grantOption ? ' WITH GRANT OPTION' : '';
      const direction = statement.kind === 'grant' ? 'TO' : 'FROM';
      return `${words} ${resource.map(nameText).join('.')} ${direction} ${grantee.kind.toUpperCase()} ${nameText(grantee.name)}${option}`;
    }
    case 'grant_role':
      return `GRANT ROLE ${nameText(statement.role)} TO USER ${nameText(statement.user)}`;
    case 'revoke_role':
      return `REVOKE ROLE ${nameText(statement.role)} FROM USER ${nameText(statement.user)}`;
    case 'create_token':
      return `CREATE TOKEN FOR ${nameText(statement.user)}`;
    case 'alter_user':
      return `ALTER USER ${nameText(statement.name)} SET ${statement.setting.toUpperCase()}`;
    case 'alter_tag':
      return `ALTER ${statement.object.toUpperCase()} ${nameText(statement.name)} ${statement.action.toUpperCase()} TAG ${nameText(statement.key)}`;
    case 'drop':
      return `DROP ${statement.object.toUpperCase()} ${nameText(statement.name)}`;
    case 'create_policy': {
      const { rule } = statement;
      const grantee = (g: { readonly kind: string; readonly name: Name }): string => `${g.kind.toUpperCase()} ${nameText(g.name)}`;
      const of = rule.concept === null ? '' : `CONCEPT ${nameText(rule.concept)}`;
      if (rule.kind === 'row') return `CREATE POLICY ${nameText(statement.name)} ON ${of} TO ${rule.to === null ? 'PUBLIC' : grantee(rule.to)}`;
      const except = rule.except.length === 0 ? '' : ` EXCEPT ${rule.except.map(grantee).join(', ')}`;
      return `CREATE POLICY ${nameText(statement.name)} ON PROPERTY ${nameText(rule.property)}${of === '' ? '' : ` OF ${of}`} MASK ${rule.mask.kind.toUpperCase()}${except}`;
    }
    default: {
      const words = statement.kind.replaceAll('_', ' ').toUpperCase();
      return 'name' in statement ? `${words} ${nameText(statement.name)}` : words;
    }
  }
}

/** The most characters of `summariesOf`. */
const MOST = 2000;

/** The summaries of statements, at most 2,000 characters. */
export function summariesOf(statements: Iterable<Statement>): string {
  let text = '';
  for (const statement of statements) {
    text += `${text === '' ? '' : '; '}${summaryOf(statement)}`;
    if (text.length > MOST) return `${text.slice(0, MOST - 1).toWellFormed()}\u2026`;
  }
  return text;
}
