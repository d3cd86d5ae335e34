import type { ImageJobView, ImageView, PublicKeyView, StoredImageView } from '../../domain/images/schema.ts';
import { wireTime } from '../../domain/text/times.ts';
import type { ImageJobRow } from '../../store/images/image-jobs.ts';
import type { ImageRow, PublicKeyRow } from '../../store/images/images.ts';

export function viewOfImage(row: ImageRow): ImageView {
  const { id, name, link, arch, metadata } = row;
  return { id, created: wireTime(row.created_at), name, link, arch, metadata };
}

export function viewOfStoredImage(row: ImageRow): StoredImageView {
  const { format, size, sha256, made_by, made_from } = row;
  return { ...viewOfImage(row), format, size, sha256, made_by, made_from };
}

export function viewOfPublicKey({ id, name, public_key, created_at }: PublicKeyRow): PublicKeyView {
  return { id, created: wireTime(created_at), name, public_key };
}

/** A job in the words of the contract; what only a cluster has is an empty text (cfs-flows 7). */
export function viewOfImageJob(row: ImageJobRow): ImageJobView {
  const { shell, ...request } = row.request;
  const { host, port } = row;
  const endpoint = host === null || port === null ? null : { host, port };
  const connection = endpoint === null ? null : { 'cluster.local': endpoint, customer_access: endpoint };
  return {
    id: row.id,
    created: wireTime(row.created_at),
    ...request,
    ssh_containers: [{ ...shell, status: 'pending', connection_info: connection }],
    arch: row.arch,
    status: row.status,
    message: row.message,
    resultant_image_id: row.resultant_image_id,
    kubernetes_job: '',
    kubernetes_service: '',
    kubernetes_configmap: '',
    kubernetes_pvc: '',
    kubernetes_namespace: '',
    kubernetes_secret: '',
    remote_build_node: '',
  };
}
