import { type ErrorTable, kind } from '../error-kind.ts';

/** What is wrong with a request itself, or with its number. */
export const REQUEST_ERRORS = {
  bad_request: kind(400, 'Bad Request', 2),
  body_not_json: kind(400, 'Bad Request', 2),
  read_only: kind(400, 'Bad Request', 2),
  not_found: kind(404, 'Not Found', 3),
  list_too_large: kind(400, 'The response size is too large', 2),
  method_not_allowed: kind(405, 'Method Not Allowed', 2),
  unsupported_media_type: kind(415, 'Unsupported Media Type', 2),
  body_too_large: kind(413, 'Payload Too Large', 2),
  headers_too_large: kind(431, 'Request Header Fields Too Large', 2),
  request_timeout: kind(408, 'Request Timeout', 7),
  idempotency_key_reused: kind(422, 'Unprocessable Content', 2),
  request_in_progress: kind(409, 'Conflict', 5, { retryable: true }),
  overloaded: kind(503, 'Service Unavailable', 7, { retryable: true }),
} satisfies ErrorTable;
