import { absolutePath } from './paths.ts';

/** What decides where a role is looked for. */
export interface RoleSurroundings {
  /** Folder in which the operator was started, absolute. */
  home: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** `namespace.collection.role` */
const IN_COLLECTION = /^([^.]+)\.([^.]+)\.([^.]+)$/;

/**
 * Returns the absolute paths at which a role may be, in the order in which they are tried: an absolute path is taken as it is; a name of
 * three parts is looked for in collections; then come the roles paths and the folder `roles` of the home.
 */
export function roleCandidates(role: string, { home, env }: RoleSurroundings): string[] {
  if (role.startsWith('/')) return [absolutePath(home, role)];
  const [, namespace, collection, name] = IN_COLLECTION.exec(role) ?? [];
  const inCollections =
    name === undefined
      ? []
      : collectionFolders(env).map(
          (folder) => `${folder}/ansible_collections/${namespace}/${collection}/roles/${name}`,
        );
  const rolesPath = env.ANSIBLE_ROLES_PATH;
  const inRolesPath = rolesPath
    ? rolesPath.split(':').flatMap((folder) => [`${folder}/${role}`, `${folder}/roles/${role}`])
    : [];
  return [...inCollections, ...inRolesPath, `roles/${role}`].map((path) => absolutePath(home, path));
}

function collectionFolders(env: RoleSurroundings['env']): string[] {
  if (env.ANSIBLE_COLLECTIONS_PATH) return env.ANSIBLE_COLLECTIONS_PATH.split(':');
  return ['/usr/share/ansible/collections', `${env.HOME ?? ''}/.ansible/collections`];
}
