import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    pool: 'threads',
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    // Many tests run real processes against the clock: a machine that stalls once gets a second chance.
    retry: 1,
    hookTimeout: 60_000,
    maxWorkers: 2,
    globalSetup: ['test/harness/global-setup.ts'],
  },
})
