import { z } from 'zod';
import { pauseSchedule } from '../../../control/schedules/pause-schedule.ts';
import { getScheduleRun, nextTimes, pageOfScheduleRuns } from '../../../control/schedules/read-schedules.ts';
import { triggerSchedule } from '../../../control/schedules/trigger-schedule.ts';
import {
  ScheduleNextQuerySchema,
  ScheduleNextSchema,
  SchedulePauseSchema,
  ScheduleRunListQuerySchema,
  ScheduleRunSchema,
  ScheduleSchema,
  ScheduleTriggeredSchema,
} from '../../../domain/schedules/schedule-schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { ScheduleApi } from './dependencies.ts';

const params = z.object({ schedule: z.string().describe('Name of the schedule.') });
const runParams = params.extend({ run: z.uuid().describe('Id of the run.') });
const tags = ['schedules'];

/** Commands to schedules, and what became of their runs. */
export async function scheduleCommandRoutes(app: ApiServer, deps: ScheduleApi): Promise<void> {
  for (const [verb, paused, summary] of [
    ['pause', true, 'Pause a schedule: times that come are let pass'],
    ['resume', false, 'Let a paused schedule go on'],
  ] as const) {
    app.post(
      `/schedules/:schedule/${verb}`,
      {
        schema: { tags, summary, params, body: SchedulePauseSchema, response: { 200: ScheduleSchema } },
        config: { access: 'operator', class: 'quick', refuses: ['schedule_not_found'] },
      },
      (request) =>
        pauseSchedule(deps, acting(request), request.params.schedule, { paused, note: request.body.note ?? '' }),
    );
  }

  app.post(
    '/schedules/:schedule/trigger',
    {
      schema: {
        tags,
        summary: 'Ask for a run now; while another goes on it waits, unless the schedule lets them overlap',
        params,
        response: { 202: ScheduleTriggeredSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['schedule_not_found'] },
    },
    async (request, reply) =>
      reply.code(202).send(await triggerSchedule(deps, acting(request), request.params.schedule)),
  );

  app.get(
    '/schedules/:schedule/next',
    {
      schema: {
        tags,
        summary: 'The next times of a schedule as the engine has it',
        params,
        querystring: ScheduleNextQuerySchema,
        response: { 200: ScheduleNextSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['schedule_not_found', 'engine_unavailable'] },
    },
    ({ params, query }) => nextTimes(deps, params.schedule, query.count),
  );

  app.get(
    '/schedules/:schedule/runs',
    {
      schema: {
        tags,
        summary: 'List the runs of a schedule, newest first',
        params,
        querystring: ScheduleRunListQuerySchema,
        response: { 200: z.object({ runs: z.array(ScheduleRunSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['schedule_not_found'] },
    },
    async ({ params, query: { limit, after_id } }) => {
      const { records, more } = await pageOfScheduleRuns(deps, params.schedule, after_id, limit);
      return pageAnswer('runs', records, more, ({ id }) => ({ limit, after_id: id }));
    },
  );

  app.get(
    '/schedules/:schedule/runs/:run',
    {
      schema: { tags, summary: 'Read one run of a schedule', params: runParams, response: { 200: ScheduleRunSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['schedule_not_found', 'schedule_run_not_found'] },
    },
    ({ params }) => getScheduleRun(deps, params.schedule, params.run),
  );
}
