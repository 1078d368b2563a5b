/** Vitest runs this module for every test file. A worker loads other modules once, so an `afterAll` in them would cover one file only. */
import { afterAll } from 'vitest'
import { endChildProcesses } from './child-processes.ts'

afterAll(endChildProcesses)
