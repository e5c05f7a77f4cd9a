/**
 * The syntax trees of all statements that a request may contain (docs/design/statements-and-versions.md#classes-of-statements). Each node has the span of its
 * statement in the whole text of the request. Names have their own offsets, so that errors can point to them.
 */
import type { Transitivity } from '../ontology/model.ts';
import type { AlterJob, CachingStatement, CreateJob, DropJob, RunJob } from './statements-of-jobs.ts';

/** A name without quotes, with its start in the whole text (0-based UTF-16 offset). */
export interface Name {
  readonly text: string;
  readonly offset: number;
}

/** A call or type of another SQL dialect, and what PostgreSQL has for it. */
export interface Translation {
  readonly offset: number;
  readonly from: string;
  readonly to: string;
}

/** A piece of the caller's SQL, with its start in the whole text: verbatim, except for translations. */
export interface SqlText {
  readonly text: string;
  readonly offset: number;
  readonly translations?: readonly Translation[];
}

/** One statement of a script: its text without the semicolon, with its start in the whole text. */
export interface Source {
  readonly text: string;
  readonly offset: number;
}

export type TagList = readonly { readonly key: Name; readonly value: string }[];

export type Statement = ModelStatement | ServiceStatement | ReadStatement;

/** Statements that change one ontology and create a version. */
export type ModelStatement =
  | CreateProperty
  | CreateMeasure
  | CreateConcept
  | CreateMapping
  | CreateView
  | AlterTag
  | AlterOntology
  | DropObject
  | RollbackOntology;

/** Statements that concern the whole service. */
export type ServiceStatement =
  | CreateOntology
  | DropOntology
  | CreateDatasource
  | DropDatasource
  | AlterOntologyDatasource
  | CachingStatement
  | CreateJob
  | AlterJob
  | RunJob
  | DropJob
  | CreateAgent
  | DropAgent
  | CreateExample
  | DropExample
  | CreateUser
  | CreateToken
  | RevokeToken
  | AlterUser
  | DropUser
  | CreateRole
  | DropRole
  | GrantRole
  | RevokeRole
  | Grant
  | Revoke
  | RefreshPermissions
  | CreatePolicy
  | DropPolicy;

export type ReadStatement = Select | Show | Describe | Explain;

export interface Base {
  readonly source: Source;
  /** True for CREATE ... IF NOT EXISTS: an object with that name stays as it is. */
  readonly ifNotExists?: true;
}

export interface CreateOntology extends Base {
  readonly kind: 'create_ontology';
  /** True: an existing ontology gets the description, and keeps its content. */
  readonly replace: boolean;
  readonly name: Name;
  readonly description: string | null;
}
export interface DropOntology extends Base {
  readonly kind: 'drop_ontology';
  readonly name: Name;
}
/** ALTER ONTOLOGY n SET DESCRIPTION|key = 't' */
export interface AlterOntology extends Base {
  readonly kind: 'alter_ontology';
  readonly name: Name;
  /** `description`, or the key of a setting. */
  readonly key: Name;
  readonly value: string;
}
export interface AlterOntologyDatasource extends Base {
  readonly kind: 'alter_ontology_datasource';
  readonly name: Name;
  readonly action: 'add' | 'remove' | 'activate';
  /** True for ADD ... IF NOT EXISTS of an attached datasource, and REMOVE ... IF EXISTS: nothing changes if nothing has to. */
  readonly lenient: boolean;
  readonly datasource: Name;
}
export interface CreateDatasource extends Base {
  readonly kind: 'create_datasource';
  readonly replace: boolean;
  readonly name: Name;
  readonly type: Name;
  readonly secret: { readonly text: string; readonly offset: number };
  readonly options: TagList;
}
export interface DropDatasource extends Base {
  readonly kind: 'drop_datasource';
  readonly name: Name;
}
export interface CreateAgent extends Base {
  readonly kind: 'create_agent';
  readonly replace: boolean;
  readonly name: Name;
  readonly ontologies: readonly Name[];
  readonly description: string | null;
  readonly options: TagList;
}
export interface DropAgent extends Base {
  readonly kind: 'drop_agent';
  readonly name: Name;
}

