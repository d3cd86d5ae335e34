/** What Ansible is told of the images of a session (cfs-flows 3.3). */
import type { InventoryTree } from '../../components/inventory/inventory-tree.ts';
import { specInventory } from '../spec-inventory.ts';
import { imageGroups, imagesOf } from './image-names.ts';

/** An image whose shell is open; the name of its host is the image's id. */
export interface OpenSessionImage {
  image: string;
  resultName: string;
  job: string;
  host: string;
  port: number;
}

/** What of the inventory depends on where Ansible runs. */
export interface ImageLogin {
  /** Path of the private key. */
  keyFile: string;
  /** `ansible_python_interpreter` of the images. */
  interpreter: string;
}

/**
 * Python of an image, found on its PATH. CFS says it as `/usr/bin/env python3`, which a `compatible` runner gets; Ansible 2.19,
 * which is ours, takes that for the name of one program.
 */
export const IMAGE_PYTHON = { own: 'python3', compatible: '/usr/bin/env python3' } as const;

interface Group {
  name: string;
  members: readonly string[];
}

/** Group of all images of a session. */
export const IMAGE_GROUP = 'cfs_image';

/** Name of the file beside the inventory that says which job works on which image. */
export const IMAGE_TO_JOB = 'image_to_job.yaml';

/**
 * The groups of an `image` target with the images' ids as hosts, and group `cfs_image` of all: what is known of its inventory before an
 * image is open. Throws `inventory_invalid` for a group that Ansible would misread.
 */
export function imageHosts(target: { groups: readonly Group[] | null }): InventoryTree {
  return specInventory([...imageGroups(target), { name: IMAGE_GROUP, members: imagesOf(target) }]);
}

/**
 * The inventory of an `image` target: its groups at the top, and group `cfs_image` that says where each image is. Throws
 * `inventory_invalid` as `imageHosts` does.
 */
export function imageInventory(
  target: { groups: readonly Group[] },
  open: readonly OpenSessionImage[],
  { keyFile, interpreter }: ImageLogin,
): InventoryTree {
  const variables = new Map(
    open.map(({ image, host, port }) => [
      image,
      {
        ansible_host: host,
        ansible_port: port,
        cray_cfs_image: true,
        ansible_python_interpreter: interpreter,
        ansible_ssh_private_key_file: keyFile,
      },
    ]),
  );
  return { ...imageHosts(target), memberVariables: new Map([[IMAGE_GROUP, variables]]) };
}

/** Text of `image_to_job.yaml`: by the name of each result its job and its image. JSON is YAML. */
export function imageToJob(open: readonly OpenSessionImage[]): string {
  const jobs = open.map(({ resultName, job, image }) => [resultName, { job_id: job, image_id: image }]);
  return `${JSON.stringify(Object.fromEntries(jobs), null, 2)}\n`;
}
