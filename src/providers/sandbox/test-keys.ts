/** The owner of all that the worker does for test keys: they wait for each other, and hardly anybody for them. */
export const TEST_KEYS = 'test keys'
