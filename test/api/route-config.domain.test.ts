import { expect, test } from '@jest/globals';
import fastify, { type RouteOptions } from 'fastify';
import type { ApiServer } from '../../api/server/api-server.ts';
import { accessOf, declaredRoutes } from '../../api/server/route-config.ts';

/** Starts a server with one route below a prefix. */
async function started(route: Pick<RouteOptions, 'method' | 'config'>, demanded = ['access', 'class'] as const) {
  const app = fastify() as unknown as ApiServer;
  declaredRoutes(app, demanded);
  app.register(async (scope) => void scope.route({ url: '/things', handler: async () => 'things', ...route }), {
    prefix: '/api/v1',
  });
  try {
    await app.ready();
    return app.declaredRoutes.map(({ method, url, options }) => [method, url, accessOf(options.config)]);
  } finally {
    await app.close();
  }
}

const ACCESS =
  "access: 'reader' (or 'operator', 'admin', { least: 'reader', ownComponent: true }, 'public' for everybody)";
const CLASS = "class: 'quick' (or 'list', 'bulk', 'remote', 'free', or a function of the request's shape)";

test.each([
  [undefined, 'access and class', `${ACCESS}, ${CLASS}`],
  [{}, 'access and class', `${ACCESS}, ${CLASS}`],
  [{ class: 'quick' }, 'access', ACCESS],
  [{ access: 'public' }, 'class', CLASS],
] as const)('a route with config %j keeps the server from starting', async (config, missing, added) => {
  await expect(started({ method: 'PUT', config })).rejects.toThrow(
    `PUT /api/v1/things does not say its ${missing}: add to its declaration config: { ${added} }`,
  );
});

test('a route that says both is let in, and HEAD of it is as GET', async () => {
  const config = { access: { least: 'reader', ownComponent: true }, class: 'list' } as const;
  expect(await started({ method: 'GET', config })).toEqual([
    ['GET', '/api/v1/things', { least: 'reader', ownComponent: true }],
    ['HEAD', '/api/v1/things', { least: 'reader', ownComponent: true }],
  ]);
  expect(await started({ method: 'DELETE', config: { access: 'public', class: 'bulk' } })).toEqual([
    ['DELETE', '/api/v1/things', { least: 'public' }],
  ]);
});

test('who may is never taken for granted', () => {
  expect(() => accessOf(undefined)).toThrow('a route does not say who may use it');
  expect(() => accessOf({})).toThrow('a route does not say who may use it');
});
