/** The fleet as a grid: one cell a component. */
import { z } from 'zod';

/** Components above which cells are left out: a page shows groups alone. */
export const GRID_CELLS_MAX = 200_000;
/** Groups that are answered where cells are left out. */
export const GRID_GROUPS_MAX = 10_000;

const version = z.string().describe('Another one whenever cells have another place or another component.');
const status = z
  .string()
  .describe(
    'One letter a cell: (c)onfigured, (p)ending, (f)ailed, (u)nconfigured, (d)isabled; a capital where a session has the component. ' +
      'Empty above 200,000 components.',
  );

/** Answer of GET /api/v1/fleet/grid. */
export const FleetGridSchema = z
  .strictObject({
    version,
    total: z.int().min(0).describe('Components.'),
    groups: z
      .array(
        z.strictObject({
          label: z.string().describe('Value of the tag, or name of the configuration; empty where there is none.'),
          start: z.int().min(0).describe('Place of its first cell.'),
          count: z.int().min(0),
        }),
      )
      .optional()
      .describe('In natural order; left out with `fields=status`. Above 200,000 components at most 10,000 of them.'),
    ids: z
      .array(z.string())
      .optional()
      .describe(
        'Ids of the cells, group by group in natural order; left out with `fields=status`, empty above 200,000.',
      ),
    status,
  })
  .meta({ id: 'FleetGrid' });
export type FleetGrid = z.infer<typeof FleetGridSchema>;

/** Answer of GET /api/v1/fleet/throughput. */
export const ThroughputSchema = z
  .strictObject({
    hours: z
      .array(
        z.strictObject({
          hour: z.string().describe('When it began.'),
          configured: z.int().min(0).describe('Times that a host took a layer.'),
          failed: z.int().min(0).describe('Times that a layer failed on a host.'),
        }),
      )
      .describe('The last 24 hours, the oldest first; the last goes on. Deleted sessions do not count any more.'),
    as_of: z.string().describe('When this was counted.'),
  })
  .meta({ id: 'Throughput' });
export type Throughput = z.infer<typeof ThroughputSchema>;
