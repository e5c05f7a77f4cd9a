/**
 * Who uses the console. The credential exists in memory only. With the session of the login page, the console gets API tokens of 15 minutes and renews them while
 * it is used; otherwise the user enters a token or a JWT.
 */
import { computed, signal } from '@preact/signals';
import { texts } from '../texts.ts';
import { Latest } from './latest.ts';

/** A credential: the header that carries it. `form` is the nonce of the login session; null for a pasted credential. */
interface Credential {
  readonly header: 'x-api-key' | 'x-jwt-token';
  readonly value: string;
  readonly user: string | null;
  readonly form: string | null;
}

/** The current credential; null: signed out. */
export const credential = signal<Credential | null>(null);
/** True if two credentials are of one user; a pasted one is its own user. */
export const isSameUser = (a: Credential, b: Credential): boolean => a.user === b.user && (a.user !== null || a.value === b.value);

/** The path of the login page; null if logging in is not configured. */
export const loginPath = signal<string | null>(null);
/** Why the user was signed out, or null if the reason is not shown. */
export const notice = signal<string | null>(null);
export const signedIn = computed(() => credential.value !== null);

/** Called when another user may use the console next: forgets what the last one saw. */
const forgetters: (() => void)[] = [];
let lastUser: string | null = null;

/** Registers a state that is forgotten when the user signs out or another one signs in. */
export const onOtherUser = (forget: () => void): void => void forgetters.push(forget);

/** Notes who uses the console now. After an expired session, the same user finds everything as it was. */
function isNow(user: string): void {
  if (lastUser !== null && lastUser !== user) for (const forget of forgetters) forget();
  lastUser = user;
}

/** Called when a session has expired, and when the same user is back after loading the page again. */
interface Keeper {
  /** What the browser keeps for the user until then, or null to keep nothing. */
  keep(): unknown;
  restore(kept: unknown): void;
}
const keepers = new Map<string, Keeper>();
let returned: Readonly<Record<string, unknown>> = {};
const KEPT = 'console-expired';

/** Registers a state that this tab keeps when a session expires, because logging in loads the page again. Only the same user gets it back. */
export function keepOver(name: string, keeper: Keeper): void {
  keepers.set(name, keeper);
  if (name in returned) keeper.restore(returned[name]);
}

function keepAll(user: string): void {
  const kept = Object.fromEntries([...keepers].map(([name, keeper]) => [name, keeper.keep()]));
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ user, kept }));
  } catch {
    // full, or refused by the browser
  }
}

function restoreAll(user: string): void {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null') as { user: string; kept: Record<string, unknown> } | null;
    sessionStorage.removeItem(KEPT);
    if (stored?.user !== user) return;
    returned = stored.kept;
    for (const [name, keeper] of keepers) if (name in returned) keeper.restore(returned[name]);
  } catch {
    // what another program wrote there
  }
}

const base = (): string => location.pathname.replace(/[^/]*$/, '');

/** Asks the service who is logged in, and gets a token if somebody is. Leaves the user signed out if the service cannot be reached. */
export async function resume(): Promise<void> {
  const answer = await fetch(`${base()}session`, { credentials: 'same-origin' }).catch(() => null);
  if (answer?.ok !== true) return;
  const { user, form_token, login } = (await answer.json()) as { user: string | null; form_token: string | null; login: string | null };
  loginPath.value = login;
  if (user === null || form_token === null) return;
  restoreAll(user);
  await take(form_token);
}

let renewing: Promise<boolean> | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastUse = Date.now();

for (const event of ['pointerdown', 'keydown'] as const) addEventListener(event, () => (lastUse = Date.now()), { capture: true, passive: true });

/** Gets a new token after a 401. False without a session: the user has to sign in again. */
export function renewed(): Promise<boolean> {
  const form = credential.value?.form ?? null;
  if (form === null) return Promise.resolve(false);
  renewing ??= take(form).finally(() => (renewing = null));
  return renewing;
}

/** The request for a token: what it answers after the user has signed out must not sign anybody in. */
const taking = new Latest();

async function take(form: string): Promise<boolean> {
  let isTaken = false;
  await taking.ask(
    () => tokenOf(form),
    (given) => {
      isTaken = given !== null;
      if (given !== null) keepToken(given, form);
    },
    () => undefined,
  );
  return isTaken;
}

interface Given {
  readonly token: string;
  readonly user: string;
  /** In seconds. */
  readonly lifetime: number;
}

async function tokenOf(form: string): Promise<Given | null> {
  const answer = await fetch(`${base()}token`, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ form_token: form }),
  });
  return answer.ok ? ((await answer.json()) as Given) : null;
}

function keepToken({ token, user, lifetime }: Given, form: string): void {
  isNow(`user ${user}`);
  credential.value = { header: 'x-api-key', value: token, user, form };
  notice.value = null;
  clearTimeout(timer);
  const period = lifetime * 1000 * 0.8;
  timer = setTimeout(() => {
    // an idle console lets its token expire; the next request renews it while the session lasts
    if (Date.now() - lastUse < period) void renewed();
  }, period);
}

/** The claims that together name the user of a JWT. */
const NAMING = ['iss', 'sub', 'email', 'username', 'preferred_username', 'tenant_id', 'tenantId', 'tenant', 'tid'];

/** Who a pasted credential is of: a JWT names its user, and any other is its own user. */
function holderOf(value: string): string {
  try {
    const claims = JSON.parse(atob((value.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))) as Readonly<Record<string, unknown>>;
    return typeof claims.sub === 'string' ? JSON.stringify(NAMING.map((name) => claims[name])) : value;
  } catch {
    return value;
  }
}

/** Uses a pasted API token, or a JWT. After a JWT has expired, the next one of the same user finds everything as it was. */
export async function use(text: string): Promise<void> {
  taking.forget();
  sessionStorage.removeItem(KEPT);
  const value = text.trim();
  const header = value.startsWith('tk_') ? 'x-api-key' : 'x-jwt-token';
  const holder = `credential ${holderOf(value)}`;
  if (holder === lastUser && !(await isAccepted(header, value))) {
    // anybody can write such claims
    notice.value = texts.session.refused;
    return;
  }
  isNow(holder);
  credential.value = { header, value, user: null, form: null };
  notice.value = null;
}

const isAccepted = (header: string, value: string): Promise<boolean> =>
  fetch(`${base()}../api/get_ontologies`, { credentials: 'omit', headers: { [header]: value } }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Forgets the credential. @param reason shown on the page to sign in */
export function signOut(reason: string | null = null): void {
  taking.forget();
  clearTimeout(timer);
  const user = credential.value?.user ?? null;
  if (reason !== null && user !== null) keepAll(user);
  credential.value = null;
  notice.value = reason;
}

/** Where the browser stores the statements that a user ran. */
export const historyPlace = (user: string): string => `console-history ${user}`;

/** Logs out: ends the session of the browser, with which the service revokes the console's tokens. */
export async function logOut(): Promise<void> {
  const { form = null, user = null } = credential.value ?? {};
  // their texts may contain values, which the next person at this browser could read
  if (user !== null) localStorage.removeItem(historyPlace(user));
  for (const forget of forgetters) forget();
  lastUser = null;
  returned = {};
  sessionStorage.removeItem(KEPT);
  signOut();
  if (form === null) return;
  await fetch(`${base()}../logout`, {
    method: 'POST',
    credentials: 'same-origin',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ form_token: form }),
  }).catch(() => null);
}
