import { z } from 'zod';
import { createSchedule } from '../../../control/schedules/create-schedule.ts';
import { deleteSchedule } from '../../../control/schedules/delete-schedule.ts';
import { patchSchedule } from '../../../control/schedules/patch-schedule.ts';
import { putSchedule } from '../../../control/schedules/put-schedule.ts';
import { getSchedule, pageOfSchedules } from '../../../control/schedules/read-schedules.ts';
import {
  ScheduleBodySchema,
  ScheduleCreateSchema,
  ScheduleListQuerySchema,
  ScheduleNameSchema,
  SchedulePatchSchema,
  ScheduleSchema,
} from '../../../domain/schedules/schedule-schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { ScheduleApi } from './dependencies.ts';

const params = z.object({ schedule: z.string().describe('Name of the schedule.') });
const newParams = z.object({ schedule: ScheduleNameSchema.describe('Name of the schedule.') });
const tags = ['schedules'];

/** Schedules of the user. A write is committed first; `synced` says whether the engine has it already. */
export async function scheduleRoutes(app: ApiServer, deps: ScheduleApi): Promise<void> {
  collectionRoutes(app, deps);

  app.get(
    '/schedules/:schedule',
    {
      schema: { tags, summary: 'Read a schedule with its last run', params, response: { 200: ScheduleSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['schedule_not_found'] },
    },
    ({ params }) => getSchedule(deps, params.schedule),
  );

  app.put(
    '/schedules/:schedule',
    {
      schema: {
        tags,
        summary: 'Make a schedule, or replace what it does and when; whether it is paused stays',
        params: newParams,
        body: ScheduleBodySchema,
        response: { 200: ScheduleSchema },
      },
      config: { access: 'operator', class: 'quick' },
    },
    (request) => putSchedule(deps, acting(request), request.params.schedule, request.body),
  );

  app.patch(
    '/schedules/:schedule',
    {
      schema: {
        tags,
        summary: 'Change a schedule; absent members stay as they are',
        params,
        body: SchedulePatchSchema,
        response: { 200: ScheduleSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['schedule_not_found'] },
    },
    (request) => patchSchedule(deps, acting(request), request.params.schedule, request.body),
  );

  app.delete(
    '/schedules/:schedule',
    {
      schema: {
        tags,
        summary: 'Delete a schedule with the record of its runs; what these made stays',
        params,
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['schedule_not_found'] },
    },
    async (request, reply) => {
      await deleteSchedule(deps, request.params.schedule);
      return reply.code(204).send();
    },
  );
}

function collectionRoutes(app: ApiServer, deps: ScheduleApi): void {
  app.get(
    '/schedules',
    {
      schema: {
        tags,
        summary: 'List schedules by name',
        querystring: ScheduleListQuerySchema,
        response: { 200: z.object({ schedules: z.array(ScheduleSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query: { limit, after_id } }) => {
      const { records, more } = await pageOfSchedules(deps, after_id, limit);
      return pageAnswer('schedules', records, more, ({ name }) => ({ limit, after_id: name }));
    },
  );

  app.post(
    '/schedules',
    {
      schema: { tags, summary: 'Make a schedule', body: ScheduleCreateSchema, response: { 201: ScheduleSchema } },
      config: { access: 'operator', class: 'quick', refuses: ['schedule_exists'] },
    },
    async (request, reply) => reply.code(201).send(await createSchedule(deps, acting(request), request.body)),
  );
}
