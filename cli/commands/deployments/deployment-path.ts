import { segment } from '../../client/api-client.ts';
import { usage } from '../../failure.ts';

/** Returns the path of `<project>+<composite-app>+<version>+<name>`. Throws a `CliFailure` for another form. */
export function deploymentPath(text: string): string {
  const parts = text.split('+');
  const [project = '', app = '', version = '', name = ''] = parts.map(segment);
  if (parts.length !== 4 || parts.includes('')) {
    throw usage(`'${text}' is no deployment`, 'name it as <project>+<composite-app>+<version>+<name>');
  }
  return `/v2/projects/${project}/composite-apps/${app}/${version}/deployment-intent-groups/${name}`;
}
