import { z } from 'zod';

const TrustAuthoritySchema = z
  .object({
    public_key: z.string().describe('Line for the file that TrustedUserCAKeys names'),
    fingerprint: z.string().describe('SHA-256, as ssh-keygen shows it'),
    since: z.string().describe('Since when it signs'),
    replaced_at: z.string().nullable().describe('Until when it signed; null for the one that signs now'),
  })
  .describe('An authority whose certificates hosts may trust');

/** What sessions show to hosts, without any secret. */
export const TrustSchema = z
  .object({
    authorities: z.array(TrustAuthoritySchema).describe('The one that signs now first; empty before there is one'),
    certificate: z
      .object({
        key_id: z.string().describe('What hosts write into their logs'),
        public_key: z.string().describe('Key that it is for'),
        principals: z.array(z.string()).describe('Users as whom it lets sessions log in'),
        valid_after: z.string(),
        valid_before: z.string().nullable().describe('Its end; null for one without'),
      })
      .nullable()
      .describe('The certificate of sessions; null before there is one'),
  })
  .describe('What sessions show to hosts');

export type TrustView = z.infer<typeof TrustSchema>;
