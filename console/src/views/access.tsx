/** The access view: users, roles, grants, tokens and policies as tables, forms that show the statements they run, and "see as". */
import { useState } from 'preact/hooks';
import { Changes } from '../access/changes.tsx';
import { Choice, Field, Secret, StatementForm } from '../access/statement-form.tsx';
import { createRole, createToken, createUser, dropPolicy, grant, grantRole, mask, resourceOf, revoke, revokeRole, rowPolicy } from '../access/statements.ts';
import { AccessTable } from '../access/table.tsx';
import { Tokens } from '../access/tokens.tsx';
import { eyes, product, query, seenAs } from '../api/http.ts';
import { model } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { useAnswer } from '../parts/attempt.ts';
import { Code, Copy, FailureBox, Loading } from '../parts/basics.tsx';
import { Restrictions } from '../parts/restrictions.tsx';
import { texts } from '../texts.ts';

type Values = Readonly<Record<string, unknown>>;

/** What the view shows. */
interface Access {
  readonly users: readonly Values[];
  readonly roles: readonly Values[];
  readonly grants: readonly Values[];
  readonly policies: readonly Values[];
}

async function load(ontology: string): Promise<Access> {
  const list = (table: string, of: string | null): Promise<readonly Values[]> => query<Values>(of, `SELECT * FROM ${product}.${table}`);
  const [users, roles, grants, policies] = await Promise.all([
    list('SYS_USERS', null),
    list('SYS_ROLES', null),
    list('SYS_GRANTS', null),
    list('SYS_POLICIES', ontology),
  ]);
  return { users, roles, grants, policies };
}

export default function AccessPage() {
  return model.value === null ? null : <Page model={model.value} />;
}

function Page({ model: m }: { readonly model: Model }) {
  const { answer: access, failure, again } = useAnswer(() => load(m.name), [m.name, eyes.value]);
  if (failure !== null) return <FailureBox failure={failure} retry={again} />;
  if (access === null) return <Loading />;
  const userNames = access.users.map((u) => String(u.user_name));
  const roleNames = [...new Set(access.roles.map((r) => String(r.role_name)))];
  return (
    <div class="access">
      <h1>{texts.access.title}</h1>
      <datalist id="user-names">
        {userNames.map((n) => (
          <option key={n} value={n} />
        ))}
      </datalist>
      <SeeAs names={userNames} />
      <section>
        <h2>{texts.access.users}</h2>
        <AccessTable
          caption={texts.access.users}
          columns={['user_name', 'email', 'tenant', 'active', 'created']}
          rows={access.users}
          ontology={null}
          onDone={again}
        />
        <NewUser onDone={again} />
        <NewToken />
        <Tokens />
      </section>
      <section>
        <h2>{texts.access.roles}</h2>
        <AccessTable
          caption={texts.access.roles}
          columns={['role_name', 'user_name']}
          rows={access.roles}
          ontology={null}
          action={{ label: texts.access.remove, statement: (r) => (r.user_name == null ? null : revokeRole(String(r.role_name), String(r.user_name))) }}
          onDone={again}
        />
        <NewRole onDone={again} />
        <NewMember roles={roleNames} onDone={again} />
      </section>
      <section>
        <h2>{texts.access.grants}</h2>
        <AccessTable
          caption={texts.access.grants}
          columns={['grantee_type', 'grantee', 'privilege', 'resource', 'is_all', 'grant_option']}
          rows={access.grants}
          ontology={null}
          action={{
            label: texts.access.revoke,
            statement: (g) =>
              revoke({
                privilege: String(g.privilege),
                resource: String(g.resource),
                isAll: g.is_all === true,
                kind: String(g.grantee_type),
                grantee: String(g.grantee),
              }),
          }}
          onDone={again}
        />
        <NewGrant ontology={m.name} concepts={[...m.concepts.keys()]} onDone={again} />
      </section>
      <section>
        <h2>{texts.access.policies}</h2>
        <h3>{texts.restrictions.own}</h3>
        <Restrictions model={m} name={null} />
        <p class="muted">{texts.restrictions.unnamed}</p>
        {access.policies.length === 0 ? (
          <p class="muted">{texts.access.noPolicies}</p>
        ) : (
          <AccessTable
            caption={texts.access.policies}
            columns={['policy_name', 'kind', 'concept', 'property', 'grantees', 'definition']}
            rows={access.policies}
            ontology={m.name}
            action={{ label: texts.access.remove, statement: (p) => dropPolicy(String(p.policy_name)) }}
            onDone={again}
          />
        )}
        <NewRowPolicy model={m} onDone={again} />
        <NewMask model={m} onDone={again} />
      </section>
      <section>
        <h2>{texts.changes.title}</h2>
        <Changes ontology={m.name} />
      </section>
    </div>
  );
}

/** Shows the console with the eyes of another user. */
function SeeAs({ names }: { readonly names: readonly string[] }) {
  const [name, setName] = useState('');
  return (
    <form
      class="card"
      onSubmit={(e) => {
        e.preventDefault();
        if (name.trim() !== '') seenAs.value = name.trim();
      }}
    >
      <p>{texts.access.seeAsHelp}</p>
      <p class="actions">
        <label>
          {texts.access.user} <input list="user-names" value={name} onInput={(e) => setName(e.currentTarget.value)} autocomplete="off" placeholder={names[0]} />
        </label>
        <button type="submit" disabled={name.trim() === ''}>
          {texts.access.seeAs}
        </button>
      </p>
    </form>
  );
}

