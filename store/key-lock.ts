/** Key of the advisory lock of those who encrypt: shared for who writes or saves secrets, exclusive for each step of a change of the key. */
export const KEY_LOCK = 7_414_003;
/** Key of the advisory lock under which one process alone changes the key. */
export const ROTATION_LOCK = 7_414_004;
