/** The form of every id that a workflow hands to an activity: of sessions, runs, jobs, schedules and machines. */
import { z } from 'zod';

export const ID_FORM = /^[a-z0-9-]{1,100}$/;

export const IdSchema = z
  .string('must be an id')
  .regex(ID_FORM, 'must be an id: a-z, 0-9 and -, at most 100 characters');

/** A count or an index, as columns of the database hold it. */
export const CountSchema = z.int('must be a whole number of at least 0').min(0).max(2_147_483_647);
