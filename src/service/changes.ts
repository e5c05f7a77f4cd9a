/**
 * Statements of the whole service (docs/design/statements-and-versions.md#classes-of-statements): ontologies, datasources, agents, examples, users, tokens,
 * grants, policies.
 */
import type { OntologyRow } from '../catalog/snapshot.ts';
import type { Name, ServiceStatement } from '../language/statements.ts';
import { createAgent, dropAgent } from './changes/agents.ts';
import { Changing, type Done, type Session } from './changes/context.ts';
import { alterDatasource, createDatasource, dropDatasource } from './changes/datasources.ts';
import { createExample, dropExample } from './changes/examples.ts';
import { grant, refreshPermissions, revoke } from './changes/grants.ts';
import { createOntology, dropOntology } from './changes/ontologies.ts';
import { createPolicy, dropPolicy } from './changes/policies.ts';
import { createRole, dropRole, grantRole, revokeRole } from './changes/roles.ts';
import { createToken, revokeToken } from './changes/tokens.ts';
import { alterUser, createUser, dropUser } from './changes/users.ts';

export type { Done, Session } from './changes/context.ts';

export class Changes {
  readonly #context: Changing;

  constructor(session: Session) {
    this.#context = new Changing(session);
  }

  /** An ontology named by a statement. @throws SvcError 400 `unknown_ontology` */
  ontology(name: Name): OntologyRow {
    return this.#context.ontology(name);
  }

  /** @throws SvcError 400 as the statement deserves, 403 without the right */
  apply(statement: ServiceStatement): Promise<Done> {
    const context = this.#context;
    switch (statement.kind) {
      case 'create_ontology':
        return createOntology(context, statement);
      case 'drop_ontology':
        return dropOntology(context, statement);
      case 'create_datasource':
        return createDatasource(context, statement);
      case 'drop_datasource':
        return dropDatasource(context, statement);
      case 'alter_ontology_datasource':
        return alterDatasource(context, statement);
      case 'create_agent':
        return createAgent(context, statement);
      case 'drop_agent':
        return dropAgent(context, statement);
      case 'create_example':
        return createExample(context, statement);
      case 'drop_example':
        return dropExample(context, statement);
      case 'create_user':
        return createUser(context, statement);
      case 'create_token':
        return createToken(context, statement);
      case 'revoke_token':
        return revokeToken(context, statement);
      case 'grant':
        return grant(context, statement);
      case 'revoke':
        return revoke(context, statement);
      case 'refresh_permissions':
        return refreshPermissions(context, statement);
      case 'alter_user':
        return alterUser(context, statement);
      case 'drop_user':
        return dropUser(context, statement);
      case 'create_role':
        return createRole(context, statement);
      case 'drop_role':
        return dropRole(context, statement);
      case 'grant_role':
        return grantRole(context, statement);
      case 'revoke_role':
        return revokeRole(context, statement);
      case 'create_policy':
        return createPolicy(context, statement);
      case 'drop_policy':
        return dropPolicy(context, statement);
    }
  }
}
