import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { TokenCreated } from '../../../domain/access/schema.ts';
import { apiBase, callApi, writeHeaders } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { Action } from '../shared/ui/action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { useMe } from './me.ts';
import { useActingRefusal } from './use-acting.ts';

const ROLES = ['reader', 'operator', 'admin', 'node'] as const;
const DAY_S = 86_400;

/** Makes a token. The answer is the only place where it is shown. */
export function CreateToken() {
  const id = useId();
  const client = useQueryClient();
  const { data: me } = useMe();
  const isUnknown = me?.kind === 'none' || me?.kind === 'header';
  const may = isUnknown ? 'Muster asks no user for a token here: set MUSTER_AUTH=token' : null;
  const refusal = useActingRefusal('admin') ?? may;
  const [role, setRole] = useState<(typeof ROLES)[number]>('reader');
  const [name, setName] = useState('');
  const [component, setComponent] = useState('');
  const [days, setDays] = useState('30');
  const count = /^[1-9][0-9]{0,3}$/.test(days) ? Number(days) : null;
  const isWhole = name !== '' && (count !== null || days === '') && (role !== 'node' || component !== '');
  const body = {
    role,
    name,
    ...(role === 'node' ? { component } : {}),
    ...(count === null ? {} : { expires_in: count * DAY_S }),
  };
  const flags = [
    `--role=${role}`,
    `--name=${shellWord(name)}`,
    ...(role === 'node' ? [`--component=${shellWord(component)}`] : []),
    ...(count === null ? [] : [`--expires=${count}d`]),
  ];
  return (
    <Action
      name="Create token"
      refusal={refusal}
      request={isWhole ? { method: 'POST', path: '/api/v1/tokens', body } : null}
      fields={
        <div className="fields">
          <span>
            <label htmlFor={`${id}-name`}>Name</label>
            <input id={`${id}-name`} value={name} autoComplete="off" onChange={({ target }) => setName(target.value)} />
          </span>
          <span>
            <label htmlFor={`${id}-role`}>Role</label>
            <select
              id={`${id}-role`}
              value={role}
              onChange={({ target }) => setRole(ROLES.find((word) => word === target.value) ?? 'reader')}
            >
              {ROLES.map((word) => (
                <option key={word}>{word}</option>
              ))}
            </select>
          </span>
          {role === 'node' && (
            <span>
              <label htmlFor={`${id}-component`}>Component</label>
              <input id={`${id}-component`} value={component} onChange={({ target }) => setComponent(target.value)} />
            </span>
          )}
          <span>
            <label htmlFor={`${id}-days`}>Days that it is good for (empty: without end)</label>
            <input
              id={`${id}-days`}
              inputMode="numeric"
              value={days}
              onChange={({ target }) => setDays(target.value.trim())}
            />
          </span>
        </div>
      }
      effect={() => <p>The token is shown once, when it is made. Muster keeps only what recognises it.</p>}
      send={async (request) => {
        const made = await callApi<TokenCreated>('/tokens', { method: 'POST', body, headers: writeHeaders(request) });
        void client.invalidateQueries({ queryKey: ['tokens'] });
        return (
          <>
            <p>
              Token {shownText(made.name)} of role {made.role}. It is not shown again:
            </p>
            <p>
              <code>{made.token}</code>
            </p>
          </>
        );
      }}
      cli={(reason) =>
        ['./muster token create', ...flags, ...(reason === '' ? [] : [`--reason=${shellWord(reason)}`])].join(' ')
      }
      curl={(reason) => curlCommand('POST', `${apiBase()}/tokens`, body, reason)}
    />
  );
}
