/** Bodies of network intents of a cluster. */
import { z } from 'zod';
import { text } from '../schema.ts';
import { MetadataSchema, NameSchema } from './schema.ts';

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ADDRESS = `${OCTET}(\\.${OCTET}){3}`;
const RANGE = `${ADDRESS}(\\.\\.${ADDRESS})?`;

const CidrSchema = text(1, 18).regex(
  new RegExp(`^${ADDRESS}/(3[0-2]|[12]?[0-9])$`),
  'must be an IPv4 address with the length of its prefix, for example 172.16.34.0/24',
);
const words = text(0, 128);

const common = {
  cniType: text(1, 128).describe('for example `ovn4nfv`'),
  ipv4Subnets: z
    .array(
      z.object({
        name: NameSchema.optional(),
        subnet: CidrSchema,
        gateway: CidrSchema.optional(),
        excludeIps: text(0, 2_048)
          .regex(
            new RegExp(`^( *|${RANGE}( +${RANGE})*)$`),
            'must be IPv4 addresses or ranges `a..b`, separated by blanks',
          )
          .optional(),
      }),
    )
    .max(100),
};

export const NetworkSchema = z
  .object({ metadata: MetadataSchema, spec: z.object(common) })
  .meta({ id: 'NetworkIntent' });

export const ProviderNetworkSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z.object({
      ...common,
      providerNetType: z.enum(['VLAN', 'DIRECT']),
      vlan: z
        .object({
          vlanID: words.optional(),
          providerInterfaceName: words.optional(),
          logicalInterfaceName: words.optional(),
          vlanNodeSelector: z.enum(['any', 'specific']).optional(),
          nodeLabelList: z.array(words).max(1_000).optional(),
        })
        .optional(),
    }),
  })
  .meta({ id: 'ProviderNetworkIntent' });
