import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DriftCheckAnswer } from '../../../domain/schedules/drift-check-schema.ts';
import { actingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { apiBase, callApi, writeHeaders } from '../shared/api-call.ts';
import { curlCommand } from '../shared/commands.ts';
import { useConnection } from '../shared/live/use-live.ts';
import { Action } from '../shared/ui/action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { checkBody, checkCommand } from './drift-text.ts';

const PATH = '/drift/checks';
/** Sessions that are named at most. */
const NAMED = 20;

/** Looks anew at the components of a configuration; null: at all components. */
export function CheckActions({ configuration }: { configuration: string | null }) {
  const { data: me } = useMe();
  const { state } = useConnection();
  const client = useQueryClient();
  const may = actingRefusal(me, state);
  const whom = configuration === null ? 'All components' : `All components that want ${shownText(configuration)}`;
  const check = (reconfigure: boolean) => {
    const body = checkBody(configuration, reconfigure);
    return {
      refusal: may,
      request: { method: 'POST' as const, path: `/api/v1${PATH}`, body },
      effect: () => (
        <p>
          {whom} are looked at by sessions that change nothing.{' '}
          {reconfigure && 'What drifted counts as pending when they end, and is configured again.'}
        </p>
      ),
      send: async (request: { reason: string; key: string }) => {
        const made = await callApi<DriftCheckAnswer>(PATH, { method: 'POST', body, headers: writeHeaders(request) });
        await client.invalidateQueries({ queryKey: ['sessions'] });
        return <Made answer={made} />;
      },
      cli: (reason: string) => checkCommand(configuration, reconfigure, reason),
      curl: (reason: string) => curlCommand('POST', `${apiBase()}${PATH}`, body, reason),
    };
  };
  return (
    <div className="buttons">
      <Action name="Check now" {...check(false)} />
      <Action name="Reconfigure" {...check(true)} isTold />
    </div>
  );
}

function Made({ answer: { sessions, components, left_out } }: { answer: DriftCheckAnswer }) {
  return (
    <>
      <p>
        {components} {components === 1 ? 'component is' : 'components are'} looked at by {sessions.length}{' '}
        {sessions.length === 1 ? 'session' : 'sessions'}:
      </p>
      <ul>
        {sessions.slice(0, NAMED).map((name) => (
          <li key={name}>
            <Link to="/sessions/$name" params={{ name }}>
              {shownText(name)}
            </Link>
          </li>
        ))}
      </ul>
      {sessions.length > NAMED && <p>and {sessions.length - NAMED} more</p>}
      {left_out.map(({ reason, components: count, first }) => (
        <p key={reason}>
          Left out: {count} ({shownText(first.join(', '))}): {shownText(reason)}
        </p>
      ))}
    </>
  );
}
