/** The frame of the console: header, navigation, and the view of the current place. */
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { identifier, product, seenAs } from './api/http.ts';
import { credential, logOut, signedIn } from './api/session.ts';
import { asksQuestions } from './ask/available.ts';
import { model, modelFailure, reloadModel } from './model/current.ts';
import { Code, FailureBox, Loading } from './parts/basics.tsx';
import { setTheme, THEMES, theme } from './parts/theme.ts';
import { hashOf, place, VIEWS, type View } from './router.ts';
import { texts } from './texts.ts';
import { Ontologies } from './views/ontologies.tsx';
import { SignIn } from './views/sign-in.tsx';

/** The views, each loaded when it is first opened. */
const LOADERS: Record<View, () => Promise<{ readonly default: ComponentType }>> = {
  model: () => import('./views/model.tsx'),
  data: () => import('./views/data.tsx'),
  query: () => import('./views/query.tsx'),
  ask: () => import('./views/ask.tsx'),
  edit: () => import('./views/edit.tsx'),
  access: () => import('./views/access.tsx'),
  connect: () => import('./views/connect.tsx'),
};

export function App() {
  const { ontology, view } = place.value;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {texts.skip}
      </button>
      <Header />
      {signedIn.value && ontology !== null && <Navigation ontology={ontology} current={view} />}
      <main id="content" tabIndex={-1} class={signedIn.value && ontology !== null ? 'view' : 'page'}>
        {!signedIn.value ? <SignIn /> : ontology === null ? <Ontologies /> : <Current key={ontology} view={view} />}
      </main>
      {(!signedIn.value || ontology === null) && (
        <footer>
          <Pages />
        </footer>
      )}
    </>
  );
}

function Header() {
  const { ontology } = place.value;
  return (
    <header class="top">
      <a class="brand" href={hashOf({ ontology: null })}>
        {product}
      </a>
      {ontology !== null && signedIn.value && (
        <nav class="crumbs" aria-label={texts.ontologies.title}>
          <a href={hashOf({ ontology: null })}>{texts.ontologies.title}</a>
          <span aria-hidden="true">/</span>
          <span class="current" title={ontology}>
            {ontology}
          </span>
        </nav>
      )}
      <span class="grow" />
      {seenAs.value !== null && signedIn.value && (
        <span class="seen" role="status">
          {texts.access.seenAs(seenAs.value)}
          <button type="button" onClick={() => (seenAs.value = null)}>
            {texts.access.stop}
          </button>
        </span>
      )}
      <label class="theme">
        <span class="hidden">{texts.theme.label}</span>
        <select value={theme.value} onChange={(e) => setTheme(e.currentTarget.value as (typeof THEMES)[number])}>
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {texts.theme[name]}
            </option>
          ))}
        </select>
      </label>
      {credential.value !== null && (
        <>
          <span class="user" title={credential.value.user === null ? texts.session.byToken : texts.session.user(credential.value.user)}>
            {credential.value.user ?? texts.session.byToken}
          </span>
          <button type="button" class="plain" onClick={() => void logOut()}>
            {texts.session.out}
          </button>
        </>
      )}
    </header>
  );
}

function Navigation({ ontology, current }: { readonly ontology: string; readonly current: View }) {
  const tabs = useRef<HTMLElement>(null);
  // on a small screen not all views fit
  useEffect(() => tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [current]);
  return (
    <nav ref={tabs} class="tabs" aria-label={texts.navigation}>
      {VIEWS.filter((view) => view !== 'ask' || asksQuestions.value === true).map((view) => (
        <a key={view} href={hashOf({ ontology, view })} aria-current={view === current ? 'page' : undefined}>
          {texts.views[view]}
        </a>
      ))}
      <span class="grow" />
      <Pages />
    </nav>
  );
}

/** Links to the pages of the service. */
const Pages = () => (
  <>
    <a href={`/${product}/oauth/grants`}>{texts.connect.grants}</a>
    <a href={`/${product}/api/docs`}>{texts.connect.docs}</a>
  </>
);

/** An ontology that the user may not see is answered like one that does not exist. */
const NoRight = () => (
  <>
    <p>{texts.ontologies.noRight}</p>
    <Code
      text={`GRANT QUERY ON ALL ontology.${identifier(place.value.ontology ?? '')} TO USER ${identifier(seenAs.value ?? credential.value?.user ?? 'you')}`}
    />
  </>
);

/** The current view, once its script and the model are loaded. */
function Current({ view }: { readonly view: View }) {
  const [loaded, setLoaded] = useState<{ readonly view: View; readonly Content: ComponentType } | null>(null);
  const [failed, setFailed] = useState(0);
  useEffect(() => {
    let current = true;
    LOADERS[view]()
      .then(({ default: Content }) => current && setLoaded({ view, Content }))
      // a new release has other files: the page itself must be loaded again
      .catch(() => current && (failed === 0 ? setFailed(1) : location.reload()));
    return () => {
      current = false;
    };
  }, [view, failed]);
  if (modelFailure.value !== null)
    return (
      <FailureBox failure={modelFailure.value} retry={() => void reloadModel()}>
        {modelFailure.value.code === 'unknown_ontology' && <NoRight />}
      </FailureBox>
    );
  if (model.value === null || loaded?.view !== view) return <Loading />;
  return <loaded.Content />;
}
