import { z } from 'zod';

/** Description of a 204. */
export const NoContentSchema = z.undefined().describe('No content');
