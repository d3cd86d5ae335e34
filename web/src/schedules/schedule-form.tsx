import { Link } from '@tanstack/react-router';
import type { ScheduleView } from '../../../domain/schedules/schedule-schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { recordPath } from '../shared/api-call.ts';
import type { FormValues } from '../shared/form-values.ts';
import { FormAction } from '../shared/ui/form-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import {
  createCommand,
  filterOf,
  newSchedule,
  scheduleFields,
  schedulePatch,
  scheduleValues,
  updateCommand,
} from './schedule-draft.ts';

/** Makes a schedule. */
export function NewSchedule() {
  const may = useActingRefusal();
  return (
    <FormAction<ScheduleView>
      name="New schedule"
      refusal={may}
      begun={scheduleValues(null)}
      fields={(values) => scheduleFields(values, true)}
      request={(values) => {
        const body = newSchedule(values);
        return body && { method: 'POST', path: '/schedules', body };
      }}
      note={noteOf}
      done={({ name }) => (
        <p>
          Schedule{' '}
          <Link to="/schedules" search={{ shown: name }}>
            {shownText(name)}
          </Link>{' '}
          is made.
        </p>
      )}
      changes={['schedules']}
      cli={createCommand}
    />
  );
}

/** Changes a schedule. */
export function ChangeSchedule({ schedule }: { schedule: ScheduleView }) {
  const may = useActingRefusal();
  const { name, action } = schedule;
  return (
    <FormAction<ScheduleView>
      name="Change"
      refusal={may}
      isTold
      begun={scheduleValues(schedule)}
      fields={(values) => scheduleFields(values, false)}
      request={(values, begun) => {
        const body = schedulePatch(values, begun, action);
        return body && { method: 'PATCH', path: recordPath('schedules', name), body };
      }}
      note={noteOf}
      done={() => <p>It is changed. A run that goes on ends as it began.</p>}
      changes={['schedules']}
      cli={(values, begun) => updateCommand(values, begun, action)}
    />
  );
}

/** A filter that was forgotten means every component. */
function noteOf(values: FormValues) {
  const { what = '' } = values;
  const isAll = Object.keys(filterOf(values)).length === 0;
  return ['reconfigure', 'check'].includes(what) && isAll && <p className="warning">It is about all components.</p>;
}
