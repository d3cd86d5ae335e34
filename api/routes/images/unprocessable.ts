import { z } from 'zod';
import { type MusterError, musterError } from '../../../domain/errors.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { bodyMistake } from '../../server/schema-mistakes.ts';

/** In this scope a body that its schema refuses is 422; that there is none, whatever its type, or no JSON, is 400 (cfs-flows 7). */
export function refuseAsUnprocessable(app: ApiServer): void {
  app.addHook('onRoute', (route) => {
    const { refuses = [] } = route.config ?? {};
    route.config = {
      ...route.config,
      absentBodyFirst: true,
      bodyMistakeAs: asUnprocessable,
      refuses: route.schema?.body === undefined ? refuses : [...refuses, 'image_request_invalid'],
    };
  });
  app.setValidatorCompiler(({ schema, httpPart }) => (data: unknown) => {
    if (httpPart !== 'body' || !(schema instanceof z.ZodType)) return { value: data };
    const result = schema.safeParse(data);
    return result.success
      ? { value: result.data }
      : { error: asUnprocessable(bodyMistake(result.error, data, schema)) };
  });
}

function asUnprocessable({ detail, field }: MusterError): MusterError {
  return musterError('image_request_invalid', detail, field);
}
