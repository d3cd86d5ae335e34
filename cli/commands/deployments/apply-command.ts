import type { Command } from 'commander';
import type { DeploymentView } from '../../../domain/deployments/deployment-schema.ts';
import type { ApiRequest } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { type Document, readDocuments, requiredText } from '../../input/documents.ts';
import { apiOf, type WaitOptions, type WriteOptions, withDryRun, withServer } from '../../options.ts';
import { previewRequests } from '../../preview.ts';
import { DEPLOYMENTS, deploymentPath } from './deployment-path.ts';
import { readManifestFolder } from './manifest-folder.ts';
import { waitForContext, withContextWait } from './wait-for-context.ts';

interface ApplyOptions extends WriteOptions, WaitOptions {
  file: string;
  manifests?: string[];
}

/** `muster deployment apply` */
export function applyCommand(noun: Command, context: CliContext): void {
  withContextWait(withDryRun(withServer(noun.command('apply'))))
    .description('make deployments of documents, and bring them to their clusters')
    .requiredOption('-f, --file <file>', 'documents with name, apps and their placement, YAML or JSON; - reads stdin')
    .option(
      '--manifests <[app=]folder...>',
      'YAML files of a folder for the app of this name (default: the name of the folder); may be repeated',
    )
    .action((options: ApplyOptions) => applyDeployments(context, options));
}

async function applyDeployments(context: CliContext, options: ApplyOptions): Promise<void> {
  if (!options.wait && options.timeout !== undefined) throw usage('--timeout needs --wait');
  const api = apiOf(context, options);
  const documents = await readDocuments(context, options.file, 'deployments');
  const names = documents.map((document, index) => requiredText(document, 'name', `${options.file}: entry ${index}`));
  for (const given of options.manifests ?? []) await fillManifests(documents, given);
  const requests = documents.map((body): ApiRequest => ({ method: 'POST', path: DEPLOYMENTS, body }));
  if (options.dryRun)
    return previewRequests(context, api, options.dryRunRequest ? requests.map(withoutContent) : requests, options);
  for (const request of requests) {
    const { name, state, status, warnings = [] } = await api.json<DeploymentView & { warnings?: string[] }>(request);
    for (const warning of warnings) say(context, `warning: ${warning}`);
    say(context, `deployment ${name} ${[state, status].filter((word) => word !== null).join(', AppContext ')}`);
  }
  if (!options.wait) return;
  let exit = 0;
  for (const name of names) {
    await waitForContext(context, api, { name, path: deploymentPath(name), timeout: options.timeout });
    exit = Math.max(exit, context.exit);
  }
  context.exit = exit;
}

/** Manifests may hold Secrets: of these only the size is shown. */
function withoutContent(request: ApiRequest): ApiRequest {
  const body = request.body as Document;
  if (!Array.isArray(body.apps)) return request;
  const sizes = (app: unknown) => {
    if (typeof app !== 'object' || app === null) return app;
    const shown: Document = { ...app };
    for (const member of ['manifests', 'bundle']) {
      if (typeof shown[member] === 'string') shown[member] = `(${Buffer.byteLength(shown[member])} bytes)`;
    }
    return shown;
  };
  return { ...request, body: { ...body, apps: body.apps.map(sizes) } };
}

/** Gives the one app of the documents that has a name the manifests of a folder. */
async function fillManifests(documents: readonly Document[], given: string): Promise<void> {
  const { app, manifests } = await readManifestFolder(given);
  const found = documents.flatMap(({ apps }) =>
    (Array.isArray(apps) ? apps : []).filter((one): one is Document => isNamed(one, app)),
  );
  const [one] = found;
  if (one === undefined || found.length > 1) {
    const several = found.length > 1 ? 'several apps' : 'no app';
    throw usage(`--manifests ${given}: the file has ${several} with the name '${app}'`, 'write --manifests APP=FOLDER');
  }
  if (one.manifests !== undefined || one.bundle !== undefined) {
    throw usage(`--manifests ${given}: app '${app}' of the file has manifests already`);
  }
  one.manifests = manifests;
}

function isNamed(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && (value as Document).name === name;
}
