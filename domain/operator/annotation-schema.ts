/** Forms of what Muster's own annotations of a resource say. */
import { z } from 'zod';

export const AnnotationTimeSchema = z.iso.datetime({ offset: true }).describe('When the pause of a resource ends.');
