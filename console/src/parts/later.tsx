/** A component whose script is loaded when it is first drawn. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOf } from '../api/http.ts';
import { FailureBox, Loading } from './basics.tsx';

/** @param load imports the module that has the component as its default */
export function later<P extends object>(load: () => Promise<{ readonly default: ComponentType<P> }>): (props: P) => preact.JSX.Element {
  return function Later(props: P) {
    const [Content, setContent] = useState<ComponentType<P> | null>(null);
    const [failure, setFailure] = useState<Failure | null>(null);
    const start = (): void => {
      setFailure(null);
      load().then(
        ({ default: loaded }) => setContent(() => loaded),
        (error: unknown) => setFailure(failureOf(error)),
      );
    };
    useEffect(start, []);
    if (failure !== null) return <FailureBox failure={failure} retry={start} />;
    return Content === null ? <Loading /> : <Content {...props} />;
  };
}
