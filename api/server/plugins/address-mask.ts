import { maskAddresses } from '../../../domain/configurations/address-secrets.ts';
import type { ApiServer } from '../api-server.ts';

/** No JSON answer shows a password in an address, whatever record of an older release it comes from. */
export function addressMask(app: ApiServer): void {
  app.addHook('onSend', async (_request, reply, payload) => {
    if (!String(reply.getHeader('content-type') ?? '').includes('json')) return payload;
    if (typeof payload === 'string') return maskAddresses(payload);
    return Buffer.isBuffer(payload) ? Buffer.from(maskAddresses(payload.toString('utf8'))) : payload;
  });
}
