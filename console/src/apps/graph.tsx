/** The page for a result of describe_knowledge_graph: a concept and its neighbours as a graph, with what is known about it. */
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Drawing } from '../data/drawing.tsx';
import type { DataGraph } from '../data/graph.ts';
import { RADIUS } from '../data/style.ts';
import { useAnswer } from '../parts/attempt.ts';
import { texts } from '../texts.ts';
import { listOf, membersOf, type ToolResult, text, textOf } from './answer.ts';
import type { Host } from './host.ts';
import { around, type Concept, type Concepts, conceptsOf, firstOf, linksOf, MOST } from './neighbourhood.ts';
import { type Arguments, useShown } from './shown.ts';
import { own } from './texts.ts';

/** The sections that a drawing needs. */
const SECTIONS = ['ontology', 'relationships'];

const look = (type: string) => ({ fill: () => (type === 'concept' ? 'var(--accent)' : 'var(--logic)'), radius: () => RADIUS, label: () => null });

function Page() {
  const { host, shown, state } = useShown('graph');
  if (shown?.result.isError === true) return <p class="failure">{textOf(shown.result)}</p>;
  const said = { waiting: texts.loading, cancelled: texts.query.cancelled, refused: own.refused };
  if (shown === null || host === null) return <Waiting text={said[state]} />;
  return <Description key={shown.turn} result={shown.result} args={shown.args} host={host} />;
}

const Waiting = ({ text: said }: { readonly text: string }) => (
  <p class="loading" role="status">
    {said}
  </p>
);

/** A description as a drawing, or as its text where the page does not get the sections that a drawing needs. */
function Description({ result, args, host }: { readonly result: ToolResult; readonly args: Arguments; readonly host: Host }) {
  const members = membersOf(result);
  const isWhole = SECTIONS.every((name) => Array.isArray(members[name]));
  // the section `model` is one text: the page asks for the sections that it can draw
  const { answer, failure } = useAnswer(
    async () => (isWhole || host.call === null ? null : host.call('describe_knowledge_graph', { ...ontologyIn(args), include: SECTIONS })),
    [],
  );
  const isMissing = host.call === null || failure !== null || answer?.isError === true;
  const sections = isWhole ? members : answer === null || answer.isError === true ? null : membersOf(answer);
  const concepts = sections === null ? null : conceptsOf(sections);
  if (concepts !== null && concepts.size > 0) return <Graph concepts={concepts} args={args} host={host} isCut={listOfTexts(sections?.truncated).length > 0} />;
  if (concepts === null && !isMissing) return <Waiting text={texts.loading} />;
  return (
    <pre class="code" tabIndex={0}>
      {text(listOf(members.model)[0]?.text) || textOf(result)}
    </pre>
  );
}

const ontologyIn = ({ ontology }: Arguments): Arguments => (typeof ontology === 'string' ? { ontology } : {});
const listOfTexts = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []).map((name) => String(name).trim());

interface Props {
  readonly concepts: Concepts;
  readonly args: Arguments;
  readonly host: Host;
  readonly isCut: boolean;
}

function Graph({ concepts, args, host, isCut }: Props) {
  const links = useMemo(() => linksOf(concepts), [concepts]);
  const [focus, setFocus] = useState(() => firstOf(concepts, links, listOfTexts(args.concepts)) ?? '');
  const [depth, setDepth] = useState(1);
  const [graph, setGraph] = useState<DataGraph>(() => around(concepts, links, focus, depth));
  useEffect(() => setGraph(around(concepts, links, focus, depth)), [concepts, focus, depth]);
  const move = (id: string, x: number, y: number): void =>
    setGraph(({ entities, ...rest }) => ({ ...rest, entities: new Map([...entities].map(([key, e]) => [key, key === id ? { ...e, x, y } : e])) }));
  const concept = concepts.get(focus);
  return (
    <main class="graph">
      <div class="bar">
        <label>
          {texts.data.concept}{' '}
          <select value={focus} onChange={(e) => setFocus(e.currentTarget.value)}>
            {[...concepts.keys()].sort().map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          {texts.model.depth}{' '}
          <select value={depth} onChange={(e) => setDepth(Number(e.currentTarget.value))}>
            {[1, 2].map((n) => (
              <option key={n}>{n}</option>
            ))}
          </select>
        </label>
        <span class="muted">{texts.ontologies.concepts(concepts.size)}</span>
        {graph.entities.size >= MOST && <span class="chip">{own.nearest(MOST)}</span>}
        {isCut && <span class="chip">{own.cut}</span>}
      </div>
      <div class="sides">
        <div class="canvas">
          <Drawing graph={graph} chosen={focus} choose={setFocus} move={move} look={look} />
        </div>
        {concept !== undefined && <Details key={focus} concept={concept} concepts={concepts} args={args} host={host} choose={setFocus} />}
      </div>
    </main>
  );
}

interface DetailsProps extends Omit<Props, 'isCut'> {
  readonly concept: Concept;
  choose(name: string): void;
}

function Details({ concept, concepts, args, host, choose }: DetailsProps) {
  const parents = concept.parents.filter((name) => concepts.has(name));
  const { answer } = useAnswer(async () => {
    const query = `DESC svc."${concept.name.replaceAll('"', '""')}"`;
    return host.call === null ? null : host.call('execute_sql', { ...ontologyIn(args), query });
  }, [concept.name]);
  const found = answer === null || answer.isError === true ? [] : listOf(membersOf(answer).rows);
  const columns = found.filter((c) => !/^entity_(id|type|label)$/.test(text(c.col_name)));
  return (
    <section class="panel" aria-label={concept.name}>
      <h2>{concept.name}</h2>
      {concept.description !== '' && <p>{concept.description}</p>}
      {parents.length > 0 && <p class="muted">{`${texts.model.parents} ${parents.join(', ')}`}</p>}
      {concept.relationships.length > 0 && <h3>{texts.model.relations}</h3>}
      <ul class="facts">
        {concept.relationships.map((r) => (
          <li key={`${r.name} ${r.target}`}>
            {r.name}{' '}
            {concepts.has(r.target) ? (
              <button type="button" class="link" onClick={() => choose(r.target)}>
                {r.target}
              </button>
            ) : (
              r.target
            )}
            {r.isTransitive && <span class="chip">{texts.model.transitive}</span>}
          </li>
        ))}
      </ul>
      {columns.length > 0 && <h3>{texts.model.properties}</h3>}
      <ul class="facts">
        {columns.map((c) => (
          <li key={text(c.col_name)}>
            {text(c.col_name)} <span class="type">{text(c.data_type)}</span>
            {concept.key.split(', ').includes(text(c.col_name)) && <span class="chip">{texts.model.key}</span>}
            {text(c.comment) !== '' && <p>{text(c.comment)}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

render(<Page />, document.body);
