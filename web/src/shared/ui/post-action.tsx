/** An action that is one request without a dry run: its dialog says in words what it does. */
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { apiBase, callApi, type Surface, writeHeaders } from '../api-call.ts';
import { curlCommand } from '../commands.ts';
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
  /** Of the record that changes. */
  record: string;
  /** What it does to it, in words. */
  effect: ReactNode;
  fields?: ReactNode;
  /** What is said when it is done. */
  done: ReactNode;
  /** What is read again then. */
  changes: QueryKey;
  /** The command that does the same. */
  command: string;
}

/** The button and its dialog. */
export function PostAction(props: PostActionProps) {
  const { name, refusal, isTold = false, method = 'POST', path, surface, body, record, effect, done, command } = props;
  const client = useQueryClient();
  return (
    <Action
      name={name}
      refusal={refusal}
      isTold={isTold}
      fields={props.fields}
      effect={() => (
        <>
          <p>
            1 would {method === 'DELETE' ? 'be deleted' : 'change'}: {shownText(record)}. There is no dry run of this.
          </p>
          <p>{effect}</p>
        </>
      )}
      send={async (request) => {
        await callApi(path, { method, body, headers: writeHeaders(request), ...(surface ? { surface } : {}) });
        void client.invalidateQueries({ queryKey: props.changes });
        return done;
      }}
      cli={() => command}
      curl={(reason) => curlCommand(method, `${apiBase(surface)}${path}`, body, reason)}
    />
  );
}
