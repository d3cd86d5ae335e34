/** What records and workflows of sessions say of a step that has no words of its own: its phase and its sentence. */
export const FIXED_SENTENCES = {
  slot: ['queued', 'waiting for a session slot'],
  clone: ['clone', 'cloning'],
  open_images: ['images', 'preparing the images'],
  cluster: ['inventory', 'waiting for a worker with a cluster to prepare its Job, 10 min at most'],
  cluster_prepares: ['inventory', 'waiting until a worker with a cluster has prepared the Job'],
  prepare_job: ['inventory', 'preparing the Job'],
  inventory: ['inventory', 'writing the inventory'],
  start_job: ['clone', 'starting the Job'],
  pod_layers: ['layer', 'the pod runs its layers'],
  finish_images: ['teardown', 'finishing the images'],
  end_images: ['teardown', 'ending the image jobs'],
  job_end: ['teardown', 'waiting for the end of the Job'],
  clean_up: ['teardown', 'cleaning up'],
  over: ['done', 'the session had ended or was gone'],
} as const;
