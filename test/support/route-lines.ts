import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { classOf, type RequestShape } from '../../api/server/admission/request-class.ts';
import type { ApiServer } from '../../api/server/api-server.ts';
import { accessOf, type DeclaredRoute } from '../../api/server/route-config.ts';

/** Requests that a route may put into another class, by their names in the lines. */
const SHAPES: Record<string, Partial<RequestShape>> = {
  'large body': { length: 2 ** 30 },
  object: { isObject: true },
  tenant: { isOfTenant: true },
};

/**
 * One line for each declared route: method, path, least role, `own-component` where a node may use the route for its own
 * component, and the request class with the conditions under which it is another one. HEAD is as GET and has no line.
 */
export function routeLines(app: ApiServer): string {
  const rows = app.declaredRoutes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url, options }) => {
      const { least, ownComponent } = accessOf(options.config);
      return [method, url, least, ownComponent ? 'own-component' : '-', classesOf(method, options)];
    })
    .sort(([method = '', path = ''], [otherMethod = '', otherPath = '']) =>
      path === otherPath ? order(method, otherMethod) : order(path, otherPath),
    );
  return aligned(rows);
}

/** A line of the committed list. */
export interface RouteLine {
  method: string;
  /** As it was declared, with `:parameters`. */
  path: string;
  least: string;
}

const COMMITTED = join(import.meta.dirname, '..', '..', 'openapi', 'roles.txt');

/** Returns the routes of the committed list, without the same routes below CFS's second prefix. */
export function committedRoutes(): RouteLine[] {
  const lines = readFileSync(COMMITTED, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines
    .map((line) => {
      const [method = '', path = '', least = ''] = line.split(/ +/);
      return { method, path, least };
    })
    .filter(({ path }) => !/^\/apis\/cfs(\/|$)/.test(path));
}

function classesOf(method: string, { config }: DeclaredRoute['options']): string {
  const usual = classOf(config?.class, method);
  const others = Object.entries(SHAPES).map(([name, shape]) => [name, classOf(config?.class, method, shape)] as const);
  const different = others.filter(([, kind]) => kind !== usual).map(([condition, kind]) => `${condition}: ${kind}`);
  return [usual, ...different].join('; ');
}

/** By code units, the same on every machine. */
function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function aligned(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}
