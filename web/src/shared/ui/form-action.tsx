/** A record that is made or changed by a form: a dialog with its fields, its effect as the API foresees it, and its command. */
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { apiBase, callApi, type Surface, writeHeaders } from '../api-call.ts';
import { curlCommand, shellWord } from '../commands.ts';
import { type FormField, type FormValues, rebased } from '../form-values.ts';
import { Action } from './action.tsx';
import { FormFields } from './form-fields.tsx';

interface FormRequest {
  method: 'POST' | 'PATCH';
  path: string;
  surface?: Surface;
  body: object;
}

interface FormActionProps<Answer> {
  /** Of the button and of its dialog. */
  name: string;
  refusal: string | null;
  /** Whether the refusal is shown elsewhere, and only told beside the button. */
  isTold?: boolean;
  /** What stands in the fields first; of a record that is there: as it is by now. */
  begun: FormValues;
  /** What is asked for depends on what was chosen. */
  fields(values: FormValues): readonly FormField[];
  /** Returns the request; null while the fields do not say it. `begun`: what would stand there without the edit. */
  request(values: FormValues, begun: FormValues): FormRequest | null;
  /** What is to be known before, in words. */
  note?(values: FormValues): ReactNode;
  done(answer: Answer): ReactNode;
  /** What is read again when it is done. */
  changes: QueryKey;
  /** Returns the command that does the same; `--reason` is added to it. */
  cli(values: FormValues, begun: FormValues): string;
  /** Variables of the shell that commands have in the place of secrets, by the name of the field. */
  variables?: Readonly<Record<string, string>>;
}

/** The button and its dialog. What is written elsewhere meanwhile stands in each field that the edit has left alone. */
export function FormAction<Answer>(props: FormActionProps<Answer>) {
  const { name, refusal, isTold = false, fields, request, note, done, changes, cli, variables = {} } = props;
  const client = useQueryClient();
  const [edit, setEdit] = useState<{ begun: FormValues; values: FormValues } | null>(null);
  const { begun } = props;
  const values = edit === null ? begun : rebased(edit.values, edit.begun, begun, fields(edit.values));
  const asked = request(values, begun);
  // A command has the name of a variable where the request has a secret.
  const told = Object.fromEntries(
    Object.entries(values).map(([key, text]) => [key, text === '' ? '' : (variables[key] ?? text)]),
  );
  const shown = request(told, begun);
  return (
    <Action
      name={name}
      refusal={refusal}
      isTold={isTold}
      request={asked && { method: asked.method, path: `${asked.surface ?? '/api/v1'}${asked.path}`, body: asked.body }}
      fields={(refused) => (
        <FormFields
          fields={fields(values)}
          values={values}
          refused={refused}
          change={(next) => setEdit({ begun, values: next })}
        />
      )}
      effect={() => note?.(values)}
      send={async (sent) => {
        if (asked === null) throw new Error('The form does not say what is to be done');
        const { path, ...call } = asked;
        const answer = await callApi<Answer>(path, { ...call, headers: writeHeaders(sent) });
        void client.invalidateQueries({ queryKey: changes });
        return done(answer);
      }}
      closed={() => setEdit(null)}
      cli={(reason) => `${cli(told, begun)}${reason === '' ? '' : ` --reason=${shellWord(reason)}`}`}
      curl={(reason) =>
        shown === null
          ? ''
          : curlCommand(
              shown.method,
              `${apiBase(shown.surface)}${shown.path}`,
              shown.body,
              reason,
              Object.values(variables),
            )
      }
    />
  );
}
