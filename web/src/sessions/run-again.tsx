import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import type { Session } from '../../../domain/sessions/schema.ts';
import { newSessionName } from '../shared/session-name.ts';
import { FormAction } from '../shared/ui/form-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { RERUN_FIELDS, rerunBody, rerunCommand, rerunValues } from './rerun-draft.ts';

/** Makes a new session of what this one ran with. */
export function RunAgain({ session, refusal }: { session: SessionDetail; refusal: string | null }) {
  const [name, setName] = useState(newSessionName);
  return (
    <FormAction<Session>
      name="Run again"
      refusal={refusal}
      begun={rerunValues(session, name)}
      fields={() => RERUN_FIELDS}
      request={(values) => {
        const body = rerunBody(session, values);
        return body && { method: 'POST', path: '/sessions', surface: '/v3', body };
      }}
      note={() => <p>1 session is made of what {shownText(session.name)} ran with.</p>}
      done={(made) => {
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
      }}
      changes={['sessions']}
      cli={(values) => rerunCommand(session, values)}
    />
  );
}
