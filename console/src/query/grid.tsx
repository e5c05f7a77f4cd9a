/** A table of any number of rows: only the visible ones are in the page. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cellText, numberOf } from '../api/exact.ts';
import type { Rows } from '../api/rows.ts';
import { texts } from '../texts.ts';

const LINE = 28;
/** The tallest element that every browser lays out (Firefox: 17.8 million pixels). A longer table is scrolled in larger steps. */
const TALLEST = 8_000_000;

interface Props {
  readonly rows: Rows;
  /** The number of rows: it grows while rows arrive. */
  readonly count: number;
  /** Called for a cell of the column `entity_id`. */
  openEntity?: ((id: string) => void) | undefined;
}

export function Grid({ rows, count, openEntity }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const [cell, setCell] = useState<{ readonly row: number; readonly column: number } | null>(null);
  const columns = rows.columns;
  const widths = useMemo(() => columns.map((name) => widthOf(rows, name, Math.min(count, 50))), [columns, Math.min(count, 50)]);
  const numeric = useMemo(() => columns.map((name) => isNumeric(rows, name, Math.min(count, 50))), [columns, Math.min(count, 50)]);

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const full = count * LINE;
  const drawn = Math.min(full, TALLEST);
  const visible = Math.ceil(height / LINE) + 1;
  const scale = full > TALLEST ? (full - height) / (TALLEST - height) : 1;
  const first = Math.max(0, Math.min(Math.floor((top * scale) / LINE), count - visible));
  // with scaling, the first visible row is at the top of the view
  const offset = scale === 1 ? first * LINE : top - (((top * scale) / LINE) % 1) * LINE;
  const shown = Array.from({ length: Math.min(visible + 8, count - first) }, (_, i) => first + i);
  const width = 64 + widths.reduce((sum, w) => sum + w, 0);

  const reveal = (row: number): void => {
    const element = frame.current;
    if (element === null) return;
    const from = (row * LINE) / scale;
    if (from < element.scrollTop || from > element.scrollTop + (height - 2 * LINE) / scale) element.scrollTop = from;
  };
  const onKey = (event: KeyboardEvent): void => {
    const at = cell ?? { row: first, column: 0 };
    const page = Math.max(1, visible - 2);
    const steps: Readonly<Record<string, { row?: number; column?: number }>> = {
      ArrowDown: { row: at.row + 1 },
      ArrowUp: { row: at.row - 1 },
      ArrowRight: { column: at.column + 1 },
      ArrowLeft: { column: at.column - 1 },
      PageDown: { row: at.row + page },
      PageUp: { row: at.row - page },
      Home: event.ctrlKey ? { row: 0 } : { column: 0 },
      End: event.ctrlKey ? { row: count - 1 } : { column: columns.length - 1 },
    };
    if (cell !== null) {
      if (event.key === 'Enter' && columns[cell.column] === 'entity_id') openEntity?.(String(rows.row(cell.row).entity_id));
      const copies = (event.ctrlKey || event.metaKey) && event.key === 'c' && String(getSelection()) === '';
      if (copies) void navigator.clipboard.writeText(cellText(rows.row(cell.row)[columns[cell.column] as string]) ?? '');
    }
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const row = Math.max(0, Math.min(step.row ?? at.row, count - 1));
    setCell({ row, column: Math.max(0, Math.min(step.column ?? at.column, columns.length - 1)) });
    reveal(row);
  };

  return (
    <div
      class="grid"
      ref={frame}
      tabIndex={0}
      role="grid"
      aria-label={texts.query.result}
      aria-rowcount={count + 1}
      aria-colcount={columns.length + 1}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}
      onKeyDown={onKey}
    >
      <div class="heads" role="row" style={{ minWidth: `${width}px` }}>
        <span class="cell rank" role="columnheader" aria-label="#" />
        {columns.map((name, i) => (
          <span key={name} class={`cell${numeric[i] ? ' number' : ''}`} role="columnheader" title={name} style={{ width: `${widths[i]}px` }}>
            {name}
          </span>
        ))}
      </div>
      <div class="inner" role="presentation" style={{ height: `${drawn}px`, width: `${width}px` }}>
        {shown.map((index, i) => {
          const row = rows.row(index);
          return (
            <div key={index} class="line" role="row" aria-rowindex={index + 2} style={{ top: `${offset + i * LINE}px` }}>
              <span class="cell rank" role="rowheader">
                {index + 1}
              </span>
              {columns.map((name, column) => {
                const text = cellText(row[name]);
                const isChosen = cell?.row === index && cell.column === column;
                return (
                  <span
                    key={name}
                    role="gridcell"
                    class={`cell${numeric[column] ? ' number' : ''}${isChosen ? ' chosen' : ''}`}
                    title={text ?? undefined}
                    style={{ width: `${widths[column]}px` }}
                    onClick={() => setCell({ row: index, column })}
                    onDblClick={() => name === 'entity_id' && text !== null && openEntity?.(text)}
                  >
                    {text === null ? (
                      <span class="null">{texts.query.null}</span>
                    ) : name === 'entity_id' && openEntity !== undefined ? (
                      <button type="button" class="link" tabIndex={-1} title={texts.query.openData} onClick={() => openEntity(text)}>
                        {text.slice(0, 500)}
                      </button>
                    ) : (
                      text.slice(0, 500)
                    )}
                  </span>
                );
              })}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function widthOf(rows: Rows, name: string, sample: number): number {
  let longest = name.length + 1;
  for (let i = 0; i < sample; i++) longest = Math.max(longest, (cellText(rows.row(i)[name]) ?? 'NULL').length);
  return Math.round(Math.min(360, Math.max(64, longest * 7.6 + 24)));
}

function isNumeric(rows: Rows, name: string, sample: number): boolean {
  let found = false;
  for (let i = 0; i < sample; i++) {
    const value = rows.row(i)[name];
    if (value === null || value === undefined) continue;
    if (numberOf(value) === null) return false;
    found = true;
  }
  return found;
}
