import { accessOf } from '../../api/server/access/route-roles.ts';
import { type BodyShape, classOfRequest } from '../../api/server/admission/request-class.ts';
import type { ApiServer } from '../../api/server/api-server.ts';

/** Bodies that can move a request into another class, by their names in the lines. */
const BODIES: Record<string, BodyShape> = {
  'large body': { length: 2 ** 30, isObject: false },
  object: { length: 0, isObject: true },
};

/**
 * One line for each registered route: method, path, least role, `own-component` where a node may use the route for its own
 * component, and the request class with the conditions under which it is another one. HEAD has a line only where it differs from GET.
 */
export function routeLines(app: ApiServer, prefixes: readonly string[]): string {
  const facts = (method: string, url: string) => {
    const { least, ownComponent } = accessOf(method, url, prefixes);
    return [least, ownComponent ? 'own-component' : '-', classesOf(method, url)];
  };
  const rows = app.routeAccess
    .filter(({ method, url }) => method !== 'HEAD' || `${facts('HEAD', url)}` !== `${facts('GET', url)}`)
    .map(({ method, url }) => [method, url, ...facts(method, url)])
    .sort(([method = '', path = ''], [otherMethod = '', otherPath = '']) =>
      path === otherPath ? order(method, otherMethod) : order(path, otherPath),
    );
  return aligned(rows);
}

function classesOf(method: string, url: string): string {
  const usual = classOfRequest(method, url);
  const others: [condition: string, kind: string][] = [
    ...Object.entries(BODIES).map(([name, body]): [string, string] => [name, classOfRequest(method, url, body)]),
    ['tenant', classOfRequest(method, url, undefined, true)],
  ];
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
