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
    transform: withProblems,
  });
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  app.register(async (scope) => {
    scope.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  });
}

/** Every operation may answer a problem document instead. */
const withProblems: typeof jsonSchemaTransform = (document) => {
  const { schema, url } = jsonSchemaTransform(document);
  if (schema.hide) return { schema, url };
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const problem = { description: 'A problem document', content };
  return { schema: { ...schema, response: { ...(schema.response as object | undefined), default: problem } }, url };
};

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
