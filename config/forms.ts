/** Forms of settings that several groups of them have. */
import { z } from 'zod';

export const flag = z.enum(['0', '1', 'true', 'false']).transform((value) => value === '1' || value === 'true');

/** Words with commas between them. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

export const port = z.coerce.number().int().min(1).max(65535);
export const hostAndPort = z.string().regex(/^(?:[^\s:[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}$/, 'must be host:port');

/** A size in bytes, or with a unit. */
export const bytes = z
  .string()
  .regex(/^[0-9]+(KiB|MiB|GiB)?$/, 'must be a number, with KiB, MiB or GiB if not bytes')
  .transform((value) => {
    const unit = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[value.slice(-3)] ?? 1;
    return Number.parseInt(value, 10) * unit;
  });

/** An address under which paths are put, without a slash at its end. */
export const baseUrl = z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ''));
