/** The concepts of a drawing with their colours. Each opens its settings. */
import { texts } from '../texts.ts';
import type { Look } from './style.ts';

interface Props {
  readonly types: readonly string[];
  readonly open: string | null;
  look(type: string): Look;
  choose(type: string): void;
}

const Dot = ({ colour }: { readonly colour: string }) => <span class="dot" style={{ background: colour }} />;

export const Legend = ({ types, open, look, choose }: Props) => (
  <ul class="legend" aria-label={texts.data.legend}>
    {types.map((type) => {
      const { colour, colours, sizes } = look(type);
      return (
        <li key={type}>
          <button type="button" class="plain" aria-pressed={open === type} title={texts.data.styleOf(type)} onClick={() => choose(type)}>
            {colours.length === 0 && <Dot colour={colour} />}
            {type}
          </button>
          {colours.map((c) => (
            <span key={c.text} class="value" title={c.text}>
              <Dot colour={c.colour} />
              {c.text.slice(0, 24)}
            </span>
          ))}
          {sizes !== null && <span class="value">{texts.data.sizes(...sizes)}</span>}
        </li>
      );
    })}
  </ul>
);
