/** Key of the advisory lock under which the key of the secrets changes: exclusive for the change, shared for who writes or saves secrets. */
export const KEY_LOCK = 7_414_003;
