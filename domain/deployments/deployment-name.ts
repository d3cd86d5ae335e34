/** Names of deployments: `NAME` of the short form, `<project>+<composite-app>+<version>+<name>` of every other one. */
import { isLabelValue, NAME_PATTERN } from './naming.ts';
import { groupNames, recordPath } from './record-path.ts';

/** Where the short form makes its records. */
export const SHORT_PROJECT = 'default';
export const SHORT_VERSION = 'v1';
export const SHORT_PROFILE = 'none';

export interface DeploymentPlace {
  /** Path of the deployment intent group. */
  path: string;
  compositeApp: string;
}

/** Returns where a deployment of the short form has its records. */
export function shortPlace(name: string): DeploymentPlace & { project: string; cloud: string } {
  const project = recordPath(null, 'project', SHORT_PROJECT);
  const compositeApp = recordPath(project, 'composite-app', `${name}/${SHORT_VERSION}`);
  const cloud = recordPath(project, 'cloud', cloudOf(name));
  return { project, compositeApp, cloud, path: recordPath(compositeApp, 'group', name) };
}

/** Returns the name of the logical cloud of a deployment of the short form. */
export function cloudOf(name: string): string {
  return `d-${name}`;
}

/** Returns where a deployment has its records; null for a text that names none. */
export function placeOfDeployment(text: string): DeploymentPlace | null {
  const parts = text.split('+');
  if (!parts.every((part) => part.length <= 128 && NAME_PATTERN.test(part))) return null;
  const [project = '', app, version, name] = parts;
  if (parts.length === 1) return isLabelValue(project) ? shortPlace(project) : null;
  if (parts.length !== 4) return null;
  const compositeApp = recordPath(recordPath(null, 'project', project), 'composite-app', `${app}/${version}`);
  return { compositeApp, path: recordPath(compositeApp, 'group', name as string) };
}

/** Returns the name of the deployment whose intent group has a path. */
export function deploymentName(path: string): string {
  const { project, app, version, name } = groupNames(path);
  const isShort = project === SHORT_PROJECT && version === SHORT_VERSION && app === name && isLabelValue(name);
  return isShort ? name : [project, app, version, name].join('+');
}
