/** Sends a webhook's request; refusals to go on are Errors whose message says why. */
export interface WebhookSender {
  send(request: {
    url: string;
    headers: Record<string, string>;
    body: string;
    allowPrivateRedirects: boolean;
    signal: AbortSignal;
  }): Promise<{ status: number; retryAfter: number }>;
}
