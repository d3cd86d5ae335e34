/** Shapes of lane configurations on the v2 wire, as far as they differ from v3 (cfs-api 5, 11, 13). There are no sources. */
import { z } from 'zod';
import { atMost, KEY_MAX, TEXT_MAX, text } from '../schema.ts';
import { v2Shape } from '../v2-schema.ts';
import {
  AdditionalInventorySchema,
  ConfigurationBodySchema,
  ConfigurationSchema,
  InUseListQuerySchema,
  LAYERS_MOST,
  OptionsSchema,
  StoredLayerSchema,
} from './schema.ts';

/** Without sources every layer has a URL. */
const url = text(0, TEXT_MAX).regex(/^[^\s;]+$/, 'must have at least one character and neither white space nor ;');
const name = text(0, KEY_MAX).optional();

const V2SpecialParameters = v2Shape(StoredLayerSchema.shape.special_parameters.unwrap(), {
  members: ['ims_require_dkms'],
});

const layer = {
  members: ['name', 'clone_url', 'playbook', 'commit', 'branch', 'special_parameters'],
  inner: { special_parameters: V2SpecialParameters },
} as const;
const inventory = { members: ['name', 'clone_url', 'commit', 'branch'] } as const;
/** What a request must have, and answers of v3's records need not. */
const request = { change: { name, clone_url: url } };

/** Body of PUT /v2/configurations/{id}; `additional_inventory` is spelt as in v3. */
export const V2ConfigurationBody = v2Shape(
  ConfigurationBodySchema.extend({ layers: atMost(z.array(StoredLayerSchema), LAYERS_MOST) }),
  {
    members: ['description', 'layers', 'additional_inventory', 'name', 'last_updated'],
    names: { additional_inventory: 'additional_inventory' },
    inner: {
      layers: v2Shape(StoredLayerSchema, { ...layer, ...request }),
      additional_inventory: v2Shape(AdditionalInventorySchema, { ...inventory, ...request }),
    },
    ids: { input: 'ConfigurationBodyV2' },
  },
);

/** A configuration in answers: without sources and tenant, which v2 does not know. */
export const V2Configuration = v2Shape(ConfigurationSchema, {
  members: ['name', 'description', 'last_updated', 'layers', 'additional_inventory'],
  names: { additional_inventory: 'additional_inventory' },
  inner: {
    layers: v2Shape(StoredLayerSchema, layer),
    additional_inventory: v2Shape(AdditionalInventorySchema, { ...inventory, change: { name } }),
  },
  ids: { object: 'ConfigurationV2' },
});

/** Name of a configuration that is to be made; v2 has no limit but what can be stored. */
export const V2ConfigurationNameSchema = text(1, KEY_MAX);

/** Query of GET /v2/configurations: no pages. */
export const V2ConfigurationListQuery = v2Shape(InUseListQuerySchema, {
  members: ['in_use'],
  names: { in_use: 'in_use' },
});

const options = {
  members: [
    'hardware_sync_interval',
    'batcher_check_interval',
    'batch_size',
    'batch_window',
    'default_batcher_retry_policy',
    'default_playbook',
    'default_ansible_config',
    'session_ttl',
    'additional_inventory_url',
    'batcher_max_backoff',
    'batcher_disable',
    'batcher_pending_timeout',
    'logging_level',
  ],
  names: { session_ttl: 'sessionTTL' },
} as const;

/** The options that v2 shows. */
export const V2Options = v2Shape(OptionsSchema, { ...options, ids: { object: 'OptionsV2' } });

/** Body of PATCH /v2/options: any of them, `defaultPlaybook` included, which v3 cannot change. */
export const V2OptionsPatch = v2Shape(OptionsSchema.partial(), { ...options, ids: { input: 'OptionsPatchV2' } });
