import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { apiBase, callApi, writeHeaders } from '../shared/api-call.ts';
import { curlCommand } from '../shared/commands.ts';
import { newSessionName } from '../shared/session-name.ts';
import { Action, type ActionRequest } from '../shared/ui/action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { sessionCommand } from './commands.ts';
import { useConfigurationNames } from './configuration-names.ts';
import { hostsRefusal, type Selected, sessionOf } from './selected.ts';

const PATH = '/sessions';

/** Runs a configuration on the selected components. */
export function RunSession({ selected, refusal }: { selected: Selected; refusal: string | null }) {
  const id = useId();
  const client = useQueryClient();
  const [name, setName] = useState(newSessionName);
  const [configuration, setConfiguration] = useState<string | null>(null);
  const names = useConfigurationNames(configuration ?? undefined);
  const body = sessionOf(selected, name.trim(), configuration);
  const told = body ?? { name, configuration_name: configuration ?? 'NAME', ansible_limit: '' };
  const send = async (request: ActionRequest) => {
    const headers = writeHeaders(request);
    const made = await callApi<{ name: string }>(PATH, { surface: '/v3', method: 'POST', body, headers });
    await client.invalidateQueries({ queryKey: ['sessions'] });
    setName(newSessionName());
    return (
      <>
        Session{' '}
        <Link to="/sessions/$name" params={{ name: made.name }}>
          {shownText(made.name)}
        </Link>{' '}
        was made.
      </>
    );
  };
  return (
    <Action
      name="Run session"
      refusal={refusal}
      isTold
      fields={
        <>
          <p>
            <label htmlFor={`${id}-configuration`}>Configuration</label>{' '}
            <select
              id={`${id}-configuration`}
              value={configuration ?? ''}
              onChange={({ target: { value } }) => setConfiguration(value === '' ? null : value)}
            >
              <option value="">choose</option>
              {names.map((one) => (
                <option key={one} value={one}>
                  {shownText(one)}
                </option>
              ))}
            </select>
          </p>
          <p>
            <label htmlFor={`${id}-name`}>Name</label>{' '}
            <input
              id={`${id}-name`}
              value={name}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => setName(target.value)}
            />
          </p>
        </>
      }
      request={body === null ? null : { method: 'POST', path: `/v3${PATH}`, body }}
      check={({ hosts }) => hostsRefusal(selected, hosts)}
      send={send}
      cli={(reason) => sessionCommand(told, reason)}
      curl={(reason) => curlCommand('POST', `${apiBase('/v3')}${PATH}`, told, reason)}
    />
  );
}
