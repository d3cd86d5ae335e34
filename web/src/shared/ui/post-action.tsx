/** An action that is one request: its dialog says in words what it does, and has the dry run where the API has one. */
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { apiBase, callApi, type Surface, writeHeaders } from '../api-call.ts';
import { curlCommand, shellWord } from '../commands.ts';
import { Action } from './action.tsx';
import { shownText } from './shown-text.ts';

interface PostActionProps {
  name: string;
  refusal: string | null;
  /** Whether the refusal is shown elsewhere, and only told beside the button. */
  isTold?: boolean;
  method?: 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  path: string;
  surface?: Surface;
  body?: unknown;
  /** Of the record that changes; null: the API has a dry run, which names it. */
  record: string | null;
  /** What it does to it, in words. */
  effect: ReactNode;
  fields?: ReactNode;
  /** What is said when it is done. */
  done: ReactNode;
  /** What is read again then. */
  changes: QueryKey;
  /** The command that does the same; it takes `--reason`, as every verb that writes. */
  command: string;
}

/** The button and its dialog. */
export function PostAction(props: PostActionProps) {
  const { name, refusal, isTold = false, method = 'POST', path, surface, body, record, effect, done, command } = props;
  const client = useQueryClient();
  const [isDone, setDone] = useState(false);
  const readAgain = () => void client.invalidateQueries({ queryKey: props.changes });
  return (
    <Action
      name={name}
      refusal={refusal}
      isTold={isTold}
      fields={props.fields}
      {...(record === null ? { request: { method, path: `${surface ?? '/api/v1'}${path}`, body } } : {})}
      effect={() => (
        <>
          {record !== null && (
            <p>
              1 would {method === 'DELETE' ? 'be deleted' : 'change'}: {shownText(record)}. There is no dry run of this.
            </p>
          )}
          <p>{effect}</p>
        </>
      )}
      send={async (request) => {
        await callApi(path, { method, body, headers: writeHeaders(request), ...(surface ? { surface } : {}) });
        // What is deleted takes its dialog with it: it is read again when the result was seen.
        if (method === 'DELETE') setDone(true);
        else readAgain();
        return done;
      }}
      closed={() => {
        if (isDone) readAgain();
      }}
      cli={(reason) => `${command}${reason === '' ? '' : ` --reason=${shellWord(reason)}`}`}
      curl={(reason) => curlCommand(method, `${apiBase(surface)}${path}`, body, reason)}
    />
  );
}