/** The text of a question, and the offset of its opening quote. */
export interface Question {
  readonly text: string;
  readonly offset: number;
}
export interface CreateExample extends Base {
  readonly kind: 'create_example';
  readonly replace: boolean;
  readonly question: Question;
  readonly description: string | null;
  readonly sql: SqlText;
}
export interface DropExample extends Base {
  readonly kind: 'drop_example';
  readonly question: Question;
}

export interface CreateProperty extends Base {
  readonly kind: 'create_property';
  readonly replace: boolean;
  readonly name: Name;
  readonly multi: boolean;
  /** As written; ontology/types.ts makes it canonical. */
  readonly type: Name;
  readonly description: string | null;
  readonly tags: TagList;
  readonly expression: SqlText | null;
}
export interface CreateMeasure extends Base {
  readonly kind: 'create_measure';
  readonly replace: boolean;
  readonly name: Name;
  readonly type: Name;
  readonly description: string | null;
  readonly tags: TagList;
  readonly expression: SqlText;
  readonly filter: SqlText | null;
}

export type ConceptElement =
  | { readonly kind: 'property'; readonly name: Name; readonly type: Name }
  | { readonly kind: 'measure'; readonly name: Name; readonly type: Name }
  | { readonly kind: 'primary_key'; readonly offset: number; readonly names: readonly Name[] }
  | { readonly kind: 'label'; readonly offset: number; readonly names: readonly Name[] }
  | { readonly kind: 'multivalue'; readonly name: Name; readonly type: Name }
  | {
      readonly kind: 'foreign_key';
      readonly name: Name;
      readonly source: readonly Name[];
      readonly target: Name;
      readonly references: readonly Name[];
      readonly inverse: Name | null;
      readonly transitive: Transitivity;
      readonly symmetric: boolean;
      readonly includes: readonly Name[];
      readonly description: string | null;
    }
  | {
      readonly kind: 'multireference';
      readonly name: Name;
      readonly target: Name;
      readonly inverse: Name | null;
      readonly transitive: Transitivity;
      readonly symmetric: boolean;
      readonly includes: readonly Name[];
      readonly description: string | null;
    };

export interface CreateConcept extends Base {
  readonly kind: 'create_concept';
  readonly replace: boolean;
  readonly name: Name;
  readonly elements: readonly ConceptElement[];
  readonly parents: readonly Name[];
  readonly description: string | null;
  readonly tags: TagList;
  readonly logic: { readonly schema: Name | null; readonly concept: Name; readonly condition: SqlText } | null;
}

export interface LinkConstraint {
  readonly relationship: Name;
  readonly columns: readonly Name[];
  readonly concept: Name;
  readonly references: readonly Name[];
}
export interface CreateMapping extends Base {
  readonly kind: 'create_mapping';
  readonly replace: boolean;
  readonly name: Name;
  readonly target:
    | { readonly kind: 'concept'; readonly concept: Name }
    | { readonly kind: 'multi'; readonly concept: Name; readonly property: Name }
    | { readonly kind: 'link'; readonly constraints: readonly [LinkConstraint, LinkConstraint] };
  readonly datasource: Name | null;
  readonly sql: SqlText;
}
export interface CreateView extends Base {
  readonly kind: 'create_view';
  readonly replace: boolean;
  readonly name: Name;
  readonly cube: boolean;
  readonly datasource: Name | null;
  readonly description: string | null;
  readonly tags: TagList;
  readonly sql: SqlText;
}
export interface AlterTag extends Base {
  readonly kind: 'alter_tag';
  readonly object: 'concept' | 'property' | 'view';
  readonly name: Name;
  readonly action: 'update' | 'remove';
  readonly key: Name;
  readonly value: string | null;
}
export interface DropObject extends Base {
  readonly kind: 'drop';
  readonly object: 'concept' | 'property' | 'measure' | 'mapping' | 'view' | 'cube';
  readonly name: Name;
}
export interface RollbackOntology extends Base {
  readonly kind: 'rollback';
  readonly name: Name;
  readonly version: { readonly text: string; readonly offset: number };
}