function NewUser({ onDone }: { onDone(): void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [email, setEmail] = useState('');
  const statement = createUser(name, password, email);
  return (
    <StatementForm
      title={texts.access.newUser}
      ontology={null}
      statement={statement}
      shown={createUser(name, password === '' ? '' : '\u2022'.repeat(8), email) ?? undefined}
      onDone={() => {
        setPassword('');
        onDone();
      }}
    >
      <Field label={texts.access.user} value={name} set={setName} />
      <Secret label={texts.access.password} value={password} set={setPassword} />
      <Field label={texts.access.email} value={email} set={setEmail} />
    </StatementForm>
  );
}

function NewToken() {
  const [user, setUser] = useState('');
  const [label, setLabel] = useState('');
  const [days, setDays] = useState('30');
  const [token, setToken] = useState<string | null>(null);
  return (
    <StatementForm
      title={texts.connect.makeToken}
      ontology={null}
      statement={createToken(user, label, Number(days), Date.now())}
      onDone={([row]) => setToken(String(row?.token ?? ''))}
    >
      <Field label={texts.access.user} value={user} set={setUser} list="user-names" />
      <Field label={texts.access.label} value={label} set={setLabel} />
      <Choice label={texts.access.days} value={days} options={['1', '7', '30', '90']} set={setDays} />
      {token !== null && (
        <div role="status">
          <p>{texts.connect.made}</p>
          <Code text={token} />
          <Copy text={token} />
        </div>
      )}
    </StatementForm>
  );
}

function NewRole({ onDone }: { onDone(): void }) {
  const [name, setName] = useState('');
  return (
    <StatementForm title={texts.access.newRole} ontology={null} statement={createRole(name)} onDone={onDone}>
      <Field label={texts.access.role} value={name} set={setName} />
    </StatementForm>
  );
}

function NewMember({ roles, onDone }: { readonly roles: readonly string[]; onDone(): void }) {
  const [role, setRole] = useState('');
  const [user, setUser] = useState('');
  return (
    <StatementForm title={texts.access.addMember} ontology={null} statement={grantRole(role, user)} onDone={onDone}>
      <Choice label={texts.access.role} value={role} options={['', ...roles]} set={setRole} />
      <Field label={texts.access.user} value={user} set={setUser} list="user-names" />
    </StatementForm>
  );
}

function NewGrant({ ontology, concepts, onDone }: { readonly ontology: string; readonly concepts: readonly string[]; onDone(): void }) {
  const [privilege, setPrivilege] = useState('QUERY');
  const [concept, setConcept] = useState('');
  const [kind, setKind] = useState('user');
  const [grantee, setGrantee] = useState('');
  const resource = resourceOf(ontology, concept === '' ? null : concept);
  return (
    <StatementForm
      title={texts.access.newGrant}
      ontology={null}
      statement={grant({ privilege, resource, isAll: concept === '', kind, grantee })}
      onDone={onDone}
    >
      <Choice label={texts.access.privilege} value={privilege} options={['QUERY', 'EDIT', 'ACCESS']} set={setPrivilege} />
      <Choice label={texts.access.onConcept} value={concept} options={['', ...concepts]} set={setConcept} />
      <Choice label={texts.access.to} value={kind} options={['user', 'role']} set={setKind} />
      <Field label={texts.access.name} value={grantee} set={setGrantee} {...(kind === 'user' ? { list: 'user-names' } : {})} />
    </StatementForm>
  );
}

function NewRowPolicy({ model: m, onDone }: { readonly model: Model; onDone(): void }) {
  const [name, setName] = useState('');
  const [concept, setConcept] = useState('');
  const [grantee, setGrantee] = useState('PUBLIC');
  const [condition, setCondition] = useState('');
  return (
    <StatementForm title={texts.access.newRowPolicy} ontology={m.name} statement={rowPolicy(name, concept, grantee, condition)} onDone={onDone}>
      <Field label={texts.access.name} value={name} set={setName} />
      <Choice label={texts.access.concept} value={concept} options={['', ...m.concepts.keys()]} set={setConcept} />
      <Field label={texts.access.grantee} value={grantee} set={setGrantee} />
      <Field label={texts.access.condition} value={condition} set={setCondition} />
    </StatementForm>
  );
}

function NewMask({ model: m, onDone }: { readonly model: Model; onDone(): void }) {
  const [name, setName] = useState('');
  const [property, setProperty] = useState('');
  const [how, setHow] = useState('NULL');
  const [except, setExcept] = useState('');
  return (
    <StatementForm title={texts.access.newMask} ontology={m.name} statement={mask(name, property, how, except)} onDone={onDone}>
      <Field label={texts.access.name} value={name} set={setName} />
      <Choice label={texts.access.property} value={property} options={['', ...Object.keys(m.detail.properties).sort()]} set={setProperty} />
      <Field label={texts.access.how} value={how} set={setHow} />
      <Field label={texts.access.except} value={except} set={setExcept} />
    </StatementForm>
  );
}
