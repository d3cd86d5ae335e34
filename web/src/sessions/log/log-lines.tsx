import { type MouseEvent, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { LogLine, LogLines } from '../../../../domain/sessions/log-schema.ts';
import { Failure } from '../../shared/ui/failure.tsx';
import { hasText, lineSpans } from './ansi-line.ts';
import { type ChosenLines, fragmentOf, gapText, lineOfRow, rowCount, rowOfLine } from './log-rows.ts';
import { isProportional, LINE_HEIGHT, lastTop, scrolledHeight, scrolledTo, topOf } from './log-scroll.ts';
import { type LogOf, useLogLines } from './use-log.ts';

export interface LogLinesProps {
  log: LogOf;
  end: LogLines;
  isFollowing: boolean;
  onFollow(isFollowing: boolean): void;
  chosen: ChosenLines | null;
  onChoose(lines: ChosenLines): void;
  /** Address of a line, for a link. */
  hrefOf(fragment: string): string;
  /** Lines with it are marked; undefined: none. */
  q: string | undefined;
}

/** The lines that are seen of a log of any length. */
export function LogLinesView({ log, end, isFollowing, onFollow, chosen, onChoose, hrefOf, q }: LogLinesProps) {
  const gap = end.gaps[0] ?? null;
  const rows = rowCount(end.total, gap);
  const place = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(480);
  const [wanted, setWanted] = useState(0);
  const top = isFollowing ? lastTop(rows, room) : Math.min(wanted, lastTop(rows, room));
  const firstRow = Math.floor(top);
  const seen = Array.from({ length: Math.ceil(room / LINE_HEIGHT) + 1 }, (_, index) => firstRow + index)
    .filter((row) => row < rows)
    .map((row) => lineOfRow(row, gap));
  const { lines, error, retry } = useLogLines(
    log,
    end,
    seen.filter((number) => number !== null),
  );

  /** Moves to a row; the end is followed as long as more may come. */
  const go = (row: number) => {
    const most = lastTop(rows, room);
    setWanted(Math.max(0, Math.min(row, most)));
    onFollow(row >= most - 0.1);
  };
  const move = useRef((_: number) => {});
  move.current = (count) => go(top + count);

  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setRoom(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  // Where the bar was put by this page, and not by the user.
  const put = useRef(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const to = scrolledTo(top, rows, room);
    if (Math.abs(element.scrollTop - to) >= 1) element.scrollTop = to;
    put.current = element.scrollTop;
  }, [top, rows, room]);
  useWheel(place, isProportional(rows), move);

  // A line that an address names is gone to once, as soon as it is there.
  const gone = useRef('');
  const aim = chosen === null ? '' : fragmentOf(chosen);
  useEffect(() => {
    if (chosen === null || gone.current === aim || chosen.first > end.total) return;
    gone.current = aim;
    const row = rowOfLine(chosen.first, gap);
    const isSeen = row >= Math.ceil(top) && row + 1 <= top + room / LINE_HEIGHT;
    if (isSeen && !isFollowing) return;
    setWanted(Math.max(0, row - room / LINE_HEIGHT / 3));
    onFollow(false);
  });

  const onKey = (key: string): boolean => {
    const page = Math.max(1, Math.floor(room / LINE_HEIGHT) - 1);
    const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page };
    if (key === 'Home') go(0);
    else if (key === 'End') go(rows);
    else if (steps[key] !== undefined) go(top + steps[key]);
    else return false;
    return true;
  };
  const choose = (number: number, event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.button !== 0) return;
    event.preventDefault();
    const isRange = event.shiftKey && chosen !== null;
    const next = isRange
      ? { first: Math.min(chosen.first, number), last: Math.max(chosen.last, number) }
      : { first: number, last: number };
    // It is seen already: nothing moves.
    gone.current = fragmentOf(next);
    setWanted(top);
    onFollow(false);
    onChoose(next);
  };
  return (
    <>
      {error !== null && <Failure error={error} retry={retry} />}
      <div
        role="log"
        aria-label="Output"
        aria-live="off"
        ref={place}
        onScroll={({ currentTarget: { scrollTop } }) => {
          if (Math.abs(scrollTop - put.current) >= 1) go(topOf(scrollTop, rows, room));
        }}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey || !onKey(event.key)) return;
          event.preventDefault();
          // A link that has the focus may go with its line.
          event.currentTarget.focus({ preventScroll: true });
        }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
        tabIndex={0}
      >
        <div className="log-space" style={{ height: scrolledHeight(rows) }}>
          <div className="log-lines" style={{ height: Math.min(room, rows * LINE_HEIGHT) }}>
            <div style={{ transform: `translateY(${-Math.round((top - firstRow) * LINE_HEIGHT)}px)` }}>
              {seen.map((number) =>
                number === null ? (
                  <div key="gap" className="line quiet">
                    {gap !== null && gapText(gap)}
                  </div>
                ) : (
                  <Line
                    key={number}
                    number={number}
                    line={lines.get(number)}
                    isChosen={chosen !== null && number >= chosen.first && number <= chosen.last}
                    isMatch={q !== undefined && hasText(lines.get(number)?.text ?? '', q)}
                    href={hrefOf(`L${number}`)}
                    choose={choose}
                  />
                ),
              )}
            </div>
          </div>
        </div>
      </div>
    </>
  );
}

interface LineProps {
  number: number;
  line: LogLine | undefined;
  isChosen: boolean;
  isMatch: boolean;
  href: string;
  choose(number: number, event: MouseEvent): void;
}

function Line({ number, line, isChosen, isMatch, href, choose }: LineProps) {
  return (
    <div className={`line${isChosen ? ' chosen' : ''}${isMatch ? ' match' : ''}`}>
      <a
        href={href}
        aria-label={`Line ${number}`}
        aria-current={isChosen || undefined}
        onClick={(event) => choose(number, event)}
      >
        {number}
      </a>
      {line !== undefined && <LineText text={line.text} />}
      {line?.length !== undefined && <span className="quiet"> ... {line.length} characters: choose the line</span>}
    </div>
  );
}

/** The text of a line, coloured as the playbook wanted it. */
export function LineText({ text }: { text: string }): ReactNode {
  return (
    <code>
      {lineSpans(text).map(({ text: part, style }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line have no other name, and never move
        <span key={place} className={style === '' ? undefined : style}>
          {part}
        </span>
      ))}
    </code>
  );
}

/** Where the bar is proportional a wheel and a finger would jump: they move by lines. */
function useWheel(
  place: RefObject<HTMLElement | null>,
  isNeeded: boolean,
  move: RefObject<(lines: number) => void>,
): void {
  useEffect(() => {
    const element = place.current;
    if (element === null || !isNeeded) return;
    const onWheel = (event: WheelEvent) => {
      if (event.ctrlKey || event.deltaY === 0) return;
      event.preventDefault();
      move.current(event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY : event.deltaY / LINE_HEIGHT);
    };
    let touched = 0;
    const onTouch = (event: TouchEvent) => {
      touched = event.touches[0]?.clientY ?? 0;
    };
    const onMove = (event: TouchEvent) => {
      const at = event.touches[0]?.clientY ?? touched;
      event.preventDefault();
      move.current((touched - at) / LINE_HEIGHT);
      touched = at;
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('touchstart', onTouch, { passive: true });
    element.addEventListener('touchmove', onMove, { passive: false });
    return () => {
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('touchstart', onTouch);
      element.removeEventListener('touchmove', onMove);
    };
  }, [place, isNeeded, move]);
}
