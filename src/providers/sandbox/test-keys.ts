/** The owner of the worker's jobs for test keys: they share one turn, so that they hardly delay other projects. */
export const TEST_KEYS = 'test keys'
