import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ConfigurationBody } from '../../../domain/configurations/schema.ts';
import { apiBase, recordPath } from '../shared/api-call.ts';
import { Action } from '../shared/ui/action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { applyCommand, putCommand } from './commands.ts';
import { Commits } from './commits.tsx';
import type { Stored } from './draft.ts';
import { useWrite } from './reads.ts';

interface SaveActionProps {
  /** Of the button and its dialog. */
  action: string;
  name: string;
  body: ConfigurationBody;
  /** The version that it replaces; null: it is a new configuration, or there is none any more. */
  replaced: Stored | null;
  refusal: string | null;
  /** What else is to be known before. */
  note?: ReactNode;
  done?(written: Stored): void;
}

/** Writes a configuration after its effect was shown. */
export function SaveAction({ action, name, body, replaced, refusal, note, done }: SaveActionProps) {
  const write = useWrite(name);
  const path = recordPath('configurations', name);
  const tag = replaced?.tag ?? null;
  const dropsPolicy = replaced?.record.muster?.rollout !== undefined && body.muster?.rollout === undefined;
  return (
    <Action
      name={action}
      refusal={refusal}
      request={{ method: 'PUT', path: `/v3${path}`, body }}
      check={({ verb, changed }) => (replaced === null && changed > 0 && verb !== 'be made' ? taken(name) : null)}
      effect={() => (
        <>
          <Commits layers={body.layers} />
          {dropsPolicy && (
            <p className="warning">Warning: this removes the rollout policy. What it holds back goes then.</p>
          )}
          {note}
        </>
      )}
      send={async (request) => {
        const written = await write(body, tag, request);
        done?.(written);
        return (
          <>
            Configuration{' '}
            <Link to="/configurations/$name" params={{ name }}>
              {shownText(name)}
            </Link>{' '}
            is written.
          </>
        );
      }}
      cli={(reason) => applyCommand(name, body, reason)}
      curl={(reason) => putCommand(`${apiBase('/v3')}${path}`, body, tag, reason)}
    />
  );
}

const taken = (name: string) =>
  `There is a configuration ${name} already: choose another name, or change that one on its page`;
