/**
 * Exit status of a run that ended well and whose results could not be written (EX_IOERR): with 0 it would be a success of nobody. The
 * pods give the same one.
 */
export const RESULTS_LOST = 74;
