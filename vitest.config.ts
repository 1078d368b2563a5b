import { defineConfig } from 'vitest/config'
import { FileOrder } from './test/harness/file-order.ts'
import { suite } from './test/harness/slow-files.ts'

export default defineConfig({
  test: {
    pool: 'threads',
    // A worker reads the source once for all its files, not once for each.
    isolate: false,
    ...suite,
    // For what hangs; no test is to depend on how busy the machine is.
    testTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 240_000,
    sequence: { sequencer: FileOrder },
    setupFiles: [
      'test/harness/depth.ts',
      'test/harness/after-file.ts',
      'test/harness/check-admin-responses.ts',
      'test/harness/broken-sql.ts',
      'test/harness/cheap-passwords.ts',
    ],
    globalSetup: ['test/harness/global-setup.ts'],
  },
})
