import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useActingRefusal } from '../access/use-acting.ts';
import { apiBase, callApi, writeHeaders } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Action } from '../shared/ui/action.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { type OptionValue, optionValue } from './option-value.ts';

type Options = Readonly<Record<string, OptionValue>>;

/** Options of the installation, with the way to change one. */
export function SystemOptions() {
  const read = useQuery({
    queryKey: ['system', 'options'],
    queryFn: ({ signal }) => callApi<Options>('/options', { signal }),
  });
  useLive('system', ['system', 'options']);
  return (
    <Part title="Options" read={read}>
      {(options) => (
        <>
          <SetOption options={options} />
          <Rows
            name="Options"
            columns={COLUMNS}
            rows={Object.entries(options)}
            keyOf={([name]) => name}
            none="There are no options."
          />
        </>
      )}
    </Part>
  );
}

const COLUMNS: readonly ListColumn<[string, OptionValue]>[] = [
  { head: 'Option', cell: ([name]) => name },
  { head: 'Value', cell: ([, value]) => shownText(value === null ? 'none' : String(value)) },
];

function SetOption({ options }: { options: Options }) {
  const id = useId();
  const client = useQueryClient();
  const may = useActingRefusal();
  const names = Object.keys(options);
  const [name, setName] = useState(names[0] ?? '');
  const [text, setText] = useState('');
  const value = optionValue(options[name] ?? null, text);
  const body = { [name]: value };
  return (
    <Action
      name="Set option"
      refusal={may}
      request={value === undefined ? null : { method: 'PATCH', path: '/api/v1/options', body }}
      fields={
        <div className="fields">
          <span>
            <label htmlFor={`${id}-name`}>Option</label>
            <select id={`${id}-name`} value={name} onChange={({ target }) => setName(target.value)}>
              {names.map((word) => (
                <option key={word}>{word}</option>
              ))}
            </select>
          </span>
          <span>
            <label htmlFor={`${id}-value`}>Value</label>
            <input
              id={`${id}-value`}
              value={text}
              autoComplete="off"
              placeholder={String(options[name] ?? '')}
              onChange={({ target }) => setText(target.value)}
            />
          </span>
        </div>
      }
      send={async (request) => {
        await callApi('/options', { method: 'PATCH', body, headers: writeHeaders(request) });
        void client.invalidateQueries({ queryKey: ['system', 'options'] });
        return <p>Option {name} is set.</p>;
      }}
      cli={(reason) =>
        [
          `./muster option set ${shellWord(`${name}=${text}`)}`,
          ...(reason === '' ? [] : [`--reason=${shellWord(reason)}`]),
        ].join(' ')
      }
      curl={(reason) => curlCommand('PATCH', `${apiBase()}/options`, body, reason)}
    />
  );
}
