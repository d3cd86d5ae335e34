import type { Architecture } from './image-words.ts';
import type { ImageJobCreate, ImageJobView } from './schema.ts';

/** What a job was asked for, with what it did not say filled in (cfs-flows 7). */
export type ImageJobRequest = Pick<
  ImageJobView,
  | 'job_type'
  | 'image_root_archive_name'
  | 'artifact_id'
  | 'public_key_id'
  | 'enable_debug'
  | 'build_env_size'
  | 'job_mem_size'
  | 'kernel_file_name'
  | 'initrd_file_name'
  | 'kernel_parameters_file_name'
  | 'require_dkms'
> & { shell: { name: string; jail: boolean } };

/**
 * The request with all defaults. `dkms` is what the site says where a job says nothing; on aarch64 modules are always built
 * in the image (cfs-flows 7).
 */
export function withJobDefaults(wanted: ImageJobCreate, arch: Architecture, dkms = true): ImageJobRequest {
  const { ssh_containers: [shell] = [], ...said } = wanted;
  return {
    job_type: said.job_type,
    image_root_archive_name: said.image_root_archive_name,
    // As the records have them: jobs of one key are found by it.
    artifact_id: said.artifact_id.toLowerCase(),
    public_key_id: said.public_key_id.toLowerCase(),
    enable_debug: said.enable_debug ?? false,
    build_env_size: said.build_env_size ?? 60,
    job_mem_size: said.job_mem_size ?? 8,
    kernel_file_name: said.kernel_file_name ?? (arch === 'aarch64' ? 'Image' : 'vmlinuz'),
    initrd_file_name: said.initrd_file_name ?? 'initrd',
    kernel_parameters_file_name: said.kernel_parameters_file_name ?? 'kernel-parameters',
    require_dkms: arch === 'aarch64' || (said.require_dkms ?? dkms),
    shell: { name: shell?.name ?? 'customize', jail: shell?.jail ?? false },
  };
}
