import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { ApiServer } from '../dependencies.ts';

/** The OpenAPI document of all routes at `/openapi.json`, and an interactive page of it at `/docs`, from own files only. */
export function documentation(app: ApiServer, { version }: { version: string }): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Muster',
        version,
        description:
          "The Configuration Framework Service API, and what is Muster's own under /api/v1. Times of sessions have no " +
          'zone and are UTC; members that are not known yet are null.',
      },
      components: { schemas: { Problem: PROBLEM_SCHEMA } },
    },
    transform: jsonSchemaTransform,
  });
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  app.register(async (scope) => {
    scope.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  });
}

const PROBLEM_SCHEMA = {
  type: 'object' as const,
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' as const },
    title: { type: 'string' as const },
    status: { type: 'integer' as const },
    detail: { type: 'string' as const },
    code: { type: 'string' as const },
  },
};
