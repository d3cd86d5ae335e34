import { controller, type ErrorTable, kind } from '../error-kind.ts';

/** Configurations and sources, tenants, and the repositories of layers. */
export const CONFIGURATION_ERRORS = {
  configuration_not_found: kind(404, 'Configuration not found', 3, {
    advice: '`./muster configuration list` shows the configurations',
  }),
  configuration_version_not_found: kind(404, 'Configuration version not found', 3, {
    advice: '`GET /api/v1/configurations/NAME/history` shows the versions that are kept',
  }),
  configuration_in_use: kind(400, 'Configuration is in use.', 5, {
    advice: '`./muster component list --config NAME` shows the components that want it',
  }),
  branch_and_commit: kind(400, 'Error handling branches', 2),
  password_in_address: kind(400, 'Password in an address', 2),
  source_or_url: kind(400, 'Error handling source', 2),
  source_unknown: controller(400, 'Source does not exist', 2, { advice: '`./muster source list` shows the sources' }),
  branch_not_resolved: controller(400, 'Error converting branch name to commit', 2),
  conflicting_layers: kind(400, 'Error with conflicting layers', 2),
  changed_since: kind(412, 'Changed since it was read', 5, {
    advice: 'read it again, and write what still has to change',
  }),
  changed_meanwhile: kind(503, 'Service Unavailable', 7, { retryable: true }),
  source_not_found: kind(404, 'Source not found', 3, { advice: '`./muster source list` shows the sources' }),
  source_exists: kind(409, 'Conflicting source name', 5),
  source_in_use: kind(400, 'Source is in use.', 5),
  invalid_credentials: kind(400, 'Invalid credentials', 2),
  invalid_tenant: kind(400, 'Invalid tenant', 2),
  tenant_forbidden: kind(403, 'Forbidden operation.', 4),
  tenant_registry_unavailable: controller(503, 'Service Unavailable', 7, { retryable: true }),
  config_missing: controller(400, 'Configuration value is missing', 1),
  repository_url_refused: controller(400, 'Repository URL refused', 2),
  repository_auth_failed: controller(400, 'Repository refused the credentials', 1, {
    advice:
      'store user, password and the hosts that may have them: `./muster secret set vcs-user-credentials vcs_username=@FILE vcs_password=- vcs_hosts=HOST`',
  }),
  credentials_withheld: controller(400, 'Credentials are not sent to this host', 1, {
    advice: '`./muster secret set vcs-user-credentials vcs_hosts=HOST,HOST` names all hosts anew',
  }),
  repository_untrusted: controller(400, 'Repository certificate is not trusted', 1),
  repository_not_found: controller(400, 'Repository not found', 1),
  repository_unsafe: controller(400, 'Repository is not safe to use', 1),
  commit_not_found: controller(400, 'Commit not found', 1),
  branch_not_found: controller(400, 'Error converting branch name to commit', 2),
  lfs_unavailable: controller(400, 'git-lfs is not installed', 1),
  lfs_object_missing: controller(400, 'Git LFS content is missing', 1),
  submodule_unknown: controller(400, 'Submodule has no address', 1),
  clone_failed: controller(502, 'Clone failed', 1, { retryable: true }),
} satisfies ErrorTable;
