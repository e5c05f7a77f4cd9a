/** Small parts that several views use. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Failure } from '../api/http.ts';
import { texts } from '../texts.ts';
import { visible } from './visible.ts';

export const Loading = ({ text = texts.loading as string }: { readonly text?: string }) => (
  <p class="loading" role="status">
    {text}
    <span aria-hidden="true" class="dots" />
  </p>
);

/** An error of the service: message, hint and place. @param sql the text that the position refers to */
export function FailureBox({
  failure,
  sql,
  retry,
  children,
}: {
  readonly failure: Failure;
  readonly sql?: string;
  readonly retry?: () => void;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="failure" role="alert">
      <p class="message">{failure.message}</p>
      {failure.hint !== null && (
        <p class="hint">
          <b>{texts.hint}</b> {failure.hint}
        </p>
      )}
      <p class="detail">
        <code>{failure.code}</code>
        {failure.position !== null && sql !== undefined && <span> {lineAndColumn(sql, failure.position)}</span>}
      </p>
      {children}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          {texts.retry}
        </button>
      )}
    </div>
  );
}

function lineAndColumn(sql: string, position: number): string {
  const before = [...sql].slice(0, position - 1);
  const line = before.filter((character) => character === '\n').length + 1;
  return texts.failure.at(line, before.length - before.lastIndexOf('\n'));
}

/** A button that copies a text. */
export function Copy({ text, label = texts.copy }: { readonly text: string | (() => string); readonly label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="plain" onClick={() => void copy()}>
      <span aria-live="polite">{done ? texts.copied : label}</span>
    </button>
  );
}

/** Offers a file for download. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

interface TextProps {
  readonly text: string;
}

/** A statement in a line, with codes for hidden characters. */
export const Line = ({ text }: TextProps) => <code>{visible(text)}</code>;

/** Statements in a box, with codes for hidden characters. */
export const Code = ({ text }: TextProps) => (
  <pre class="code" tabIndex={0}>
    <Line text={text} />
  </pre>
);
