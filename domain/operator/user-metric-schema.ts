/** The body of a request of the module `osdk_metric`. */
import { z } from 'zod';

const NAME_MAX = 256;

const flag = z.boolean().nullish();
const number = z.number().nullish();

const CounterSchema = z.object({ increment: flag, add: z.number().nonnegative().nullish() });
const GaugeSchema = z.object({
  increment: flag,
  decrement: flag,
  add: number,
  subtract: number,
  set: number,
  set_to_current_time: flag,
});
const ObservedSchema = z.object({ observe: number });

export const UserMetricSchema = z.object({
  name: z
    .string()
    .max(NAME_MAX)
    .regex(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/, 'must be a name of Prometheus: letters, digits, _ and :, no digit first'),
  description: z.string().default(''),
  counter: CounterSchema.nullish(),
  gauge: GaugeSchema.nullish(),
  histogram: ObservedSchema.nullish(),
  summary: ObservedSchema.nullish(),
});

export type UserMetricMembers = Omit<z.infer<typeof UserMetricSchema>, 'name' | 'description'>;
