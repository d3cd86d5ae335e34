import { type FormEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import type { SessionDetail } from '../../../../domain/sessions/detail-schema.ts';
import type { LogLines } from '../../../../domain/sessions/log-schema.ts';
import { apiBase } from '../../shared/api-call.ts';
import { curlCommand, shellWord } from '../../shared/commands.ts';
import { CopyCommand } from '../../shared/ui/copy-command.tsx';
import { isTyped, keysAreOn } from '../../shared/ui/keys.ts';
import { shownText } from '../../shared/ui/shown-text.ts';
import { type LogOf, logPath } from './use-log.ts';

export interface LogSteps {
  /** What is said of matches and failures; '': nothing. */
  said: string;
  match(isBack?: boolean): void;
  failure(isBack?: boolean): void;
}

export interface LogToolsProps {
  session: SessionDetail;
  log: LogOf;
  end: LogLines;
  q: string | undefined;
  onLog(place: { layer: number; attempt: number }): void;
  onSearch(text: string | undefined): void;
  isFollowing: boolean;
  onFollow(isFollowing: boolean): void;
  /** Lines that came since the end was left. */
  newLines: number;
  steps: LogSteps;
}

/** What stands above a log: which one, what is looked for, and the ways through it. */
export function LogTools(props: LogToolsProps) {
  const { session, log, end, q, onLog, onSearch, isFollowing, onFollow, newLines, steps } = props;
  const { layer, attempt, name } = log;
  const ids = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(q ?? '');
  useKeys(field, steps);
  const layers = session.snapshot.layers;
  const search = (event: FormEvent) => {
    event.preventDefault();
    const wanted = text === '' ? undefined : text;
    if (wanted === q) steps.match();
    else onSearch(wanted);
  };
  const words = `${shellWord(name)} --layer ${layer} --attempt ${attempt}${q === undefined ? '' : ` --grep ${shellWord(q)}`}`;
  const asked =
    q === undefined
      ? logPath(name, 'log-lines', { layer, attempt })
      : logPath(name, 'log-search', { layer, attempt, q });
  return (
    <>
      <form className="filters" onSubmit={search}>
        <label htmlFor={`${ids}-layer`}>Layer</label>
        <select
          id={`${ids}-layer`}
          value={layer}
          onChange={({ target }) => onLog({ layer: Number(target.value), attempt })}
        >
          {!layers.some(({ index }) => index === layer) && <option value={layer}>{`layer ${layer + 1}`}</option>}
          {layers.map(({ index, playbook }) => (
            <option key={index} value={index}>
              {`layer ${index + 1}/${layers.length} ${shownText(playbook)}`}
            </option>
          ))}
        </select>
        <label htmlFor={`${ids}-attempt`}>Attempt</label>
        <select
          id={`${ids}-attempt`}
          value={attempt}
          onChange={({ target }) => onLog({ layer, attempt: Number(target.value) })}
        >
          {Array.from({ length: Math.max(session.attempt, attempt, 1) }, (_, index) => index + 1).map((number) => (
            <option key={number}>{number}</option>
          ))}
        </select>
        <label htmlFor={`${ids}-q`}>Search output</label>
        <input
          id={`${ids}-q`}
          ref={field}
          type="search"
          maxLength={1_000}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit">Next match</button>
        <button type="button" onClick={() => steps.failure()}>
          Next failure
        </button>
        <button type="button" aria-pressed={isFollowing} onClick={() => onFollow(!isFollowing)}>
          Follow
        </button>
      </form>
      <p className="buttons">
        <span>{end.total === 1 ? '1 line' : `${end.total} lines`}</span>
        <span role="status" aria-label="Found">
          {shownText(steps.said)}
        </span>
        {newLines > 0 && (
          <button type="button" onClick={() => onFollow(true)}>
            {newLines === 1 ? '1 new line' : `${newLines} new lines`}
          </button>
        )}
        <a href={`${apiBase()}${logPath(name, 'logs', { layer, attempt, download: true })}`} download>
          Download
        </a>
        <CopyCommand name="Copy as CLI" text={`./muster session logs ${words}`} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${asked}`)} />
      </p>
    </>
  );
}

/** `n` and `N` go through matches, `f` and `F` through failures; Ctrl-F is our search, since the browser's sees drawn lines alone. */
function useKeys(field: RefObject<HTMLInputElement | null>, steps: LogSteps): void {
  const now = useRef(steps);
  now.current = steps;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (key === 'f' && (ctrlKey || metaKey) && !altKey) {
        event.preventDefault();
        field.current?.select();
        return;
      }
      if (isTyped(event) || !keysAreOn()) return;
      if (key === '/') {
        event.preventDefault();
        field.current?.select();
      } else if (key === 'n' || key === 'N') now.current.match(key === 'N');
      else if (key === 'f' || key === 'F') now.current.failure(key === 'F');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [field]);
}
