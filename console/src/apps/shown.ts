/** What a page shows: the newest result that the host has sent, with the arguments of its call. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ToolResult } from './answer.ts';
import { connect, type Host } from './host.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export interface Shown {
  /** Another number for each result: what a page asks for about one must not appear with the next. */
  readonly turn: number;
  readonly result: ToolResult;
  readonly args: Arguments;
}

interface State {
  readonly host: Host | null;
  /** Null until there is a result. */
  readonly shown: Shown | null;
  readonly state: 'waiting' | 'cancelled' | 'refused';
}

/** Connects the page to its host. @param name of the page */
export function useShown(name: string): State {
  const [host, setHost] = useState<Host | null>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const [state, setState] = useState<State['state']>('waiting');
  const input = useRef<Arguments>({});
  useEffect(() => {
    const listener = {
      onInput: (args: Arguments) => {
        input.current = args;
      },
      onResult: (result: ToolResult) => setShown((before) => ({ turn: (before?.turn ?? 0) + 1, result, args: input.current })),
      onCancelled: () => setState('cancelled'),
    };
    connect(name, listener).then(setHost, () => setState('refused'));
  }, []);
  return { host, shown, state };
}