export interface CreateUser extends Base {
  readonly kind: 'create_user';
  /** True: an existing user gets the password and the options, and keeps its tokens and rights. */
  readonly replace: boolean;
  readonly name: Name;
  readonly password: string | null;
  readonly options: TagList;
}
export interface CreateToken extends Base {
  readonly kind: 'create_token';
  readonly user: Name;
  /** LABEL 'text': what the token is for. */
  readonly label: { readonly text: string; readonly offset: number } | null;
  /** EXPIRES 'ts', as written. */
  readonly expires: { readonly text: string; readonly offset: number } | null;
  /** SHOW TOKEN FOR u: makes a token only if the user has no others, and else lists them. */
  readonly ifNone?: boolean;
}
export interface RevokeToken extends Base {
  readonly kind: 'revoke_token';
  /** The `token_id` that CREATE TOKEN and SHOW TOKEN return. */
  readonly id: { readonly text: string; readonly offset: number };
}
/** GRANT {EDIT|QUERY|ACCESS} ON [ALL] resource TO {USER|ROLE} x [WITH GRANT OPTION], GRANT AUTH ON user.<other> TO USER x */
export interface Grant extends Base {
  readonly kind: 'grant';
  readonly privilege: 'edit' | 'query' | 'access' | 'auth';
  readonly all: boolean;
  /** The resource's parts: `ontology.store.concept.city` is ['ontology','store','concept','city']. */
  readonly resource: readonly Name[];
  readonly grantee: { readonly kind: 'user' | 'role'; readonly name: Name };
  readonly grantOption: boolean;
}

/** The same with FROM {USER|ROLE} x. */
export interface Revoke extends Base {
  readonly kind: 'revoke';
  readonly privilege: Grant['privilege'];
  readonly all: boolean;
  readonly resource: readonly Name[];
  readonly grantee: Grant['grantee'];
}
export interface AlterUser extends Base {
  readonly kind: 'alter_user';
  readonly name: Name;
  readonly setting: 'password' | 'email' | 'active';
  readonly value: { readonly text: string; readonly offset: number };
}
export interface DropUser extends Base {
  readonly kind: 'drop_user';
  readonly name: Name;
}
export interface CreateRole extends Base {
  readonly kind: 'create_role';
  /** True: an existing role stays as it is, because a role has only a name. */
  readonly replace: boolean;
  readonly name: Name;
}
export interface DropRole extends Base {
  readonly kind: 'drop_role';
  readonly name: Name;
}
export interface GrantRole extends Base {
  readonly kind: 'grant_role';
  readonly role: Name;
  readonly user: Name;
}
export interface RevokeRole extends Base {
  readonly kind: 'revoke_role';
  readonly role: Name;
  readonly user: Name;
}
export interface RefreshPermissions extends Base {
  readonly kind: 'refresh_permissions';
}

/** A user or role in a policy. */
export interface PolicyGrantee {
  readonly kind: 'user' | 'role';
  readonly name: Name;
}
/** The replacement that a mask makes for a value. */
export type MaskClause =
  | { readonly kind: 'full' | 'hash' | 'null'; readonly offset: number }
  | { readonly kind: 'partial'; readonly offset: number; readonly first: number; readonly filler: string; readonly last: number }
  | { readonly kind: 'with'; readonly offset: number; readonly expression: SqlText };
/** CREATE POLICY n ON CONCEPT ... | ON PROPERTY ...; `to` is null for PUBLIC. */
export interface CreatePolicy extends Base {
  readonly kind: 'create_policy';
  readonly replace: boolean;
  readonly name: Name;
  readonly rule:
    | { readonly kind: 'row'; readonly concept: Name; readonly to: PolicyGrantee | null; readonly condition: SqlText }
    | { readonly kind: 'mask'; readonly property: Name; readonly concept: Name | null; readonly mask: MaskClause; readonly except: readonly PolicyGrantee[] };
}
export interface DropPolicy extends Base {
  readonly kind: 'drop_policy';
  readonly name: Name;
}

/** Any SELECT (also WITH, VALUES, TABLE, parenthesized): PostgreSQL's own grammar parses it later. */
export interface Select extends Base {
  readonly kind: 'select';
}
/** SHOW word [words...]: `words` has the texts of the tokens after SHOW. */
export interface Show extends Base {
  readonly kind: 'show';
  readonly words: readonly Name[];
}
export interface Describe extends Base {
  readonly kind: 'describe';
  /** True for DESCRIBE CONCEPT, which also lists the keys. */
  readonly concept: boolean;
  readonly schema: Name | null;
  readonly name: Name;
  readonly options: TagList;
}
export interface Explain extends Base {
  readonly kind: 'explain';
  /** EXPLAIN (LOGICAL): the plan in terms of the ontology, as JSON. */
  readonly logical: boolean;
  readonly query: SqlText;
}
