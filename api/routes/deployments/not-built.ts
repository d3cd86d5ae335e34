import { DEPLOYMENT_MEANINGS } from '../../../domain/deployments/errors.ts';

/** What is not built has another status on this surface than elsewhere. */
export const NOT_BUILT = { code: 'not_supported', status: DEPLOYMENT_MEANINGS.not_supported.status } as const;
