import type { ImageDependencies } from '../activities/sessions/image-ports.ts';
import type { Environment } from '../config/environment.ts';
import { createImageKeys } from '../control/sessions/images/image-keys.ts';
import type { ImageService } from '../domain/images/image-service.ts';
import type { SecretStore } from '../domain/secrets/ports.ts';
import { createHttpImageService } from '../drivers/image-service/http-image-service.ts';
import { createImageShells } from '../drivers/image-service/image-shells.ts';
import { makeSshPrivateKey } from '../drivers/secrets/ssh-key-pair.ts';
import { openSshKeygen } from '../drivers/trust/ssh-keygen.ts';

export interface ImageParts {
  secrets: SecretStore;
  /** Certificates to trust besides the public ones, PEM. */
  ca: string | undefined;
  tempDir: string;
  searchPath: string;
  /** Muster's own image service; null where it has none. */
  builtIn: ImageService | null;
}

/** What sessions on images need: the service of the site where one is named, else Muster's own. */
export function openImages(
  env: Environment,
  { secrets, ca, tempDir, searchPath, builtIn }: ImageParts,
): Omit<ImageDependencies, 'db'> {
  const keygen = openSshKeygen({ tempDir, searchPath });
  const { MUSTER_IMS_URL: url, MUSTER_IMS_TOKEN: token, MUSTER_IMS_TOKEN_FILE: tokenFile } = env;
  return {
    imageService: url === undefined ? builtIn : createHttpImageService({ url, token, tokenFile, ca }),
    imageShells: createImageShells({ tempDir, searchPath }),
    imageKeys: createImageKeys({
      secrets,
      makeKeyPair: async (comment) => {
        const privateKey = makeSshPrivateKey();
        return { privateKey, publicKey: `${await keygen.publicKeyOf(privateKey)} ${comment}` };
      },
    }),
    imageWaitSeconds: env.MUSTER_IMS_WAIT,
    imageQueueSeconds: env.MUSTER_IMS_QUEUE_WAIT,
    clock: () => new Date(),
  };
}
