import type { Options } from './schema.ts';

/** The options of a fresh installation (cfs-api 5; Muster's own at the end, durations in seconds). */
export const DEFAULT_OPTIONS: Options = {
  hardware_sync_interval: 10,
  batcher_check_interval: 10,
  batch_size: 25,
  batch_window: 60,
  default_batcher_retry_policy: 3,
  default_playbook: 'site.yml',
  default_ansible_config: 'cfs-default-ansible-cfg',
  session_ttl: '7d',
  additional_inventory_url: '',
  additional_inventory_source: '',
  batcher_max_backoff: 3600,
  batcher_disable: false,
  batcher_pending_timeout: 300,
  logging_level: 'INFO',
  default_page_size: 1000,
  debug_wait_time: 3600,
  include_ara_links: true,
  max_running_sessions: 50,
  session_timeout: 0,
  allow_overlap: true,
  allow_partial_inventory: false,
  inventory_scope: 'all',
};
