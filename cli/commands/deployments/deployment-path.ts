import { segment } from '../../client/api-client.ts';
import { usage } from '../../failure.ts';

export const DEPLOYMENTS = '/api/v1/deployments';
/** What commands say of their argument. */
export const DEPLOYMENT_ARGUMENT = 'its name, or <project>+<composite-app>+<version>+<name>';

/** Returns the path of a deployment. Throws a `CliFailure` for an empty name. */
export function deploymentPath(name: string): string {
  if (name === '') throw usage('the name of the deployment is empty', '`./muster deployment list` shows them');
  return `${DEPLOYMENTS}/${segment(name)}`;
}
