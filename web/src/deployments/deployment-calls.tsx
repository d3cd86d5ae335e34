import type { QueryKey } from '@tanstack/react-query';
import { useActingRefusal } from '../access/use-acting.ts';
import { recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { PostAction } from '../shared/ui/post-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { type Counts, callRefusal, countsText, type DeploymentCall, type DeploymentStatus } from './deployment-text.ts';

const CALLS: readonly { call: DeploymentCall; name: string; effect: string; done: string }[] = [
  {
    ...{ call: 'approve', name: 'Approve' },
    effect: 'It may be instantiated then. Nothing goes to a cluster.',
    done: 'It is approved.',
  },
  {
    ...{ call: 'instantiate', name: 'Instantiate' },
    effect: 'Apps and places are frozen now, and everything is applied to the clusters that the placement names.',
    done: 'It is being instantiated.',
  },
  {
    ...{ call: 'terminate', name: 'Terminate' },
    effect: 'Everything that it applied is deleted from its clusters.',
    done: 'It is being terminated.',
  },
  {
    ...{ call: 'stop', name: 'Stop' },
    effect: 'What it still has to do is given up. What was done stays.',
    done: 'It is being stopped.',
  },
];

interface DeploymentCallsProps {
  name: string;
  standing: Pick<DeploymentStatus, 'state' | 'status'>;
  /** Of whose resources the effect speaks. */
  apps: readonly string[];
  counts: Counts | undefined;
  changes: QueryKey;
  /** Whether it stands in the row of a list: reasons are told and not shown, and what removes it is on its page. */
  isShort?: boolean;
}

/** The buttons of the life cycle of a deployment. */
export function DeploymentCalls({ name, standing, apps, counts, changes, isShort = false }: DeploymentCallsProps) {
  const may = useActingRefusal();
  const path = recordPath('deployments', name);
  const word = shellWord(name);
  const resources = countsText(counts);
  const about = (
    <>
      {apps.length > 0 && ` Apps: ${shownText(apps.join(', '))}.`}
      {resources !== '' && ` Resources now: ${resources}.`}
    </>
  );
  return (
    <div className="buttons">
      {CALLS.map(({ call, name: button, effect, done }, place) => (
        <PostAction
          key={call}
          name={button}
          refusal={may ?? callRefusal(call, standing)}
          isTold={isShort || (may !== null && place > 0)}
          path={`${path}/${call}`}
          record={name}
          effect={
            <>
              {effect}
              {about}
            </>
          }
          done={done}
          changes={changes}
          command={`./muster deployment ${call} ${word}`}
        />
      ))}
      {!isShort && (
        <PostAction
          name="Remove"
          refusal={may}
          isTold
          method="DELETE"
          path={path}
          record={name}
          effect={<>What it applied is deleted from its clusters; then all records of it go.{about}</>}
          done="It is being removed."
          changes={changes}
          command={`./muster deployment delete ${word}`}
        />
      )}
    </div>
  );
}
