/** What the URLs of the pages of deployments say. A value that none of them knows is dropped, and named. */
import { type Dropped, keptValues, matchOf, type Wrong, wholeTextOf } from '../shared/search-values.ts';

/** Names have at most so many characters. */
const NAME_MOST = 128;
/** And four of them are the name of a deployment. */
const AFTER_MOST = 600;
/** What a part of a path may be: no name begins with a dot, and `..` would lead to another route. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

/** Whose deployments are listed: nothing of a project, an application, or a version of it is known without what stands before it. */
export interface DeploymentListSearch extends Dropped {
  project?: string | undefined;
  app?: string | undefined;
  version?: string | undefined;
  /** Where the page of all deployments begins: the name before it. */
  after_id?: string | undefined;
}

export interface DeploymentSearch extends Dropped {
  /** The app and the cluster of it whose resources are looked at. */
  app?: string | undefined;
  cluster?: string | undefined;
}

/** Returns what the URL of the list says. */
export function readDeploymentListSearch(given: Record<string, unknown>): DeploymentListSearch {
  const nameOf = (value: unknown): string | undefined | Wrong =>
    value === undefined ? undefined : matchOf(NAME, value);
  const { project, app, version, after_id, ...read } = keptValues({
    project: nameOf(given.project),
    app: nameOf(given.app),
    version: nameOf(given.version),
    after_id: wholeTextOf(given.after_id, AFTER_MOST),
  });
  if (project === undefined) return after_id === undefined ? read : { ...read, after_id };
  return app === undefined || version === undefined ? { ...read, project } : { ...read, project, app, version };
}

/** Returns what the URL of one deployment says. */
export function readDeploymentSearch(given: Record<string, unknown>): DeploymentSearch {
  return keptValues({
    app: wholeTextOf(given.app, NAME_MOST),
    cluster: wholeTextOf(given.cluster, 2 * NAME_MOST + 1),
  });
}
