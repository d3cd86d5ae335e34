import { DEPLOYMENT_MEANINGS } from '../../../domain/deployments/errors.ts';

/** A body that is no JSON has another status on this surface than elsewhere. */
export const NOT_JSON = { code: 'body_not_json', status: DEPLOYMENT_MEANINGS.body_not_json.status } as const;
